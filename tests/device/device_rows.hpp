// SPDX-License-Identifier: BSD-3-Clause
// What tests of exchanges on devices send.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "device/device_memory.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice::test {

using Memory = std::vector<std::byte>;

/// Some pairs exchange nothing, some little, some more than several chunks; ranks send themselves, too.
inline std::vector<Partner> row(Rank rank, Rank num_ranks) {
  std::vector<Partner> row;
  for (Rank dst = num_ranks; dst-- > 0;) {
    constexpr std::array<nuice::Bytes, 5> sizes = {0, 17, 4096, 30011, 200000};
    row.push_back({dst, sizes[static_cast<std::size_t>(3 * rank + 2 * dst + 1) % sizes.size()]});
  }
  return row;
}
inline std::vector<Partner> row() { return row(world_rank(), world_size()); }

inline std::byte value_of(Rank src, Rank dst, std::size_t i, int round) {
  return static_cast<std::byte>(i * 7 + i / 251 +
                                static_cast<std::size_t>(31 * src + 17 * dst + 101 * round));
}

inline std::size_t sum(std::span<const Partner> partners) {
  std::size_t bytes = 0;
  for (const Partner& partner : partners) bytes += static_cast<std::size_t>(partner.bytes);
  return bytes;
}

/// As it is sent; or with src and dst exchanged, as it is received.
inline Memory messages(std::span<const Partner> partners, bool is_send, int round) {
  Memory all;
  for (const Partner& partner : partners)
    for (std::size_t i = 0; i < static_cast<std::size_t>(partner.bytes); ++i)
      all.push_back(is_send ? value_of(world_rank(), partner.rank, i, round)
                            : value_of(partner.rank, world_rank(), i, round));
  return all;
}

/// Arrays of device memory that hold the messages of all partners.
inline mpi::Exchange bind(mpi::Plan& plan, const DeviceArray<std::byte>& send,
                          const DeviceArray<std::byte>& receive) {
  return plan.bind(mpi::SendArray{send.data(), static_cast<Bytes>(send.size()), {}},
                   mpi::ReceiveArray{receive.data(), static_cast<Bytes>(receive.size()), {}});
}

}  // namespace nuice::test
