// SPDX-License-Identifier: BSD-3-Clause
// Counts the segments that the hosts' TCP retransmitted: loss, and so contention, that is measured and not
// guessed.
#pragma once

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "nuice/mpi/agree.hpp"

namespace nuice::bench {

/// Returns a key that is equal for ranks with the same network. Host names distinguish machines, and name
/// spaces distinguish the hosts of one machine.
inline std::uint64_t network_key() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  struct stat space{};
  const std::uint64_t inode = stat("/proc/self/ns/net", &space) == 0 ? space.st_ino : 0;
  return std::hash<std::string>{}(name.data() + ("/" + std::to_string(inode)));
}

/// Reads the two lines that begin with "Tcp:": the names, and the numbers in the same order. Returns -1 if
/// they are missing.
inline std::int64_t segments_sent_again() {
  std::ifstream file("/proc/net/snmp");
  std::string names;
  std::string numbers;
  while (std::getline(file, names) && !names.starts_with("Tcp:")) {
  }
  if (!std::getline(file, numbers)) return -1;
  std::istringstream name_words(names);
  std::istringstream number_words(numbers);
  std::string name;
  std::string number;
  while (name_words >> name && number_words >> number)
    if (name == "RetransSegs") return std::stoll(number);
  return -1;
}

class TcpCounter {
 public:
  /// Collective.
  TcpCounter() {
    const std::uint64_t mine = network_key();
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(mpi::world_size()));
    MPI_Allgather(&mine, 1, MPI_UINT64_T, keys.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    counts_ = std::ranges::find(keys, mine) - keys.begin() == mpi::world_rank();
  }

  /// Collective. Returns the segments that all hosts together have retransmitted since they started; nothing
  /// if the system does not count them (/proc/net/snmp). Other programs' segments are included.
  std::optional<std::int64_t> sent_again() const {
    const std::int64_t here = segments_sent_again();
    std::array<std::int64_t, 2> mine = {counts_ ? here : 0, here < 0 ? 1 : 0};
    std::array<std::int64_t, 2> all{};
    MPI_Allreduce(mine.data(), all.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (all[1] > 0) return std::nullopt;
    return all[0];
  }

 private:
  bool counts_ = false;  // true on the first rank of its host
};

}  // namespace nuice::bench
