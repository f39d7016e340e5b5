// SPDX-License-Identifier: BSD-3-Clause
// A message as it is passed to MPI and UCX: header and payload in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "nuice/am/transport.hpp"

namespace nuice::am {

/// out: 16-byte aligned. The header and one word, which are the smallest usual message, are written by a
/// single store. After two stores, a load of both together would wait until they have reached the cache (30
/// ns per message in a flood over MPI).
inline void write_record(std::byte* out, const Header& header, std::span<const std::byte> a,
                         std::span<const std::byte> b) {
  using Words = std::uint64_t __attribute__((vector_size(16)));
  if (a.size() == sizeof(std::uint64_t)) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::memcpy(&first, &header, sizeof first);
    std::memcpy(&second, a.data(), sizeof second);
    const Words words = {first, second};
    std::memcpy(out, &words, sizeof words);
  } else {
    std::memcpy(out, &header, sizeof header);
    if (!a.empty()) std::memcpy(out + sizeof header, a.data(), a.size());
  }
  if (!b.empty()) std::memcpy(out + sizeof header + a.size(), b.data(), b.size());
}

}  // namespace nuice::am
