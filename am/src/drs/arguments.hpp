// SPDX-License-Identifier: BSD-3-Clause
// What a rank gives to sources() and bind(), checked and brought into shape. Nothing here communicates.
#pragma once

#include <cstdint>
#include <span>

#include "drs/run.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::drs {

/// Which rank this is, of how many.
struct Place {
  Rank rank;
  Rank num_ranks;
};

/// Throws Error invalid_argument or limit, naming the pair, for an entry that cannot be sent.
void check_destinations(const Place& place, std::span<const Partner> destinations);

/// Throws Error invalid_argument for values out of range, not_applicable for a combination that does not exist.
void check_options(const Options& options);

/// The messages with their memory, the outgoing ones in random order. Throws Error invalid_argument for sources as
/// above, and for a buffer that is missing or too small.
Messages make_messages(const Place& place, std::span<const Partner> destinations,
                       std::span<const Partner> sources, std::span<const SendBuffer> send,
                       std::span<const ReceiveBuffer> receive, std::uint64_t seed);

/// Numbers that add up to 0 over all ranks, as good as never otherwise, if every rank's sources are what the others
/// send to it.
struct Balance {
  std::int64_t first = 0;
  std::int64_t second = 0;
};
Balance balance(const Place& place, std::span<const Partner> destinations, std::span<const Partner> sources);

/// Of options: equal on all ranks if the options are.
std::int64_t fingerprint(const Options& options);

}  // namespace nuice::drs
