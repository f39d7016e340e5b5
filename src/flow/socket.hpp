// SPDX-License-Identifier: BSD-3-Clause
// What Linux lets a receiver do with the window of a TCP connection, and what it tells of one. Elsewhere: nothing, as if no
// descriptor were a TCP socket.
//
// The rules of the kernel that decide what is possible (Linux 4.x to 6.18: net/ipv4/tcp_input.c, tcp_output.c):
//   * TCP_WINDOW_CLAMP may be set at any time. A window that was advertised is never taken back: a smaller one holds after the bytes
//     that the sender was already allowed have come.
//   * The kernel replaces the clamp whenever it tunes the receive buffer, and when it first sees packets of full size: by what the
//     buffer holds. A buffer that was set by SO_RCVBUF is not tuned. So the buffer becomes large only after the first 64 KiB, and
//     the clamp is set again now and then.
//   * A sender does not send less than a full packet into a window that is smaller than one; it waits 200 ms or more. So windows are
//     whole packets, rounded up by the kernel to the unit that both ends agreed on (128 bytes). Into the bytes that rounding adds, MPI's
//     sockets (TCP_NODELAY) send a packet of a few bytes, which is acknowledged by itself. So packets are made multiples of the unit.
//   * When a process reads, the kernel acknowledges at once if the window that is left is at most half of the clamp.
//   * Every second full packet is acknowledged at once by the kernel, whether or not the process reads. A single packet is acknowledged
//     when the process reads it, or after 40 ms. So two packets are the least window that keeps a connection going by itself.
//   * The first window, of 64 KiB, is that of the receive buffer when the connection is made. SO_BUF_LOCK (Linux 5.15) allows a small
//     buffer then, which the kernel tunes as usual from there on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct sockaddr;

namespace nuice::flow {

struct SocketCounts {
  std::int64_t bytes = 0;          // received
  std::int64_t segments = 0;       // with data, received
  std::int64_t out_of_order = 0;   // of these; Linux 5.4
  std::int64_t segment_bytes = 0;  // that the peer sends
  double round_trip_s = 0;         // the least; 0: not known
};

/// Nothing for what is not a TCP connection.
std::optional<SocketCounts> counts_of(int descriptor);

/// All of this process, ascending. Empty where the system does not tell.
std::vector<int> open_descriptors();

/// A number that no other socket has had since the system started (Linux 4.14); 0: no socket, or the system does not tell.
std::uint64_t cookie_of(int descriptor);

/// The address of this end, as text without the port. Empty for what is not a connection to another host.
std::string port_of_connection(int descriptor);

/// Before connect() or listen(): connections begin with a small window, which the kernel tunes from there on. False: it cannot be had
/// here, or the program has set a receive buffer of its own; nothing has changed.
bool begin_small(int descriptor);
/// Of a connection that began small: the buffer that it would have had.
void restore_buffer(int descriptor);

/// What TCP_MAXSEG is set to on a route of this MTU, so that packets carry a multiple of the window's unit: these data and the bytes of the
/// timestamps. 0: nothing, as packets are too small or larger than TCP_MAXSEG can say.
int aligned_segment_bytes(int mtu, bool is_ipv6, bool has_timestamps);

/// Before connect(): full packets of the connection will carry a multiple of the window's unit, in both directions, for example 1,408
/// bytes instead of 1,448. False: the route is not known, or the program has set a size of its own (TCP_MAXSEG).
bool align_segments(int descriptor, const sockaddr* to, unsigned length);

/// Timers for a network within a machine room, where the kernel has them (Linux 6.15): a lost packet is retransmitted after 12 ms and the
/// round trip instead of 200 ms, a single packet is acknowledged after 8 ms instead of 40. Both ends need them. False: not here.
bool set_quick_timers(int descriptor);

/// What sets the size of a receive buffer: the kernel, the program, or limit_window().
enum class Buffer { tuned, of_program, first, large };

/// Bytes of the window with which a connection begins.
inline constexpr std::int64_t first_window_bytes = 64 << 10;

/// Bytes that the peer may have in flight. A receive buffer that the program has not set becomes as large as the system lets a program
/// have, so that data wait there while the process is busy; but not before the first window has come (received: bytes so far).
void limit_window(int descriptor, std::int64_t bytes, std::int64_t received, Buffer& buffer);
/// As if limit_window() had never been called, as far as the kernel allows.
void free_window(int descriptor, Buffer& buffer);

}  // namespace nuice::flow
