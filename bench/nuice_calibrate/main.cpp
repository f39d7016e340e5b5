// SPDX-License-Identifier: BSD-3-Clause
// nuice-calibrate: measures the machine on which it runs, and writes its description.
//
//   mpiexec -n N nuice-calibrate                     a few seconds; the machine file on stdout
//   mpiexec -n N nuice-calibrate --save              where the planner's "auto" looks for it
//   mpiexec -n N nuice-calibrate -o my.toml --reps 51
//
// Exit code, the same on all ranks: 0 done; 1 a measurement failed; 2 bad command line, too few ranks, or a
// file that cannot be written.
#include <filesystem>
#include <thread>
#include <utility>

#include "kit/errors.hpp"
#include "kit/program.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_calibrate/mpi_lab.hpp"
#include "nuice_calibrate/planning.hpp"
#include "nuice_calibrate/report.hpp"

namespace nuice::calibrate {
namespace {

struct Options {
  Settings settings;
  double patience_s = 0.3;
  std::string output;
  bool save = false;
  bool json = false;
};

void add_options(kit::App& app, Options& options) {
  const kit::Option output =
      kit::add(app, "-o,--output", options.output, "write the machine to this file; stdout otherwise");
  kit::add_flag(
      app, "--save", options.save,
      "write the file that scheduler auto reads: ~/.config/nuice/machine.toml, or shared-memory.toml if all "
      "ranks are on one host")
      .excludes(output);
  kit::add(app, "--reps", options.settings.reps, "repetitions of every measurement", kit::range(3, 100'000));
  kit::add(app, "--patience", options.patience_s,
           "time limit per measurement in seconds (at least 3 repetitions)", kit::range(0.0, 1e6));
  kit::add(app, "--topology", options.settings.topology,
           "network of the machine, for the file; by default a crossbar of all ranks");
  kit::add_json(app, options.json);
}

/// Collective. Finds out where the ranks run.
Place find_place(Rank ranks) {
  const kit::HostRanks near = kit::ranks_of_host();
  int hosts = near.own == 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int crowded = std::cmp_greater(near.count, std::thread::hardware_concurrency()) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const std::string library = kit::mpi_library();
  return {ranks, hosts, crowded != 0, library.substr(0, library.find(", package"))};
}

/// Checks the options before anything is measured. Throws Error.
void require_possible(const Options& options, Rank num_ranks, bool one_host) {
  if (num_ranks < 2) kit::refuse("messages need two ranks: use mpiexec -n 2 nuice-calibrate");
  if (const std::string& topology = options.settings.topology; !topology.empty()) {
    const std::string too_small = why_too_small(*make_topology(topology), num_ranks);
    if (!too_small.empty()) throw Error(ErrorCode::mismatch, too_small);
  }
  if (options.save && calibrated_machine_path(one_host).empty())
    throw Error(ErrorCode::io, "there is no home directory to save the machine in: use -o FILE");
}

/// Writes the result on rank 0.
void deliver(const Options& options, const Calibration& calibration, const Place& place) {
  const std::vector<MachineNote> remarks = notes(calibration, place);
  if (options.json) kit::print(json_lines(calibration, place));
  const std::string path = options.save ? calibrated_machine_path(place.hosts == 1) : options.output;
  if (!path.empty()) {
    const auto folder = std::filesystem::path(path).parent_path();
    std::error_code trouble;
    if (!folder.empty()) std::filesystem::create_directories(folder, trouble);
    save_machine(calibration.machine, path, remarks);
    kit::note("nuice-calibrate: wrote " + path + "\n");
  } else if (!options.json) {
    kit::print(machine_text(calibration.machine, remarks));
  }
}

int run(const Options& options) {
  MpiLab lab(options.patience_s);
  const Place place = find_place(lab.num_ranks());
  mpi::all_or_none(MPI_COMM_WORLD,  // home directories may differ
                   [&] { require_possible(options, lab.num_ranks(), place.hosts == 1); });
  if (place.crowded)
    kit::note(
        "nuice-calibrate: warning: a host has more ranks than cores, so times include waiting for a core and "
        "auto would "
        "predict worse with this machine than without: start as many ranks as there are cores, or one per "
        "host\n");
  Calibration calibration;
  kit::or_abort([&] { calibration = calibrate(lab, options.settings); });
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    calibration.findings.push_back(measure_planning(calibration.machine, options.settings.reps));
    deliver(options, calibration, place);
  });
  return kit::success;
}

}  // namespace
}  // namespace nuice::calibrate

int main(int argc, char** argv) {
  nuice::calibrate::Options options;
  nuice::kit::App app{
      "Measures start-up, time per byte, eager limit, duplex, many senders to one receiver and barriers\n"
      "with NUICE's executors, and writes them as a machine file (docs/reference/machines.md) with the "
      "spread of "
      "every number.\n"
      "Start one rank per host for the network, all ranks on one host for its memory; 2 ranks or more:\n"
      "mpiexec -n 8 nuice-calibrate --save",
      "nuice-calibrate"};
  nuice::calibrate::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] { return nuice::calibrate::run(options); });
}
