// SPDX-License-Identifier: BSD-3-Clause
// Sets the windows of this process's TCP connections. Callers report each connection and each read. Every few
// milliseconds the governor reads the kernel's counters, asks the Window of each port for its size, and
// divides it among the active connections of that port.
//
// Any thread may call any function at any time. arrived(), which runs in every read, takes no lock unless a
// look is due, and then only if no other thread is looking. Cost: a look takes about a microsecond per
// connection that received data, and nothing for idle connections.
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

/// The state of a port, for reports.
struct PortState {
  std::string address;  // this host's
  int num_connections = 0;
  int num_active = 0;
  std::int64_t window_bytes = Window::unlimited;
  std::int64_t share_bytes = Window::unlimited;
  std::int64_t segments = 0;       // received since the connections were made
  std::int64_t lost_segments = 0;  // segments that came out of order
  double seconds_limited = 0;
};

class Governor {
 public:
  static constexpr int most_descriptors = 65536;  // larger descriptors are not governed

  Governor();

  /// Reports a new connection. Does nothing if its peer is on this host or the descriptor is above
  /// most_descriptors. began_small: the result of begin_small() for this socket or for the socket that
  /// listened.
  void opened(int descriptor, bool began_small);
  /// Reports that close() of this descriptor follows.
  void closed(int descriptor);
  /// Reports that `to` is now another descriptor of the same connection, as after dup2().
  void duplicated(int from, int to);
  /// Reports that this number of bytes was read.
  void arrived(int descriptor, std::int64_t bytes) {
    if (descriptor < 0 || descriptor >= most_descriptors || bytes <= 0) return;
    Connection* const connection = table_[descriptor].load(std::memory_order_acquire);
    if (connection != nullptr) note(*connection, bytes);
  }
  /// Reports that data have come, for callers that do not see the program's reads. The next look() counts
  /// them.
  void received(int descriptor);
  /// Looks now. Returns whether most packets since the last look were small: such traffic floods no port.
  bool look();
  /// Frees all windows and leaves the group of processes that share ports. Later calls do nothing.
  void stop();

  std::vector<PortState> ports();

 private:
  struct Connection {
    int descriptor = -1;
    std::uint64_t cookie = 0;
    int port = 0;
    std::atomic<std::int64_t> bytes_read{0};
    std::atomic<bool> is_awake{false};
    bool is_listed = false;  // is in awake_
    bool began_small = false;
    Buffer buffer = Buffer::tuned;
    SocketCounts counts;          // at the last look
    std::int64_t bytes_seen = 0;  // bytes_read at the last look
    double last_s = 0;            // time of the last look that found full packets
    std::int64_t share_bytes = Window::unlimited;
  };
  struct Port {
    explicit Port(const std::string& of) : address(of), host(of) {}
    std::string address;
    Window window;
    MostSenders senders;
    SharedPort host;
    SharedPort::Counts own;
    SharedPort::Counts all;  // sum over the host's processes
    double round_trip_s = 0;
    double sum_round_trips_s = 0;  // since the last report, as in Report
    int num_round_trips = 0;
    double last_s = 0;  // time of the last look that found segments
    double limited_since_s = 0;
    std::int64_t share_bytes = Window::unlimited;
    std::int64_t segment_bytes = 0;
  };

  void note(Connection& connection, std::int64_t bytes);
  void wake(Connection& connection);
  void gather_awake();
  void look_at_all(double now_s);
  bool look_at(Connection& connection, double now_s);
  static bool is_still_there(const Connection& connection);
  static void judge(Port& port, double now_s);
  void apply(Connection& connection, double now_s);
  int port_of(const std::string& address);
  void drop(std::size_t index);

  std::vector<std::atomic<Connection*>> table_;
  std::vector<std::atomic<std::uint64_t>> woken_;  // one bit per descriptor
  std::mutex mutex_;                               // protects the members below
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> awake_;                  // connections that received data recently
  std::deque<std::unique_ptr<Connection>> closed_;  // kept: another thread may still note a read
  std::vector<Port> ports_;
  std::int64_t bytes_of_look_ = 0;
  std::int64_t full_bytes_of_look_ = 0;  // the bytes of as many full packets
  std::atomic<double> next_look_s_{0};
  std::atomic<bool> is_stopped_{false};
};

}  // namespace nuice::flow
