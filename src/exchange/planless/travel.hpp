// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a message as they travel: where they lie if they are plain bytes in one place, else packed.
//
// Both ends of a planless exchange cut messages into the same bytes, whatever datatypes either of them has: what MPI asks for is that
// the bytes of a pair are equal, not their types.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mpi/requests.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

class Travel {
 public:
  /// Elements one segment behind the other. Keeps copies of types where it packs. Throws Error limit for packed elements above
  /// 1 GiB each, mpi for types that are not committed.
  /// is_copied: packed in any case, so that what is sent may be overwritten.
  explicit Travel(std::span<const Segment> segments, bool is_copied = false);

  Bytes bytes() const { return bytes_; }
  std::byte* at() const { return at_; }
  /// Before the first byte is sent, and after the last has come. Nothing where they lie as they travel.
  void pack();
  void unpack();

 private:
  struct Packed {
    Segment segment;
    Bytes element;  // bytes
    Datatype type;
  };
  template <typename Act>
  void for_packable(Act&& act);

  Bytes bytes_ = 0;
  std::byte* at_ = nullptr;
  std::vector<Packed> packed_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace nuice::mpi
