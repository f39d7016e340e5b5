// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/tcp_losses.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#ifdef __linux__
#include <arpa/inet.h>
#include <linux/tcp.h>  // netinet/tcp.h has no count of what came out of order
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#endif

namespace nuice::mpi {
namespace {

/// MPI's sockets are among the lower ones.
constexpr int most_descriptors = 4096;

#ifdef __linux__
/// What this header and the running kernel know of, else 0.
template <auto field>
std::int64_t known(const tcp_info& info, socklen_t length) {
  const auto end = reinterpret_cast<const char*>(&(info.*field) + 1) - reinterpret_cast<const char*>(&info);
  return static_cast<std::ptrdiff_t>(length) >= end ? info.*field : 0;
}

/// Since Linux 5.4.
template <typename Info>
std::int64_t out_of_order(const Info& info, socklen_t length) {
  if constexpr (requires { info.tcpi_rcv_ooopack; }) return known<&Info::tcpi_rcv_ooopack>(info, length);
  return 0;
}

/// What came twice, as the receiver says: nothing was lost, a timer ended too early. Since Linux 4.20.
template <typename Info>
std::int64_t needlessly(const Info& info, socklen_t length) {
  if constexpr (requires { info.tcpi_dsack_dups; }) return known<&Info::tcpi_dsack_dups>(info, length);
  return 0;
}

/// Since Linux 4.6.
template <typename Info>
std::int64_t segments(const Info& info, socklen_t length) {
  if constexpr (requires { info.tcpi_data_segs_out; }) return known<&Info::tcpi_data_segs_out>(info, length);
  return 0;
}

/// Nothing for what is no TCP socket.
std::optional<TcpLosses::Counts> counts_of(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  return TcpLosses::Counts{info.tcpi_total_retrans - needlessly(info, length), out_of_order(info, length),
                           segments(info, length)};
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
std::optional<TcpLosses::Counts> counts_of(int /*descriptor*/) { return std::nullopt; }
bool goes_to_another(int /*descriptor*/) { return false; }
int num_descriptors() { return 0; }
#endif

}  // namespace

void TcpLosses::find_sockets() {
  const int end = num_descriptors();
  for (int descriptor = 3; descriptor < end; ++descriptor) {
    const auto is_it = [&](const Socket& socket) { return socket.descriptor == descriptor; };
    if (std::ranges::any_of(sockets_, is_it)) continue;
    if (const auto counts = counts_of(descriptor)) sockets_.push_back({descriptor, *counts});
  }
}

TcpLosses::Counts TcpLosses::since_last() {
  Counts sum;
  for (Socket& socket : sockets_) {
    const Counts now = counts_of(socket.descriptor).value_or(socket.counts);
    // Below 0: it was closed, and another one has its number.
    sum.sent_again += std::max<std::int64_t>(0, now.sent_again - socket.counts.sent_again);
    sum.came_out_of_order +=
        std::max<std::int64_t>(0, now.came_out_of_order - socket.counts.came_out_of_order);
    sum.sent += std::max<std::int64_t>(0, now.sent - socket.counts.sent);
    socket.counts = now;
  }
  return sum;
}

bool TcpLosses::any_to_others() const {
  return std::ranges::any_of(sockets_,
                             [](const Socket& socket) { return goes_to_another(socket.descriptor); });
}

}  // namespace nuice::mpi
