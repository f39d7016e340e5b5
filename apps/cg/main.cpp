// SPDX-License-Identifier: BSD-3-Clause
// nuice-cg: conjugate gradients on distributed rows, with the halo exchange planned by nuice and, in the same run,
// with what MPI offers.
//
//   mpiexec -n 4 nuice-cg                                a Poisson problem with 64 x 64 unknowns
//   mpiexec -n 4 nuice-cg --matrix stiffness.mtx --solution x.txt --pattern halo.mtx --json
//
// Exit code, the same on all ranks: 0 solved, and equal to the sequential solution; 1 not; 2 bad command line or matrix.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>

#include "cg/distribute.hpp"
#include "cg/product.hpp"
#include "cg/report.hpp"
#include "cg/solver.hpp"
#include "kit/command_line.hpp"
#include "kit/timing.hpp"
#include "nuice/core/text_io.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::cg {
namespace {

struct Options {
  apps::CommonOptions common;
  std::string matrix;
  int poisson = 64;
  int num_rhs = 1;
  double rtol = 1e-10;
  int max_iterations = 10'000;
  bool sequential = true;
  std::string solution;
};

/// On rank 0, checked.
Matrix make_matrix(const Options& options) {
  Matrix matrix;
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    matrix = options.matrix.empty() ? poisson(options.poisson) : load_matrix(options.matrix);
    require_symmetric(matrix, options.matrix.empty() ? "the matrix" : options.matrix);
  });
  return matrix;
}

/// The product on one rank, without anything to exchange: for the sequential solution.
class WholeProduct : public Product {
 public:
  WholeProduct(const Matrix& matrix, std::size_t num_rhs)
      : matrix_(matrix),
        num_rows_(static_cast<std::size_t>(matrix.num_rows())),
        num_rhs_(num_rhs),
        x_(num_rows_ * num_rhs) {}
  std::span<double> x() override { return x_; }
  void exchange() override {}
  void multiply(std::span<double> y) override {
    cg::multiply(matrix_.begin, matrix_.columns, matrix_.values, 0, num_rows_, num_rhs_, x_, y);
  }

 private:
  const Matrix& matrix_;
  std::size_t num_rows_;
  std::size_t num_rhs_;
  std::vector<double> x_;
};

/// Ones, and waves of growing frequency beside them, on rank 0.
std::vector<double> right_hand_sides(const Matrix& matrix, std::size_t num_rhs) {
  std::vector<double> b;
  for (std::int64_t row = 0; mpi::world_rank() == 0 && row < matrix.num_rows(); ++row)
    for (std::size_t c = 0; c < num_rhs; ++c)
      b.push_back(c == 0 ? 1.0 : std::cos(1e-3 * static_cast<double>(c) * static_cast<double>(row)));
  return b;
}

/// Rank 0 solves alone and compares.
void compare_with_sequential(const Options& options, const Matrix& matrix, const std::vector<double>& b,
                             const std::vector<double>& x, Report& report) {
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    const auto num_rhs = static_cast<std::size_t>(options.num_rhs);
    WholeProduct product(matrix, num_rhs);
    const Solution alone = solve(product, b, num_rhs, options.rtol, options.max_iterations, MPI_COMM_SELF);
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::abs(alone.x[i]));
      difference = std::max(difference, std::abs(alone.x[i] - x[i]));
    }
    report.sequential_iterations = alone.iterations;
    report.sequential_difference = largest > 0 ? difference / largest : difference;
  });
}

/// A row a line.
void write_solution(const std::string& path, const std::vector<double>& x, std::size_t num_rhs) {
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    if (path.empty()) return;
    std::ofstream out(path);
    for (std::size_t i = 0; i < x.size(); ++i)
      out << fmt::format("{:.17g}{}", x[i], (i + 1) % num_rhs == 0 ? '\n' : ' ');
    if (!out.flush()) throw Error(ErrorCode::io, path + ": cannot be written");
  });
}

struct Named {
  std::string name;
  std::unique_ptr<Product> product;
};

std::vector<Named> make_products(const Options& options, const LocalRows& rows, Report& report) {
  std::vector<Named> products;
  products.push_back({"nuice", make_with_nuice(rows, options.num_rhs, options.common.plan(), report.halo)});
  products.push_back({"isend", make_with_isend(rows, options.num_rhs)});
  products.push_back({"neighbor", make_with_neighbor(rows, options.num_rhs)});
  return products;
}

void time_exchanges(const std::vector<Named>& products, int reps, Report& report) {
  std::vector<apps::Timed> ways;
  for (const Named& one : products) ways.push_back({one.name, [&one] { one.product->exchange(); }});
  const apps::HaloTimes times = apps::time_halos(ways, reps);
  for (std::size_t i = 0; i < times.exchange_s.size(); ++i)
    report.methods[i].exchange_s = times.exchange_s[i];
  report.exchange_ratio = times.ratio;
}

int run(const Options& options) {
  const Matrix matrix = make_matrix(options);
  const Distribution distribution = distribute(matrix);
  const LocalRows& rows = distribution.local;
  Report report;
  report.problem =
      options.matrix.empty() ? fmt::format("Poisson {0} x {0}", options.poisson) : options.matrix;
  report.num_rhs = options.num_rhs;
  report.num_ranks = mpi::world_size();
  report.num_rows = matrix.num_rows();
  report.num_entries = matrix.num_entries();
  const std::vector<Named> products = make_products(options, rows, report);
  if (!options.common.pattern.empty())
    mpi::on_rank_0(MPI_COMM_WORLD,
                   [&] { save_matrix_market(options.common.pattern, report.halo.pattern, "nuice-cg"); });

  const auto num_rhs = static_cast<std::size_t>(options.num_rhs);
  const std::vector<double> whole_b = right_hand_sides(matrix, num_rhs);
  const std::vector<double> b = spread(distribution, whole_b, num_rhs);
  std::vector<double> x;
  for (const Named& one : products) {
    const Solution solution =
        solve(*one.product, b, num_rhs, options.rtol, options.max_iterations, MPI_COMM_WORLD);
    if (x.empty()) x = solution.x;
    const bool differs = mpi::max_over_ranks(solution.x == x ? 0 : 1) > 0;
    report.methods.push_back({one.name, solution.iterations, solution.seconds, {}, !differs});
    report.converged = solution.converged;
    report.relative_residual = solution.relative_residual;
  }
  time_exchanges(products, options.common.reps, report);
  const std::vector<double> whole = collect(distribution, x, num_rhs);
  write_solution(options.solution, whole, num_rhs);
  if (options.sequential) compare_with_sequential(options, matrix, whole_b, whole, report);
  apps::print(options.common.json ? to_json(report) : to_text(report));

  bool good = report.converged;
  for (const MethodReport& method : report.methods) good = good && method.same_solution;
  if (report.sequential_iterations)
    good = good && *report.sequential_iterations == report.methods.front().iterations &&
           *report.sequential_difference <= 1e-12;
  return mpi::max_over_ranks(good ? 0 : 1) > 0 ? 1 : 0;
}

int main_with_mpi(int argc, const char* const* argv) try {
  Options options;
  CLI::App app{
      "Solves A x = (1, ..., 1) by conjugate gradients with distributed rows, three times: with the halo "
      "planned "
      "by\nnuice, with MPI_Isend and MPI_Irecv, and with MPI_Neighbor_alltoallv. The solution is compared "
      "with "
      "the\nsequential one.",
      "nuice-cg"};
  app.add_option("--matrix", options.matrix,
                 "symmetric positive definite, Matrix Market; by default a Poisson problem");
  app.add_option("--poisson", options.poisson, "unknowns along each side of the square")
      ->check(CLI::Range(1, 30'000))
      ->capture_default_str();
  app.add_option("--rhs", options.num_rhs,
                 "right-hand sides, solved side by side: ones, and waves beside them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--rtol", options.rtol, "stop when the residual is so much smaller than the right-hand side")
      ->check(CLI::Range(1e-16, 1.0))
      ->capture_default_str();
  app.add_option("--max-iterations", options.max_iterations)
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app.add_flag("--sequential,!--no-sequential", options.sequential,
               "whether rank 0 solves alone as well and compares")
      ->capture_default_str();
  app.add_option("--solution", options.solution, "write x here, one row a line");
  apps::add_common(app, options.common);
  return apps::parse_and_run(argc, argv, app, [&] { return run(options); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "nuice-cg: %s\n", error.what());
  return 1;
}

}  // namespace
}  // namespace nuice::cg

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int exit_code = nuice::cg::main_with_mpi(argc, argv);
  MPI_Finalize();
  return exit_code;
}
