// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tcp_losses.hpp"

#include <algorithm>
#include <optional>

#ifdef __linux__
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
/// Nothing for what is no TCP socket.
std::optional<std::int64_t> sent_again_by(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  return info.tcpi_total_retrans;
}

int num_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return most_descriptors;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, most_descriptors));
}
#else
std::optional<std::int64_t> sent_again_by(int /*descriptor*/) { return std::nullopt; }
int num_descriptors() { return 0; }
#endif

}  // namespace

void TcpLosses::find_sockets() {
  const int end = num_descriptors();
  for (int descriptor = 3; descriptor < end; ++descriptor) {
    const auto is_it = [&](const Socket& socket) { return socket.descriptor == descriptor; };
    if (std::ranges::any_of(sockets_, is_it)) continue;
    if (const auto count = sent_again_by(descriptor)) sockets_.push_back({descriptor, *count});
  }
}

std::int64_t TcpLosses::sent_again() {
  std::int64_t sum = 0;
  for (Socket& socket : sockets_) {
    const std::int64_t now = sent_again_by(socket.descriptor).value_or(socket.sent_again);
    sum += std::max<std::int64_t>(
        0, now - socket.sent_again);  // below: it was closed, and another one has its number
    socket.sent_again = now;
  }
  return sum;
}

}  // namespace nuice::mpi
