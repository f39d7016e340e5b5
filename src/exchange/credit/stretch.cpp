// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/credit/stretch.hpp"

#include <algorithm>

#include "mpi/call.hpp"
#include "mpi/communicator.hpp"

namespace nuice::mpi {

Stretch::Stretch(Rank partner, const Segment& elements, Bytes least_chunk_bytes)
    : partner_(partner),
      elements_(elements),
      size_(size_of(elements.type)),
      extent_(extent_of(elements.type)),
      is_cut_inside_(size_ > least_chunk_bytes && size_ <= max_packed_element),
      are_bytes_(size_ <= max_packed_element && are_plain_bytes(elements.type)) {
  cut(least_chunk_bytes);
  if (is_cut_inside_ && !are_bytes_)
    packed_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes()));
}

void Stretch::cut(Bytes chunk_bytes) {
  chunk_bytes_ = is_cut_inside_ ? chunk_bytes : std::max<Bytes>(chunk_bytes / size_, 1) * size_;
}

Stretch::Chunk Stretch::chunk_at(Bytes offset) const {
  const Bytes some = std::min(chunk_bytes_, bytes() - offset);
  if (are_bytes_) return {elements_.at + offset, static_cast<int>(some), MPI_BYTE, some};
  if (packed_) return {packed_.get() + offset, static_cast<int>(some), MPI_BYTE, some};
  return {elements_.at + offset / size_ * extent_, static_cast<int>(some / size_), elements_.type, some};
}

/// act(first element, elements, their place among the packed, bytes), as many at a time as MPI counts.
template <typename Act>
void Stretch::for_packable(Act&& act) {
  const std::int64_t at_once = max_packed_element / size_;
  for (std::int64_t i = 0; i < elements_.count; i += at_once) {
    const std::int64_t some = std::min(at_once, elements_.count - i);
    act(elements_.at + i * extent_, static_cast<int>(some), packed_.get() + i * size_,
        static_cast<int>(some * size_));
  }
}

void Stretch::pack() {
  if (!packed_) return;
  for_packable([this](const void* from, int count, void* to, int bytes) {
    int position = 0;
    must(MPI_Pack(from, count, elements_.type, to, bytes, &position, any_comm()), "MPI_Pack");
  });
}

void Stretch::receive(Bytes bytes) {
  missing_ -= bytes;
  if (!packed_ || missing_ > 0) return;
  for_packable([this](void* to, int count, const void* from, int size) {
    int position = 0;
    must(MPI_Unpack(from, size, &position, to, count, elements_.type, any_comm()), "MPI_Unpack");
  });
}

}  // namespace nuice::mpi
