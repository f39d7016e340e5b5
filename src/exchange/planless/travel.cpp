// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/planless/travel.hpp"

#include <algorithm>
#include <string>

#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

constexpr Bytes most_at_once = Bytes{1} << 30;  // MPI counts packed bytes with an int

}  // namespace

Travel::Travel(std::span<const Segment> segments, bool is_copied) {
  Bytes largest = 0;
  for (const Segment& segment : segments) {
    const Bytes element = size_of(segment.type);
    bytes_ += segment.count * element;
    largest = std::max(largest, element);
  }
  if (bytes_ == 0) return;
  if (!is_copied && segments.size() == 1 && are_plain_bytes_by_form(segments.front().type)) {
    at_ = segments.front().at;
    return;
  }
  if (largest > most_at_once)
    throw Error(ErrorCode::limit,
                "an element of " + std::to_string(largest) + " noncontiguous bytes: 1 GiB at most");
  for (const Segment& segment : segments)
    if (const Bytes element = size_of(segment.type); segment.count * element > 0)
      packed_.push_back({segment, element, Datatype::copy_of(segment.type)});
  memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  at_ = memory_.get();
}

/// act(first element, elements, type, their place among the packed, bytes), as many at a time as MPI counts.
template <typename Act>
void Travel::for_packable(Act&& act) {
  std::byte* to = at_;
  for (const auto& [segment, element, type] : packed_) {
    const std::int64_t at_once = most_at_once / element;
    const MPI_Aint extent = extent_of(type.get());
    for (std::int64_t i = 0; i < segment.count; i += at_once) {
      const std::int64_t some = std::min(at_once, segment.count - i);
      act(segment.at + i * extent, static_cast<int>(some), type.get(), to, static_cast<int>(some * element));
      to += some * element;
    }
  }
}

void Travel::pack() {
  for_packable([](const void* from, int count, MPI_Datatype type, void* to, int bytes) {
    int position = 0;
    must(MPI_Pack(from, count, type, to, bytes, &position, any_comm()), "MPI_Pack");
  });
}

void Travel::unpack() {
  for_packable([](void* to, int count, MPI_Datatype type, const void* from, int bytes) {
    int position = 0;
    must(MPI_Unpack(from, bytes, &position, to, count, type, any_comm()), "MPI_Unpack");
  });
}

}  // namespace nuice::mpi
