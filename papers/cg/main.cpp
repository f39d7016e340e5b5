// SPDX-License-Identifier: BSD-3-Clause
// nuice-cg: conjugate gradients on distributed rows. The halo exchange is planned by NUICE and, in the same
// run, carried out by MPI's own methods.
//
//   mpiexec -n 4 nuice-cg                                a Poisson problem with 64 x 64 unknowns
//   mpiexec -n 4 nuice-cg --matrix stiffness.mtx --solution x.txt --pattern halo.mtx --json
//
// Exit code, the same on all ranks: 0 solved, and equal to the sequential solution; 1 not; 2 bad command line
// or matrix.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cg/distribute.hpp"
#include "cg/report.hpp"
#include "cg/solver.hpp"
#include "kit/files.hpp"
#include "kit/program.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::cg {
namespace {

struct Options {
  kit::CommonOptions common;
  std::string matrix;
  int poisson = 64;
  int num_rhs = 1;
  double rtol = 1e-10;
  int max_iterations = 10'000;
  bool sequential = true;
  std::string solution;
};

/// Returns the checked matrix on rank 0.
Matrix make_matrix(const Options& options) {
  Matrix matrix;
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    matrix = options.matrix.empty() ? poisson(options.poisson) : load_matrix(options.matrix);
    require_symmetric(matrix, options.matrix.empty() ? "the matrix" : options.matrix);
  });
  return matrix;
}

/// The product on one rank, without exchanges. It computes the sequential solution.
class WholeProduct : public Product {
 public:
  WholeProduct(const Matrix& matrix, std::size_t num_rhs)
      : matrix_(matrix),
        num_rows_(static_cast<std::size_t>(matrix.num_rows())),
        num_rhs_(num_rhs),
        x_(num_rows_ * num_rhs) {}
  std::span<double> x() override { return x_; }
  void multiply(std::span<double> y) override {
    cg::multiply(matrix_.begin, matrix_.columns, matrix_.values, 0, num_rows_, num_rhs_, x_, y);
  }

 private:
  const Matrix& matrix_;
  std::size_t num_rows_;
  std::size_t num_rhs_;
  std::vector<double> x_;
};

/// Returns the right-hand sides on rank 0: the first is all ones, the others are waves of growing frequency.
std::vector<double> right_hand_sides(const Matrix& matrix, std::size_t num_rhs) {
  std::vector<double> b;
  for (std::int64_t row = 0; mpi::world_rank() == 0 && row < matrix.num_rows(); ++row)
    for (std::size_t c = 0; c < num_rhs; ++c)
      b.push_back(c == 0 ? 1.0 : std::cos(1e-3 * static_cast<double>(c) * static_cast<double>(row)));
  return b;
}

/// Solves on rank 0 only, and compares the solutions.
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

/// Writes one row per line.
void write_solution(const std::string& path, const std::vector<double>& x, std::size_t num_rhs) {
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    if (path.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < x.size(); ++i)
      text += fmt::format("{:.17g}{}", x[i], (i + 1) % num_rhs == 0 ? '\n' : ' ');
    kit::write_file(path, text);
  });
}

/// Makes one product for each method of exchanging halos.
std::vector<std::unique_ptr<HaloProduct>> make_products(const Options& options, const LocalRows& rows) {
  std::vector<std::unique_ptr<HaloProduct>> products;
  for (const apps::HaloWay& way : apps::halo_ways)
    products.push_back(
        std::make_unique<HaloProduct>(rows, options.num_rhs, way, kit::plan_options(options.common)));
  return products;
}

int run(const kit::App& app, const Options& options) {
  const Matrix matrix = make_matrix(options);
  const Distribution distribution = distribute(matrix);
  const auto products = make_products(options, distribution.local);
  Report report{
      .problem = options.matrix.empty() ? fmt::format("Poisson {0} x {0}", options.poisson) : options.matrix,
      .num_rhs = options.num_rhs,
      .num_ranks = mpi::world_size(),
      .num_rows = matrix.num_rows(),
      .num_entries = matrix.num_entries(),
      .halo = products.front()->facts()};
  kit::write_pattern(options.common, report.halo.pattern, app);

  const auto num_rhs = static_cast<std::size_t>(options.num_rhs);
  const std::vector<double> whole_b = right_hand_sides(matrix, num_rhs);
  const std::vector<double> b = spread(distribution, whole_b, num_rhs);
  std::vector<double> x;
  std::vector<kit::Timed> ways;
  for (const auto& product : products) {
    const Solution solution =
        solve(*product, b, num_rhs, options.rtol, options.max_iterations, MPI_COMM_WORLD);
    if (x.empty()) x = solution.x;
    const bool differs = mpi::max_over_ranks(solution.x == x ? 0 : 1) > 0;
    report.methods.push_back({product->name(), solution.iterations, solution.seconds, !differs});
    report.converged = solution.converged;
    report.relative_residual = solution.relative_residual;
    ways.push_back({product->name(), [&product] { product->exchange(); }});
  }
  report.times = apps::time_halos(ways, options.common.reps);
  const std::vector<double> whole = collect(distribution, x, num_rhs);
  write_solution(options.solution, whole, num_rhs);
  if (options.sequential) compare_with_sequential(options, matrix, whole_b, whole, report);
  kit::print(options.common.json ? to_json(report) : to_text(report));
  return mpi::max_over_ranks(report.is_right() ? 0 : 1) > 0 ? kit::failure : kit::success;
}

void add_options(kit::App& app, Options& options) {
  kit::add(app, "--matrix", options.matrix,
           "symmetric positive definite, Matrix Market; by default a Poisson problem");
  kit::add(app, "--poisson", options.poisson, "unknowns along each side of the square",
           kit::range(1, 30'000));
  kit::add(app, "--rhs", options.num_rhs, "number of right-hand sides, solved together: ones, and waves",
           kit::range(1, 1000));
  kit::add(app, "--rtol", options.rtol, "stop when residual / right-hand side falls below this",
           kit::range(1e-16, 1.0));
  kit::add(app, "--max-iterations", options.max_iterations, "", kit::range(1, 1'000'000'000));
  kit::add_flag(app, "--sequential,!--no-sequential", options.sequential,
                "whether rank 0 solves alone as well and compares");
  kit::add(app, "--solution", options.solution, "write x here, one number per line");
  kit::add_common(app, options.common);
}

}  // namespace
}  // namespace nuice::cg

int main(int argc, char** argv) {
  nuice::cg::Options options;
  nuice::kit::App app{
      "Solves A x = (1, ..., 1) by conjugate gradients with distributed rows, three times: with the halo "
      "planned by\n"
      "nuice, with MPI_Isend and MPI_Irecv, and with MPI_Neighbor_alltoallv. The solution is compared with "
      "the\n"
      "sequential one.",
      "nuice-cg"};
  nuice::cg::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] { return nuice::cg::run(app, options); });
}
