// SPDX-License-Identifier: BSD-3-Clause
#include "flow/socket.hpp"

#ifdef __linux__
#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>  // netinet/tcp.h lacks the count of packets out of order
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstddef>
#include <fstream>
#include <string_view>
#endif

namespace nuice::flow {

#ifdef __linux__
namespace {

#ifndef SO_BUF_LOCK
constexpr int SO_BUF_LOCK = 72;
#endif
constexpr int receive_buffer_is_locked = 2;  // SOCK_RCVBUF_LOCK

#ifndef SO_COOKIE
constexpr int SO_COOKIE = 57;
#endif

#ifndef TCP_RTO_MIN_US
constexpr int TCP_RTO_MIN_US = 45;
constexpr int TCP_DELACK_MAX_US = 46;
#endif
// The kernel waits at least two of its ticks of 1 to 4 ms. The acknowledgement's timer is shorter by a tick,
// so that no packet is retransmitted while its acknowledgement is only delayed.
constexpr int acknowledgement_us = 8000;
constexpr int retransmission_us = 12000;

constexpr int small_buffer_bytes = 3000;     // the kernel doubles it: room for two packets
constexpr int default_buffer_bytes = 65536;  // the kernel doubles it: tcp_rmem's default
// When a connection is made, both ends agree on a unit of windows. It is the smallest unit with which the
// largest window fits 16 bits: 128 bytes for 4 MiB.
constexpr int largest_window_bytes = 4 << 20;
constexpr int window_unit = 128;
constexpr int default_segment_bytes = 536;    // RFC 9293; the value of TCP_MAXSEG before it is set
constexpr int largest_segment_bytes = 32767;  // the limit of TCP_MAXSEG
constexpr int ipv4_header_bytes = 20;
constexpr int ipv6_header_bytes = 40;
constexpr int tcp_header_bytes = 20;
constexpr int timestamp_bytes = 12;
constexpr std::uint32_t unknown_round_trip = 1'000'000'000;  // microseconds

/// Returns a field of tcp_info, or 0 if the running kernel does not fill it.
template <auto field>
std::int64_t known(const tcp_info& info, socklen_t length) {
  const auto end = reinterpret_cast<const char*>(&(info.*field) + 1) - reinterpret_cast<const char*>(&info);
  return static_cast<std::ptrdiff_t>(length) >= end ? info.*field : 0;
}

template <typename Info>
std::int64_t out_of_order(const Info& info, socklen_t length) {
  if constexpr (requires { info.tcpi_rcv_ooopack; }) return known<&Info::tcpi_rcv_ooopack>(info, length);
  return 0;
}

template <typename Value>
bool set(int descriptor, int level, int option, Value value) {
  return setsockopt(descriptor, level, option, &value, sizeof value) == 0;
}

std::optional<int> get(int descriptor, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  if (getsockopt(descriptor, level, option, &value, &length) != 0) return std::nullopt;
  return value;
}

/// Returns the address of one end, without its port; empty if the descriptor has no address.
std::string address_of(int descriptor, int (*end)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (end(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  const void* bytes = nullptr;
  if (address.ss_family == AF_INET) bytes = &reinterpret_cast<sockaddr_in&>(address).sin_addr;
  if (address.ss_family == AF_INET6) bytes = &reinterpret_cast<sockaddr_in6&>(address).sin6_addr;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes == nullptr || inet_ntop(address.ss_family, bytes, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

/// Returns the bytes of data in a full packet from the peer. The kernel guesses this size from received
/// packets, and may guess too little. The guess is used if it is the size that align_segments() at the peer's
/// end makes from the size that this end allows.
std::int64_t segment_bytes(const tcp_info& info) {
  const std::int64_t seen = info.tcpi_rcv_mss, allowed = info.tcpi_advmss;
  const bool is_aligned = seen % window_unit == 0 && seen + window_unit > allowed;
  return is_aligned ? seen : std::max(seen, allowed);
}

/// Returns the MTU of the route to this address; 0 if it is not known.
int mtu_to(const sockaddr* to, socklen_t length) {
  const int probe = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);  // whose connect() sends nothing
  if (probe < 0) return 0;
  int mtu = 0;
  if (connect(probe, to, length) == 0)
    mtu = (to->sa_family == AF_INET6 ? get(probe, IPPROTO_IPV6, IPV6_MTU) : get(probe, IPPROTO_IP, IP_MTU))
              .value_or(0);
  close(probe);
  return mtu;
}

/// Returns whether packets carry timestamps; true, Linux' default, if the setting cannot be read.
bool has_timestamps() {
  static const bool has = [] {
    std::ifstream file("/proc/sys/net/ipv4/tcp_timestamps");
    int setting = 1;
    return !(file >> setting) || setting != 0;
  }();
  return has;
}

}  // namespace

std::optional<SocketCounts> counts_of(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  SocketCounts counts;
  counts.bytes = known<&tcp_info::tcpi_bytes_received>(info, length);
  counts.segments = known<&tcp_info::tcpi_data_segs_in>(info, length);
  counts.out_of_order = out_of_order(info, length);
  counts.segment_bytes = segment_bytes(info);
  counts.sent_segments = known<&tcp_info::tcpi_data_segs_out>(info, length);
  counts.present_round_trip_s = 1e-6 * info.tcpi_rtt;
  const auto round_trip = known<&tcp_info::tcpi_min_rtt>(info, length);
  if (round_trip < unknown_round_trip) counts.round_trip_s = 1e-6 * static_cast<double>(round_trip);
  return counts;
}

std::vector<int> open_descriptors() {
  std::vector<int> found;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  while (const dirent* const entry = readdir(folder)) {
    int descriptor = -1;
    const std::string_view name = entry->d_name;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (read.ec == std::errc{} && descriptor != dirfd(folder)) found.push_back(descriptor);
  }
  closedir(folder);
  std::ranges::sort(found);
  return found;
}

std::uint64_t cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

std::string port_of_connection(int descriptor) {
  const auto type = get(descriptor, SOL_SOCKET, SO_TYPE);
  if (type != SOCK_STREAM) return {};
  const std::string peer = address_of(descriptor, getpeername);
  const std::string own = address_of(descriptor, getsockname);
  return peer.empty() || peer == own ? std::string{} : own;
}

bool begin_small(int descriptor) {
  const auto locks = get(descriptor, SOL_SOCKET, SO_BUF_LOCK);
  if (!locks || (*locks & receive_buffer_is_locked) != 0) return false;
  if (!set(descriptor, IPPROTO_TCP, TCP_WINDOW_CLAMP, largest_window_bytes)) return false;
  return set(descriptor, SOL_SOCKET, SO_RCVBUF, small_buffer_bytes) &&
         set(descriptor, SOL_SOCKET, SO_BUF_LOCK, *locks);
}

void restore_buffer(int descriptor) {
  const int locks = get(descriptor, SOL_SOCKET, SO_BUF_LOCK).value_or(0);
  if ((locks & receive_buffer_is_locked) != 0) return;
  set(descriptor, SOL_SOCKET, SO_RCVBUF, default_buffer_bytes);
  set(descriptor, SOL_SOCKET, SO_BUF_LOCK, locks);
}

int aligned_segment_bytes(int mtu, bool is_ipv6, bool has_timestamps) {
  const int options = has_timestamps ? timestamp_bytes : 0;
  const int data = mtu - (is_ipv6 ? ipv6_header_bytes : ipv4_header_bytes) - tcp_header_bytes - options;
  if (data < default_segment_bytes || data + options > largest_segment_bytes) return 0;
  return data / window_unit * window_unit + options;
}

bool align_segments(int descriptor, const sockaddr* to, unsigned length) {
  if (get(descriptor, IPPROTO_TCP, TCP_MAXSEG) != default_segment_bytes) return false;  // set by the program
  const int bytes = aligned_segment_bytes(mtu_to(to, length), to->sa_family == AF_INET6, has_timestamps());
  return bytes > 0 && set(descriptor, IPPROTO_TCP, TCP_MAXSEG, bytes);
}

bool set_quick_timers(int descriptor) {
  return set(descriptor, IPPROTO_TCP, TCP_DELACK_MAX_US, acknowledgement_us) &&
         set(descriptor, IPPROTO_TCP, TCP_RTO_MIN_US, retransmission_us);
}

void limit_window(int descriptor, std::int64_t bytes, std::int64_t received, Buffer& buffer) {
  if (buffer == Buffer::tuned) {
    const auto locks = get(descriptor, SOL_SOCKET, SO_BUF_LOCK);
    const bool is_free = locks && (*locks & receive_buffer_is_locked) == 0;
    buffer = is_free ? Buffer::first : Buffer::of_program;
    if (is_free) set(descriptor, SOL_SOCKET, SO_RCVBUF, default_buffer_bytes);
  }
  if (buffer == Buffer::first && received >= first_window_bytes) {
    set(descriptor, SOL_SOCKET, SO_RCVBUF, INT_MAX / 2);  // the kernel takes what net.core.rmem_max allows
    buffer = Buffer::large;
  }
  set(descriptor, IPPROTO_TCP, TCP_WINDOW_CLAMP, static_cast<int>(std::min<std::int64_t>(bytes, INT_MAX)));
}

void free_window(int descriptor, Buffer& buffer) {
  set(descriptor, IPPROTO_TCP, TCP_WINDOW_CLAMP, INT_MAX / 2);
  if (buffer == Buffer::of_program || buffer == Buffer::tuned) return;
  const auto locks = get(descriptor, SOL_SOCKET, SO_BUF_LOCK);
  if (locks) set(descriptor, SOL_SOCKET, SO_BUF_LOCK, *locks & ~receive_buffer_is_locked);
  buffer = Buffer::tuned;
}
#else
int aligned_segment_bytes(int /*mtu*/, bool /*is_ipv6*/, bool /*has_timestamps*/) { return 0; }
std::optional<SocketCounts> counts_of(int /*descriptor*/) { return std::nullopt; }
std::vector<int> open_descriptors() { return {}; }
std::uint64_t cookie_of(int /*descriptor*/) { return 0; }
std::string port_of_connection(int /*descriptor*/) { return {}; }
bool begin_small(int /*descriptor*/) { return false; }
void restore_buffer(int /*descriptor*/) {}
bool set_quick_timers(int /*descriptor*/) { return false; }
bool align_segments(int /*descriptor*/, const sockaddr* /*to*/, unsigned /*length*/) { return false; }
void limit_window(int /*descriptor*/, std::int64_t /*bytes*/, std::int64_t /*received*/, Buffer& /*buffer*/) {
}
void free_window(int /*descriptor*/, Buffer& /*buffer*/) {}
#endif

}  // namespace nuice::flow
