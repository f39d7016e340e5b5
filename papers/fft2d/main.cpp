// SPDX-License-Identifier: BSD-3-Clause
// nuice-fft2d: the two-dimensional Fourier transform of 001 table 5. The complete exchange is planned by
// NUICE and, in the same run, carried out by MPI itself.
//
//   mpiexec -n 4 nuice-fft2d                      256 x 256, checked against FFTW's 2-D plan
//   mpiexec -n 8 nuice-fft2d --size 2048 --schedulers lex,pex,bex --json
//   mpiexec -n 3 nuice-fft2d --size 100x37 --input a.c128 --output transform.c128
//
// Exit code, the same on all ranks: 0 right to 1e-12; 1 not; 2 bad command line or input.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "fft2d/exchange.hpp"
#include "fft2d/report.hpp"
#include "fft2d/transform.hpp"
#include "kit/program.hpp"
#include "kit/timing.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::fft2d {
namespace {

/// A method for the exchange: a word of --schedulers, or a method of MPI.
struct Method {
  std::string name;
  bool planned;
  mpi::PlanOptions plan;
};

struct Options {
  kit::OutputOptions output;
  Shape shape{256, 256};
  std::string size = "256";
  std::vector<std::string> words = {"pex", "bex", "lex", "rex", "coloring:async"};
  std::vector<Method> methods;
  std::uint64_t seed = 0;
  bool check = true;
  std::string input;
  std::string result;
};

constexpr std::int64_t max_length = 32768;  // so that all counts fit MPI's int

Method parse_method(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string scheduler = word.substr(0, colon);
  const std::string usual = scheduler == "auto" ? "auto" : "phased";
  const std::string executor = colon == std::string::npos ? usual : word.substr(colon + 1);
  kit::require_scheduler(scheduler);
  kit::require_executor(executor);
  return {word, true, {.scheduler = scheduler, .executor = executor}};
}

void add_options(kit::App& app, Options& options) {
  kit::add(app, "--size", options.size, "N, or ROWSxCOLUMNS");
  kit::add(
      app, "--schedulers", options.words,
      "how nuice carries the exchange, separated by commas: SCHEDULER or SCHEDULER:EXECUTOR (async, phased, "
      "pairwise; phased where none is named), or auto, which chooses both. 001 table 5 has lex, pex, "
      "rex, bex");
  kit::add(app, "--seed", options.seed, "seed of the numbers to transform");
  kit::add(app, "--input", options.input,
           "read the numbers from this file: complex128, row by row (numpy's tofile())");
  kit::add(app, "--output", options.result, "write the transform here, in the same form");
  kit::add_flag(app, "--check,!--no-check", options.check,
                "whether rank 0 transforms the whole array too and compares");
  kit::add_output(app, options.output);
}

/// Fills shape and methods from the command line. Throws Error invalid_argument.
void interpret(Options& options) {
  std::tie(options.shape.rows, options.shape.columns) = kit::parse_size(options.size, max_length);
  for (const std::string& word : options.words) options.methods.push_back(parse_method(word));
  options.methods.push_back({"alltoallv", false, {}});
  options.methods.push_back({"isend", false, {}});
}

constexpr double tolerance = 1e-12;

std::vector<Complex> make_input(const Options& options) {
  if (!options.input.empty()) return read_rows(options.input, options.shape);
  const Ranges rows{options.shape.rows, mpi::world_size()};
  std::vector<Complex> mine;
  for (std::int64_t row = rows.begin(mpi::world_rank()); row < rows.begin(mpi::world_rank() + 1); ++row)
    for (std::int64_t column = 0; column < options.shape.columns; ++column)
      mine.push_back(element(row, column, options.seed));
  return mine;
}

CommMatrix pattern(const Shape& shape) {
  const Ranges rows{shape.rows, mpi::world_size()};
  const Ranges columns{shape.columns, mpi::world_size()};
  std::vector<Message> messages;
  for (Rank src = 0; src < rows.num_ranks; ++src)
    for (Rank dst = 0; dst < rows.num_ranks; ++dst)
      if (src != dst)
        messages.push_back({src, dst, rows.count(src) * columns.count(dst) * Bytes{sizeof(Complex)}});
  return CommMatrix::from_messages(rows.num_ranks, messages);
}

double greatest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  return difference;
}

double greatest_value(const std::vector<Complex>& a) {
  double value = 0;
  for (const Complex& element : a) value = std::max(value, std::abs(element));
  return value;
}

/// Returns the array row by row from its columns.
std::vector<Complex> turned(const std::vector<Complex>& columns, const Shape& shape) {
  std::vector<Complex> rows(columns.size());
  for (std::int64_t c = 0; !columns.empty() && c < shape.columns; ++c)
    for (std::int64_t i = 0; i < shape.rows; ++i)
      rows[static_cast<std::size_t>(i * shape.columns + c)] =
          columns[static_cast<std::size_t>(c * shape.rows + i)];
  return rows;
}

class Program {
 public:
  Program(const kit::App& app, const Options& options)
      : options_(options), input_(make_input(options)), transform_(options.shape) {
    report_.shape = options.shape;
    report_.num_ranks = mpi::world_size();
    if (options.check) {
      std::vector<Complex> whole = gather_rows(input_, options.shape);
      mpi::on_rank_0(MPI_COMM_WORLD, [&] { expected_ = transform_alone(std::move(whole), options.shape); });
    }
    const CommMatrix matrix = pattern(options.shape);
    for (const Message& message : matrix.entries())
      report_.block_bytes = std::max(report_.block_bytes, message.bytes);
    kit::write_pattern(options.output, matrix, app);
  }

  int run() {
    for (const Method& method : options_.methods) prepare(method);
    for (std::size_t m = 0; m < exchanges_.size(); ++m)
      if (exchanges_[m]) verify(*exchanges_[m], report_.methods[m], m == exchanges_.size() - 1);
    if (options_.output.reps > 0) measure();
    kit::print(options_.output.json ? to_json(report_) : to_text(report_));
    return mpi::max_over_ranks(is_right() ? 0 : 1) > 0 ? kit::failure : kit::success;
  }

 private:
  /// Prepares a method. If its scheduler does not apply, this is reported, and the other methods run.
  void prepare(const Method& method) {
    MethodReport& report = report_.methods.emplace_back();
    report.name = method.name;
    report.planned = method.planned;
    exchanges_.push_back(nullptr);
    try {
      PhaseId num_phases = 0;
      if (method.name == "alltoallv" && !method.planned) {
        exchanges_.back() = make_with_alltoallv(transform_.sides());
      } else if (!method.planned) {
        exchanges_.back() = make_with_isend(transform_.sides());
      } else {
        exchanges_.back() = make_with_nuice(transform_.sides(), method.plan, num_phases);
        report.num_phases = num_phases;
      }
    } catch (const Error& error) {  // on all ranks
      if (error.code() != ErrorCode::not_applicable) throw;
      report.refused = error.what();
    }
  }

  /// Compares the forward transform with FFTW's 2-D plan, and the inverse with the input. The blocks are
  /// overwritten first, so that no result is right by chance.
  void verify(CompleteExchange& exchange, MethodReport& report, bool write) {
    std::ranges::fill(transform_.sides().column_side.memory, Complex(NAN, NAN));
    transform_.rows() = input_;
    transform_.forward(exchange);
    if (options_.check || (write && !options_.result.empty())) {
      const Shape shape{options_.shape.columns, options_.shape.rows};
      const std::vector<Complex> columns = gather_rows(transform_.columns(), shape);
      mpi::on_rank_0(MPI_COMM_WORLD, [&] {
        const std::vector<Complex> result = turned(columns, options_.shape);
        if (write && !options_.result.empty()) write_array(options_.result, result);
        if (options_.check) report.error = error_of(result);
      });
    }
    std::ranges::fill(transform_.sides().row_side.memory, Complex(NAN, NAN));
    transform_.inverse(exchange);
    const double difference = mpi::max_over_ranks(greatest_difference(transform_.rows(), input_));
    const double scale = mpi::max_over_ranks(greatest_value(input_));
    report.round_trip_error = scale > 0 ? difference / scale : difference;
  }

  double error_of(const std::vector<Complex>& result) const {
    const double scale = greatest_value(expected_);
    const double difference = greatest_difference(result, expected_);
    return scale > 0 ? difference / scale : difference;
  }

  void measure() {
    std::vector<kit::Timed> exchanges;
    std::vector<kit::Timed> transforms;
    std::vector<MethodReport*> reports;
    for (std::size_t m = 0; m < exchanges_.size(); ++m) {
      if (!exchanges_[m]) continue;
      CompleteExchange& exchange = *exchanges_[m];
      const std::string& name = report_.methods[m].name;
      exchanges.push_back({name, [&exchange] { exchange.forward(); }});
      transforms.push_back({name, [this, &exchange] {
                              std::ranges::copy(input_, transform_.rows().begin());
                              transform_.forward(exchange);
                            }});
      reports.push_back(&report_.methods[m]);
    }
    const auto exchange_times = kit::time_in_turns(exchanges, options_.output.reps);
    const auto transform_times = kit::time_in_turns(transforms, options_.output.reps);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      reports[i]->exchange_s = exchange_times[i];
      reports[i]->transform_s = transform_times[i];
    }
  }

  /// Returns whether all differences are small; NaN counts as wrong.
  bool is_right() const {
    return std::ranges::all_of(report_.methods, [](const MethodReport& method) {
      return !method.refused.empty() ||
             (method.round_trip_error <= tolerance && method.error.value_or(0) <= tolerance);
    });
  }

  const Options& options_;
  std::vector<Complex> input_;
  Transform transform_;
  std::vector<Complex> expected_;                             // on rank 0, with --check
  std::vector<std::unique_ptr<CompleteExchange>> exchanges_;  // by method; null if refused
  Report report_;
};

}  // namespace
}  // namespace nuice::fft2d

int main(int argc, char** argv) {
  nuice::fft2d::Options options;
  nuice::kit::App app{
      "Transforms an array that is distributed by rows: transforms of the rows, one complete exchange, "
      "transforms of\n"
      "the columns. The exchange is carried by schedules of nuice, by MPI_Alltoallv, and by MPI_Isend.",
      "nuice-fft2d"};
  nuice::fft2d::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] {
    nuice::fft2d::interpret(options);
    return nuice::fft2d::Program(app, options).run();
  });
}
