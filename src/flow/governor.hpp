// SPDX-License-Identifier: BSD-3-Clause
// Sets the windows of this process's TCP connections: it is told which connections there are and what was read from them, looks
// every few milliseconds at what the kernel counts, asks the Window of each port and divides it among the connections that are active.
//
// Any thread may call any function at any time. arrived(), which stands in the path of every read, takes no lock unless it is time to
// look, and then only if no other thread is looking. Cost: one look takes about a microsecond for each connection that received, and
// nothing for idle ones.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flow/shared_port.hpp"
#include "flow/socket.hpp"
#include "flow/window.hpp"

namespace nuice::flow {

/// What a port has come to, for reports.
struct PortState {
  std::string address;  // of this end
  int num_connections = 0;
  int num_active = 0;
  std::int64_t window_bytes = Window::unlimited;
  std::int64_t share_bytes = Window::unlimited;
  std::int64_t segments = 0;       // received since the connections were made
  std::int64_t lost_segments = 0;  // of these: out of order
  double seconds_limited = 0;
};

class Governor {
 public:
  static constexpr int most_descriptors = 65536;  // above: left alone

  Governor();

  /// A connection to another host begins; does nothing for others, and for descriptors above most_descriptors. began_small: as
  /// begin_small() said of it or of the socket that listens.
  void opened(int descriptor, bool began_small);
  /// Before close().
  void closed(int descriptor);
  /// After dup2() and the like: a connection has another number too, which may be read from now on.
  void duplicated(int from, int to);
  /// This number of bytes was read.
  void arrived(int descriptor, std::int64_t bytes) {
    if (descriptor < 0 || descriptor >= most_descriptors || bytes <= 0) return;
    Connection* const connection = table_[descriptor].load(std::memory_order_acquire);
    if (connection != nullptr) note(*connection, bytes);
  }
  /// For programs whose reads are not seen: something has come. Counts at the next look().
  void received(int descriptor);
  /// Looks now. Whether most of what came since the last look were small packets, which flood no port.
  bool look();
  /// Frees all windows and leaves the processes that share ports. Nothing is governed from now on.
  void stop();

  std::vector<PortState> ports();

 private:
  struct Connection {
    int descriptor = -1;
    std::uint64_t cookie = 0;
    int port = 0;
    std::atomic<std::int64_t> bytes_read{0};
    std::atomic<bool> is_awake{false};
    bool is_listed = false;  // in awake_
    bool began_small = false;
    Buffer buffer = Buffer::tuned;
    SocketCounts counts;          // at the last look
    std::int64_t bytes_seen = 0;  // of bytes_read
    double last_s = 0;            // when bytes were last seen
    std::int64_t share_bytes = Window::unlimited;
  };
  struct Port {
    explicit Port(const std::string& of) : address(of), host(of) {}
    std::string address;
    Window window;
    MostSenders senders;
    SharedPort host;
    SharedPort::Counts own;
    SharedPort::Counts all;  // of the host's processes
    double round_trip_s = 0;
    double last_s = 0;  // of the last look that found segments
    double limited_since_s = 0;
    std::int64_t share_bytes = Window::unlimited;
    std::int64_t segment_bytes = 0;
    std::int64_t divided_bytes = 0;  // at the last look: the window, and among how many
    int divided_by = 0;
  };

  void note(Connection& connection, std::int64_t bytes);
  void wake(Connection& connection);
  void gather_awake();
  void look_at_all(double now_s);
  bool look_at(Connection& connection, double now_s);
  static bool is_still_there(const Connection& connection);
  static bool judge(Port& port, double now_s);
  void apply(Connection& connection, double now_s);
  int port_of(const std::string& address);
  void drop(std::size_t index);

  std::vector<std::atomic<Connection*>> table_;
  std::vector<std::atomic<std::uint64_t>> woken_;  // a bit for each descriptor
  std::mutex mutex_;                               // of all below
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> awake_;                  // that received something lately
  std::deque<std::unique_ptr<Connection>> closed_;  // kept: another thread may still note a read
  std::vector<Port> ports_;
  std::int64_t bytes_of_look_ = 0;
  std::int64_t full_bytes_of_look_ = 0;  // if all packets had been full
  std::atomic<double> next_look_s_{0};
  std::atomic<bool> is_stopped_{false};
};

}  // namespace nuice::flow
