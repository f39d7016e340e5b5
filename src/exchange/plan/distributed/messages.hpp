// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows if it plans without a matrix: its own messages, and a few facts about all messages.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/discover/raw_values.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

/// A rank's messages in one direction by ascending partner, without its message to itself.
struct Messages {
  std::vector<Rank> partners;
  std::vector<Bytes> bytes;

  std::size_t size() const { return partners.size(); }
  void add(Rank partner, Bytes size) {
    partners.push_back(partner);
    bytes.push_back(size);
  }
  Bytes sum() const { return std::accumulate(bytes.begin(), bytes.end(), Bytes{0}); }
  /// Throws Error `limit` if the sum exceeds max_bytes. verb: "send" or "receive".
  void require_fits(Rank self, const std::string& verb) const {
    Bytes left = max_bytes;
    for (const Bytes size : bytes) {
      if (size > left)
        throw Error(ErrorCode::limit,
                    "rank " + std::to_string(self) + " is to " + verb + " more than 2^62 bytes in all");
      left -= size;
    }
  }
};

/// Returns the messages of a table's partners, without the message of the rank to itself.
Messages messages_of(std::span<const Partner> partners, Rank self);

/// Collective. Replaces each value by its maximum over all ranks.
void all_max(const Communicator& comm, std::span<std::int64_t> values);

/// Facts about all messages, which all ranks know.
struct Facts {
  /// Collective. Throws Error `limit` on all ranks if all messages together exceed max_bytes.
  Facts(const Communicator& comm, const Messages& sends, const Messages& receives);

  Bounds bounds;
  MessageId num_messages = 0;
  std::int64_t most_sends = 0;  ///< The largest number of messages that a rank sends.
  Rank busiest_sender = 0;      ///< The first rank that has this number.
};

}  // namespace nuice::mpi
