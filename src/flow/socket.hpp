// SPDX-License-Identifier: BSD-3-Clause
// Reads a TCP connection's counters and sets its receive window, on Linux. On other systems every descriptor
// is treated as if it were no TCP socket.
//
// The kernel's rules (Linux 4.x to 6.18: net/ipv4/tcp_input.c, tcp_output.c):
//   * TCP_WINDOW_CLAMP may be set at any time. An advertised window is never taken back: a smaller one takes
//     effect after the bytes that the sender was already allowed to send have come.
//   * The kernel replaces the clamp by the buffer's size when it tunes the receive buffer, and when it first
//     sees full packets. It does not tune a buffer that was set by SO_RCVBUF. So the buffer becomes large
//     only after the first 64 KiB, and the clamp is set repeatedly.
//   * A sender does not send part of a packet into a window that is smaller than a packet; it waits 200 ms or
//     more. So windows are whole packets. The kernel rounds them up to the unit that both ends agreed on (128
//     bytes). MPI's sockets (TCP_NODELAY) would fill the bytes that rounding adds with a tiny packet, which
//     is acknowledged separately. So the data of a packet are made a multiple of the unit.
//   * When a process reads, the kernel acknowledges at once if the remaining window is at most half of the
//     clamp.
//   * The kernel acknowledges every second full packet at once, whether or not the process reads. It
//     acknowledges a single packet when the process reads it, or after 40 ms. So a connection needs a window
//     of two packets to proceed while the process does not read.
//   * The first window is 64 KiB, from the receive buffer's size when the connection is made. SO_BUF_LOCK
//     (Linux 5.15) allows a smaller first buffer, which the kernel still tunes later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct sockaddr;

namespace nuice::flow {

struct SocketCounts {
  std::int64_t bytes = 0;           // received
  std::int64_t segments = 0;        // received segments that carry data
  std::int64_t out_of_order = 0;    // segments received out of order (from Linux 5.4)
  std::int64_t segment_bytes = 0;   // data of a full packet from the peer
  std::int64_t sent_segments = 0;   // sent segments that carry data
  double round_trip_s = 0;          // the smallest so far; 0: not known
  double present_round_trip_s = 0;  // the kernel's moving average (SRTT, RFC 6298)
};

/// Returns the counters of a TCP connection, or nothing for another descriptor.
std::optional<SocketCounts> counts_of(int descriptor);

/// Returns the open descriptors of this process in ascending order; empty if the system does not list them.
std::vector<int> open_descriptors();

/// Returns a number that no other socket has had since the system started (from Linux 4.14). 0: the
/// descriptor is no socket, or the system has no such numbers.
std::uint64_t cookie_of(int descriptor);

/// Returns the address of this end, as text without the port; empty if the descriptor is no connection to
/// another host.
std::string port_of_connection(int descriptor);

/// Makes connections begin with a small window, which the kernel tunes later. Call it before connect() or
/// listen(). Returns false and changes nothing if the system cannot do it, or if the program has set a
/// receive buffer.
bool begin_small(int descriptor);
/// Gives a connection that began small the buffer that it would have had.
void restore_buffer(int descriptor);

/// Returns the value of TCP_MAXSEG for a route of this MTU that makes packets carry a multiple of the
/// window's unit. TCP_MAXSEG counts the data and the timestamps. 0: leave it unset, because packets are too
/// small or larger than TCP_MAXSEG allows.
int aligned_segment_bytes(int mtu, bool is_ipv6, bool has_timestamps);

/// Makes full packets of the connection carry a multiple of the window's unit in both directions, for example
/// 1,408 bytes instead of 1,448. Call it before connect(). Returns false if the route is not known, or if the
/// program has set TCP_MAXSEG.
bool align_segments(int descriptor, const sockaddr* to, unsigned length);

/// Sets TCP timers for a network within a machine room, if the kernel has them (Linux 6.15). A lost packet is
/// retransmitted after 12 ms plus the round trip instead of 200 ms, and a single packet is acknowledged after
/// 8 ms instead of 40 ms. Both ends need these timers. Returns false if the kernel lacks them.
bool set_quick_timers(int descriptor);

/// How the size of a receive buffer is set: tuned by the kernel, set by the program, or set by limit_window()
/// during the first window (first) or after it (large).
enum class Buffer { tuned, of_program, first, large };

/// The window with which a connection begins, in bytes.
inline constexpr std::int64_t first_window_bytes = 64 << 10;

/// Limits the bytes that the peer may have in flight. After the first window has come, the receive buffer
/// becomes as large as the system allows, unless the program has set its size; data can then wait there while
/// the process is busy. received: the bytes that the connection has received so far.
void limit_window(int descriptor, std::int64_t bytes, std::int64_t received, Buffer& buffer);
/// Undoes limit_window() as far as the kernel allows.
void free_window(int descriptor, Buffer& buffer);

}  // namespace nuice::flow
