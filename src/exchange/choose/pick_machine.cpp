// SPDX-License-Identifier: BSD-3-Clause
// Only rank 0 reads environment and files. The other ranks get the text, so all ranks have the same machine,
// even on hosts without the file.
#include "exchange/choose/pick_machine.hpp"
#include "mpi/collective.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/text/unpacked_file.hpp"
#include "exchange/plan/options.hpp"
#include "mpi/host/host_ranks.hpp"
#include "mpi/share.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"

namespace nuice::mpi {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The machine that rank 0 has found.
struct Found {
  std::string name;
  std::string text;
  std::string sentence;
  int is_named = 0;
  int is_nominal = 0;
};

/// Finds a machine by the name of a shipped machine or of a file.
Found by_name(const std::string& name, const std::string& sentence) {
  for (const ShippedMachine& shipped : shipped_machines())
    if (shipped.name == name) return {name, std::string(shipped.text), sentence};
  if (!names_machine_file(name)) (void)find_machine(name);  // throws, with the known names
  return {name, core::read_text(name), sentence};
}

/// Returns a warning such as " was 4.0 times off in its own check" if the file's predictions should not be
/// relied on, otherwise "".
std::string doubt_of(const std::string& text, const std::string& name) {
  const double off = parse_machine(text, name).worst_check;
  if (off <= largest_trusted_error) return "";
  std::array<char, 64> doubt{};
  std::snprintf(doubt.data(), doubt.size(), " was %.2g times off in its own check", off);
  return doubt.data();
}

/// Finds a machine that the user names. If its worst_check is too large, the machine is used to choose the
/// order of messages, but not to predict the times of executors.
Found named(const std::string& name, const std::string& by_whom) {
  Found found = by_name(name, "The machine is " + name + by_whom);
  if (const std::string doubt = doubt_of(found.text, name); !doubt.empty()) {
    found.sentence += " It" + doubt + ", so executors are not chosen by it.";
    found.is_nominal = 1;
  } else {
    found.is_named = 1;
  }
  return found;
}

Found look_for(const PlanOptions& options, bool one_host) {
  if (!options.automatic.machine.empty()) return named(options.automatic.machine, ".");
  if (const std::string name = environment("NUICE_MACHINE"); !name.empty())
    return named(name, ", by NUICE_MACHINE.");
  const std::string saved = calibrated_machine_path(one_host);
  std::string why = "there is no " + (saved.empty() ? "calibrated one" : saved);
  if (!saved.empty() && std::filesystem::exists(saved)) {
    Found found = by_name(saved, "The machine is " + saved + ".");
    const std::string doubt = doubt_of(found.text, saved);
    if (doubt.empty()) return found;
    why = saved + doubt;
  }
  const std::string name = one_host ? "shared-memory" : "fattree-ib";
  Found found = by_name(name, "No machine was named, and " + why + ": with the nominal numbers of " + name +
                                  " the choice may be wrong; nuice-calibrate --save measures yours.");
  found.is_nominal = 1;
  return found;
}

/// Collective. Returns whether all ranks share memory.
bool all_on_one_host(const Communicator& comm) {
  int size = static_cast<int>(ranks_of_this_host(comm).size());
  all_reduce(comm, MPI_IN_PLACE, &size, 1, MPI_INT, MPI_MIN);
  return size == comm.num_ranks();
}

/// Returns whether the network has no links, so that additional ranks share nothing.
bool is_crossbar(const Topology& topology) { return topology.num_links() == 0; }

void fit(PickedMachine& picked, const Communicator& comm, const PlanOptions& options) {
  Machine& machine = picked.machine;
  if (!options.topology.empty()) {
    machine.topology = make_topology(options.topology);
  } else if (machine.topology->num_ranks() < comm.num_ranks() && is_crossbar(*machine.topology)) {
    machine.topology = make_topology("crossbar:" + std::to_string(comm.num_ranks()));
  }
}

}  // namespace

PickedMachine pick_machine(const Communicator& comm, const PlanOptions& options) {
  const bool is_named = !options.automatic.machine.empty();
  // If the program says which ranks share a host, there are ports between hosts.
  const bool share_memory = options.hosts == auto_name && all_on_one_host(comm);
  const bool one_host = !is_named && share_memory;
  Found found;
  all_or_none(comm, [&] {
    if (comm.rank() == 0) found = look_for(options, one_host);
  });
  for (std::string* const text : {&found.name, &found.text, &found.sentence})
    *text = text_of_rank_0(comm, std::move(*text));
  share_from_rank_0(comm, found.is_named, found.is_nominal);
  PickedMachine picked;
  all_or_none(comm, [&] {
    picked = {.machine = parse_machine(found.text, found.name),
              .sentence = found.sentence,
              .is_named = found.is_named != 0,
              .is_nominal = found.is_nominal != 0,
              .is_one_host = one_host || (found.is_nominal != 0 && share_memory)};
    fit(picked, comm, options);
  });
  return picked;
}

}  // namespace nuice::mpi
