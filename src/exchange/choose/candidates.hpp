// SPDX-License-Identifier: BSD-3-Clause
// The candidates of the scheduler "auto", and the counts that it needs. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exchange/choose/pick_machine.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/mpi/options.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::mpi {

/// Returns whether the user's own exchanges are to show which method is best. Returns false if all ranks are
/// on one host: no ranks share a port there, and differences of a few microseconds are lost among ranks that
/// wait for cores.
bool tries_on(const PickedMachine& picked, const PlanOptions& options);

/// Returns whether predictions are used only to choose the order of messages. This is so if exchanges try
/// methods, or if nothing is known of the network between several hosts, so that predictions would describe
/// some other network.
bool predicts_order_only(const PickedMachine& picked, const PlanOptions& options);

/// Returns the candidates that MPI can carry out on this machine, with the executor of `options` if it names
/// one. for_hosts: whether several ranks of a host share a port; if so, schedulers that need a network of
/// ranks, or forward messages, are left out. If a short queue may overflow, sending everything at once is
/// left out too: all ranks of a host would send at once, and the adviser counts a host as one sender.
///
/// order_only: returns only one-port schedules. All their messages are sent at once, in the order of the
/// schedule.
std::vector<std::string> candidates_for(const PickedMachine& picked, const PlanOptions& options,
                                        bool for_hosts, bool order_only);

/// Which messages between hosts can be combined: their number, and the number of pairs of hosts that have
/// such messages.
struct SmallMessages {
  std::int64_t number = 0;
  std::int64_t num_pairs = 0;
};
SmallMessages small_messages(const CommMatrix& matrix, const Hosts& hosts, Bytes largest);

}  // namespace nuice::mpi
