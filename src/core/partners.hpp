// SPDX-License-Identifier: BSD-3-Clause
// Checks the messages that a rank declares, before they are used. Errors name the pair of ranks.
#pragma once

#include <span>
#include <string>

#include "core/text/names.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::core {

/// The messages that a rank sends, or the messages that it receives.
struct Side {
  Rank rank;
  bool is_send;

  std::string pair_with(Rank partner) const {
    return is_send ? pair_name(rank, partner) : pair_name(partner, rank);
  }
  const char* name() const { return is_send ? "send" : "receive"; }
};

/// Throws Error `invalid_argument` for a partner that is not a rank or for a negative size, and `limit` for a
/// size above max_bytes.
void check_listed_partners(const Side& side, Rank num_ranks, std::span<const Partner> partners);

/// Calls check_listed_partners(). Throws Error `invalid_argument` also for a partner that is listed twice.
void check_partners(const Side& side, Rank num_ranks, std::span<const Partner> partners);

/// Throws Error `invalid_argument` unless there is one buffer per partner, each with room for that partner's
/// message.
template <typename Buffer>
void check_buffers(const Side& side, std::span<const Partner> partners, std::span<const Buffer> buffers) {
  const std::string kind = side.name();
  if (buffers.size() != partners.size())
    throw Error(ErrorCode::invalid_argument,
                rank_name(side.rank) + " gives " + std::to_string(buffers.size()) + " " + kind +
                    " buffers for " + std::to_string(partners.size()) + " partners");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto [partner, bytes] = partners[i];
    const bool is_null = bytes > 0 && buffers[i].data == nullptr;
    if (!is_null && buffers[i].bytes >= bytes) continue;
    throw Error(ErrorCode::invalid_argument,
                side.pair_with(partner) + ": the " + kind + " buffer " +
                    (is_null ? "is null"
                             : "has " + std::to_string(buffers[i].bytes) + " bytes, the message has " +
                                   std::to_string(bytes)));
  }
}

}  // namespace nuice::core
