// SPDX-License-Identifier: BSD-3-Clause
// nuice-calibrate: measures the machine that it runs on and writes its description.
//
//   mpiexec -n N nuice-calibrate                     a few seconds; the machine file on stdout
//   mpiexec -n N nuice-calibrate --save              where the planner's "auto" looks for it
//   mpiexec -n N nuice-calibrate -o my.toml --reps 51
//
// Exit code, the same on all ranks: 0 done; 1 a measurement failed; 2 bad command line, too few ranks, or a file that cannot
// be written.
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_calibrate/mpi_lab.hpp"
#include "nuice_calibrate/report.hpp"

namespace nuice::calibrate {
namespace {

constexpr int bad_input = 2;

struct Options {
  Settings settings;
  double patience_s = 0.3;
  std::string output;
  bool save = false;
  bool json = false;
};

void print(std::FILE* file, const std::string& text) {
  if (mpi::world_rank() != 0) return;
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

/// Says so and returns the exit code.
int refuse(const Error& error, bool json) {
  print(stderr, "nuice-calibrate: " + std::string(error.what()) + "\n");
  if (json) print(stdout, error_json(error.code(), error.what()));
  return bad_input;
}

/// Nothing if there is nothing to do but to exit with `code`.
std::optional<Options> parse_command_line(int argc, const char* const* argv, int& code) {
  Options options;
  CLI::App app{
      "Measures start-up, time per byte, eager limit, duplex, many senders to one receiver and barriers, "
      "with nuice's\n"
      "own executors, and writes them as a machine file (docs/reference/machines.md) with the spread of "
      "every number.\n"
      "Start one rank per host for the network, all ranks on one host for its memory; 2 ranks or more:\n"
      "mpiexec -n 8 nuice-calibrate --save",
      "nuice-calibrate"};
  auto* const output =
      app.add_option("-o,--output", options.output, "write the machine to this file; stdout otherwise");
  app.add_flag(
         "--save", options.save,
         "write it where scheduler auto looks: ~/.config/nuice/machine.toml, or shared-memory.toml when all "
         "ranks are on one host")
      ->excludes(output);
  app.add_option("--reps", options.settings.reps, "repetitions of every measurement")
      ->check(CLI::Range(3, 100'000))
      ->capture_default_str();
  app.add_option("--patience", options.patience_s,
                 "seconds after which a measurement is repeated no more, three times it is in any case")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--topology", options.settings.topology,
                 "network of the machine, for the file; by default a crossbar of all ranks");
  app.add_flag("--json", options.json,
               "one JSON object per number and line on stdout; the machine only with -o or --save");
  try {
    app.parse(argc, argv);
    if (!options.settings.topology.empty()) (void)make_topology(options.settings.topology);
    return options;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    code = app.exit(error, out, err) == 0 ? 0 : bad_input;
    print(stdout, out.str());
    print(stderr, err.str());
    if (code != 0 && std::find(argv, argv + argc, std::string_view("--json")) != argv + argc)
      print(stdout, error_json(ErrorCode::invalid_argument, error.what()));
  } catch (const Error& error) {
    code = refuse(error, options.json);
  }
  return std::nullopt;
}

/// Collective.
Place find_place(Rank ranks) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int on_host = 0;
  int rank_on_host = 0;
  MPI_Comm_size(host, &on_host);
  MPI_Comm_rank(host, &rank_on_host);
  MPI_Comm_free(&host);
  int hosts = rank_on_host == 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int crowded = std::cmp_greater(on_host, std::thread::hardware_concurrency()) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string library(text);
  const std::size_t end = std::min(library.find('\n'), library.find(", package"));
  return {ranks, hosts, crowded != 0, library.substr(0, end)};
}

void write_file(const std::string& path, const Machine& machine, const std::vector<MachineNote>& notes) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code trouble;
  if (!folder.empty()) std::filesystem::create_directories(folder, trouble);
  save_machine(machine, path, notes);
}

/// On rank 0. Returns the exit code.
int deliver(const Options& options, const Calibration& calibration, const Place& place) {
  const std::vector<MachineNote> remarks = notes(calibration, place);
  if (options.json) print(stdout, json_lines(calibration, place));
  try {
    const std::string path = options.save ? calibrated_machine_path(place.hosts == 1) : options.output;
    if (options.save || !options.output.empty()) {
      write_file(path, calibration.machine, remarks);
      print(stderr, "nuice-calibrate: wrote " + path + "\n");
    } else if (!options.json) {
      print(stdout, machine_text(calibration.machine, remarks));
    }
    return 0;
  } catch (const Error& error) {
    return refuse(error, options.json);
  }
}

/// What can be known before anything is measured. Throws Error.
void require_possible(const Options& options, Rank num_ranks, bool one_host) {
  if (num_ranks < 2)
    throw Error(ErrorCode::invalid_argument, "messages need two ranks: use mpiexec -n 2 nuice-calibrate");
  if (const std::string& topology = options.settings.topology; !topology.empty()) {
    const std::string too_small = why_too_small(*make_topology(topology), num_ranks);
    if (!too_small.empty()) throw Error(ErrorCode::mismatch, too_small);
  }
  if (options.save && calibrated_machine_path(one_host).empty())
    throw Error(ErrorCode::io, "there is no home to save the machine in: use -o FILE");
}

int main_with_mpi(int argc, const char* const* argv) {
  int code = 0;
  try {
    const auto options = parse_command_line(argc, argv, code);
    if (!options) return code;
    MpiLab lab(options->patience_s);
    const Place place = find_place(lab.num_ranks());
    try {
      require_possible(*options, lab.num_ranks(), place.hosts == 1);
    } catch (const Error& error) {
      code = refuse(error, options->json);
    }
    MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);  // homes may differ
    if (code != 0) return code;
    if (place.crowded)
      print(stderr,
            "nuice-calibrate: warning: a host has more ranks than cores, so times include waiting for a core "
            "and auto would "
            "predict worse with this machine than without: start as many ranks as there are cores, or one "
            "per host\n");
    const Calibration calibration = calibrate(lab, options->settings);
    if (mpi::world_rank() == 0) code = deliver(*options, calibration, place);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nuice-calibrate: rank %d: %s\n", mpi::world_rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);  // the others may wait for this rank
  }
  return 1;
}

}  // namespace
}  // namespace nuice::calibrate

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int exit_code = nuice::calibrate::main_with_mpi(argc, argv);
  MPI_Finalize();
  return exit_code;
}
