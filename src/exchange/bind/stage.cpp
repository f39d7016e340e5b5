// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/stage.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice::mpi {

Stage::Stage(Bytes bytes) {
  if (bytes > 0) memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
}

Block Stage::put(const Part& part) {
  const Block place{memory_.get() + used_, part.bytes};
  used_ += part.bytes;
  messages_[{part.src, part.dst}].insert_or_assign(part.offset, place);
  return place;
}

void Stage::take(const Part& part, std::vector<Block>& places) {
  Places& known = messages_[{part.src, part.dst}];
  Bytes at = part.offset;
  for (Bytes left = part.bytes; left > 0;) {
    const auto after = known.upper_bound(at);
    const auto found = after == known.begin() ? known.end() : std::prev(after);
    const bool is_there = found != known.end() && found->first + found->second.bytes > at;
    if (!is_there)
      throw Error(ErrorCode::mismatch, "byte " + std::to_string(at) + " of message rank " +
                                           std::to_string(part.src) + " -> rank " + std::to_string(part.dst) +
                                           " is forwarded before it arrives");
    const auto [begin, place] = *found;
    known.erase(found);
    const Bytes skipped = at - begin;
    const Bytes taken = std::min(left, place.bytes - skipped);
    const Bytes rest = place.bytes - skipped - taken;
    if (skipped > 0) known.insert_or_assign(begin, Block{place.at, skipped});
    if (rest > 0) known.insert_or_assign(at + taken, Block{place.at + skipped + taken, rest});
    places.push_back({place.at + skipped, taken});
    at += taken;
    left -= taken;
  }
}

}  // namespace nuice::mpi
