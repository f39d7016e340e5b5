// SPDX-License-Identifier: BSD-3-Clause
// The bytes that one rank of the serial executor has received for other ranks and will forward. They are
// stored when they arrive and can be taken once, from the next phase on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/text/names.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice {

inline std::string part_name(const Part& part) {
  return "bytes [" + std::to_string(part.offset) + ", " + std::to_string(part.offset + part.bytes) +
         ") of message " + pair_name(part.src, part.dst);
}

/// The bytes that one rank keeps for other ranks.
class Kept {
 public:
  /// Stores bytes. take() can return them from the next phase on.
  void put(const Part& part, std::vector<std::byte> bytes) { arriving_.push_back({part, std::move(bytes)}); }

  void end_phase() {
    for (auto& [part, bytes] : arriving_)
      messages_[{part.src, part.dst}].insert_or_assign(part.offset, std::move(bytes));
    arriving_.clear();
  }

  /// Removes and returns the bytes of the part. Returns nothing if some of its bytes are not here.
  std::vector<std::byte> take(const Part& part) {
    std::vector<std::byte> taken;
    Ranges& ranges = messages_[{part.src, part.dst}];
    while (std::ssize(taken) < part.bytes) {
      const Bytes at = part.offset + std::ssize(taken);
      auto found = ranges.upper_bound(at);
      if (found == ranges.begin()) return {};
      --found;
      auto [begin, bytes] = std::move(*found);
      if (begin + std::ssize(bytes) <= at) return {};
      ranges.erase(found);
      const auto from = bytes.begin() + (at - begin);
      const auto to = from + std::min(bytes.end() - from, part.bytes - std::ssize(taken));
      taken.insert(taken.end(), from, to);
      if (from != bytes.begin()) ranges.insert_or_assign(begin, std::vector(bytes.begin(), from));
      if (to != bytes.end())
        ranges.insert_or_assign(begin + (to - bytes.begin()), std::vector(to, bytes.end()));
    }
    return taken;
  }

  /// Returns the name of a range that was not taken, or an empty string.
  std::string find_rest() const {
    for (const auto& [pair, ranges] : messages_)
      if (!ranges.empty())
        return part_name(
            {pair.first, pair.second, ranges.begin()->first, std::ssize(ranges.begin()->second)});
    return {};
  }

 private:
  using Ranges = std::map<Bytes, std::vector<std::byte>>;  // by offset
  struct Arrival {
    Part part;
    std::vector<std::byte> bytes;
  };
  std::map<std::pair<Rank, Rank>, Ranges> messages_;
  std::vector<Arrival> arriving_;
};

}  // namespace nuice
