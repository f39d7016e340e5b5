// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/tcp_losses.hpp"

#include <algorithm>
#include <array>
#include <string>

#ifdef __linux__
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#endif

namespace nuice::mpi {
namespace {

/// MPI's sockets are among the lower ones.
constexpr int most_descriptors = 4096;

#ifdef __linux__
bool is_tcp(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
}

/// Of one end of a socket, without its port.
std::string address_of(int descriptor, int (*end)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (end(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_old = address.ss_family == AF_INET;
  const void* const bytes = is_old
                                ? static_cast<const void*>(&reinterpret_cast<sockaddr_in&>(address).sin_addr)
                                : &reinterpret_cast<sockaddr_in6&>(address).sin6_addr;
  return inet_ntop(address.ss_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

bool goes_to_another(int descriptor) {
  const std::string peer = address_of(descriptor, getpeername);
  return !peer.empty() && peer != address_of(descriptor, getsockname);
}

int num_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return most_descriptors;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, most_descriptors));
}
#else
bool is_tcp(int /*descriptor*/) { return false; }
bool goes_to_another(int /*descriptor*/) { return false; }
int num_descriptors() { return 0; }
#endif

}  // namespace

void TcpLosses::find_sockets() {
  const int end = num_descriptors();
  for (int descriptor = 3; descriptor < end; ++descriptor)
    if (is_tcp(descriptor)) sockets_.push_back(descriptor);
}

bool TcpLosses::any_to_others() const { return std::ranges::any_of(sockets_, goes_to_another); }

}  // namespace nuice::mpi
