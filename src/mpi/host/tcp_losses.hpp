// SPDX-License-Identifier: BSD-3-Clause
// How many segments TCP had to send again for this process, and how many came out of order as one before them was lost, whatever
// MPI's way to its sockets: the kernel tells it of every socket (TCP_INFO). A transport that retransmits by itself hides from
// time measurements what it loses, until it waits for a timer. On a busy processor timers also end too early: what was then
// retransmitted needlessly does not count. Where MPI uses no TCP, or the system is not Linux, the counts stay 0.
#pragma once

#include <cstdint>
#include <vector>

namespace nuice::mpi {

class TcpLosses {
 public:
  /// Looks which of the process's descriptors are TCP sockets. MPI may open some later: again now and then.
  /// Cost: a system call for each descriptor, some 0.2 us.
  void find_sockets();
  struct Counts {
    std::int64_t sent_again = 0;
    std::int64_t came_out_of_order = 0;
    std::int64_t sent = 0;  ///< segments with data, whatever sent them
  };
  /// Since the last call; of sockets found since then, nothing. Cost: a system call for each socket.
  Counts since_last();
  /// Whether one of them goes to another address than its own end has: to another host. (Launchers talk to processes of the same host.)
  bool any_to_others() const;

 private:
  struct Socket {
    int descriptor;
    Counts counts;
  };
  std::vector<Socket> sockets_;
};

}  // namespace nuice::mpi
