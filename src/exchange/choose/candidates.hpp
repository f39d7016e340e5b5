// SPDX-License-Identifier: BSD-3-Clause
// What the scheduler "auto" chooses among, and what it counts for that. Pure functions.
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

/// Whether the user's own exchanges are to show what is best. Not on one host: there is no port to share out,
/// and a few microseconds among ranks that wait for cores show nothing.
bool tries_on(const PickedMachine& picked, const PlanOptions& options);

/// Whether only the order is predicted, as nothing is known of the network: where exchanges try methods, and
/// where they may not and predictions would be those of some other network.
bool predicts_order_only(const PickedMachine& picked, const PlanOptions& options);

/// What the MPI library can do on this machine, with the executor that is asked for, if one is. For hosts with
/// several ranks without schedulers that need a network of ranks, and those that forward. The adviser then sees hosts: not what combining saves, and not that all ranks
/// of a host send at once where nothing holds them back, so that a short queue gets more senders than it
/// counts.
///
/// Where only the order is predicted, all leaves at once in that order: windows belong to the sockets.
std::vector<std::string> candidates_for(const PickedMachine& picked, const PlanOptions& options,
                                        bool for_hosts, bool order_only);

/// Messages between hosts that can be combined, and the pairs of hosts that have any.
struct SmallMessages {
  std::int64_t number = 0;
  std::int64_t num_pairs = 0;
};
SmallMessages small_messages(const CommMatrix& matrix, const Hosts& hosts, Bytes largest);

}  // namespace nuice::mpi
