// SPDX-License-Identifier: BSD-3-Clause
// Whether this process has TCP connections to other hosts, whatever MPI's way to its sockets: the kernel tells it of every
// descriptor. Over such connections packets may be lost. Where the system is not Linux, there seem to be none.
#pragma once

#include <vector>

namespace nuice::mpi {

class TcpLosses {
 public:
  /// Looks which of the process's descriptors are TCP sockets. Cost: a system call for each descriptor, some 0.2 us.
  void find_sockets();
  /// Whether one of them goes to another address than its own end has: to another host. (Launchers talk to processes of the same host.)
  bool any_to_others() const;

 private:
  std::vector<int> sockets_;
};

}  // namespace nuice::mpi
