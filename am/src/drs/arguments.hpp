// SPDX-License-Identifier: BSD-3-Clause
// Checks and converts the arguments of sources() and bind(). Does not communicate.
#pragma once

#include <cstdint>
#include <span>

#include "drs/run.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::drs {

/// This rank, and the number of ranks.
struct Place {
  Rank rank;
  Rank num_ranks;
};

/// Throws Error `invalid_argument` or `limit`, with the pair of ranks, for an entry that cannot be sent.
void check_destinations(const Place& place, std::span<const Partner> destinations);

/// Throws Error `invalid_argument` for values out of range, and `not_applicable` for a combination that does
/// not exist.
void check_options(const Options& options);

/// Returns the messages with their memory. Outgoing messages are in random order. Throws Error
/// `invalid_argument` for invalid sources, and for a buffer that is missing or too small.
Messages make_messages(const Place& place, std::span<const Partner> destinations,
                       std::span<const Partner> sources, std::span<const SendBuffer> send,
                       std::span<const ReceiveBuffer> receive, std::uint64_t seed);

/// Two numbers of a rank. Their sums over all ranks are 0 if every rank's sources agree with what the other
/// ranks send to it; otherwise they are almost never 0.
struct Balance {
  std::int64_t first = 0;
  std::int64_t second = 0;
};
Balance balance(const Place& place, std::span<const Partner> destinations, std::span<const Partner> sources);

/// Returns a number that is equal on all ranks if the options are equal.
std::int64_t fingerprint(const Options& options);

}  // namespace nuice::drs
