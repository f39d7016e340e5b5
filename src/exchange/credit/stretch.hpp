// SPDX-License-Identifier: BSD-3-Clause
// What the executor credit cuts into chunks: elements of one datatype, one behind the other.
//
//   an element is at most        a chunk is
//   least_chunk_bytes            as many whole elements as fit, one at least
//   max_packed_element           so many bytes of the elements as MPI_Pack puts them one behind the other
//   larger                       an element (MPI counts packed bytes with an int)
//
// It depends on the size of an element and on what the receiver says alone, so both ends cut alike, however their elements lie.
// Elements that are plain bytes stay where they lie and are never packed. Packing takes as much memory as the elements, from
// bind().
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "mpi/requests.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

constexpr Bytes max_packed_element = Bytes{1} << 30;

class Stretch {
 public:
  /// Some of a stretch, as MPI takes it.
  struct Chunk {
    void* at;
    int count;
    MPI_Datatype type;
    Bytes bytes;
  };

  /// Elements of at least a byte, of a type that outlives this. least_chunk_bytes: no chunk is ever cut smaller; 1 .. INT_MAX.
  Stretch(Rank partner, const Segment& elements, Bytes least_chunk_bytes);
  /// From here on; between two exchanges. At least least_chunk_bytes, at most INT_MAX.
  void cut(Bytes chunk_bytes);

  Rank partner() const { return partner_; }
  Bytes bytes() const { return elements_.count * size_; }
  Bytes chunk_bytes() const { return chunk_bytes_; }
  std::int64_t num_chunks() const { return (bytes() + chunk_bytes_ - 1) / chunk_bytes_; }
  /// The chunk that begins at this byte of all, a multiple of chunk_bytes().
  Chunk chunk_at(Bytes offset) const;

  /// Before the first chunk is sent.
  void pack();
  void begin_receiving() { missing_ = bytes(); }
  /// So many bytes are here. With the last of them the elements are.
  void receive(Bytes bytes);

 private:
  template <typename Act>
  void for_packable(Act&& act);

  Rank partner_;
  Segment elements_;
  Bytes size_;       // of an element
  MPI_Aint extent_;  // from one element to the next
  Bytes chunk_bytes_;
  bool is_cut_inside_;
  bool are_bytes_;                       // cut where they lie
  std::unique_ptr<std::byte[]> packed_;  // null unless chunks are of packed elements
  Bytes missing_ = 0;                    // of the running exchange
};

}  // namespace nuice::mpi
