// SPDX-License-Identifier: BSD-3-Clause
#include "flow/governor.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

namespace nuice::flow {
namespace {

// The time between two looks. It is long enough to cost little with hundreds of connections, and short enough
// for several looks during TCP's shortest timeout (200 ms).
constexpr double look_every_s = 0.004;
// A connection or port that received nothing for this time is idle. It is longer than a time slice of the
// processor (3 to 4 ms), after which a preempted process reads again, and shorter than a delayed
// acknowledgement (40 ms).
constexpr double idle_after_s = 0.02;

// The number of closed connections whose counts are kept for the report. A program may open many connections
// one after the other.
constexpr std::size_t most_closed = 4096;

constexpr int bits_of_word = 64;

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Governor::Governor() : table_(most_descriptors), woken_(most_descriptors / bits_of_word) {}

void Governor::opened(int descriptor, bool began_small) {
  if (descriptor < 0 || descriptor >= most_descriptors || is_stopped_) return;
  closed(descriptor);  // a connection with this number whose close() was not seen
  const std::string address = port_of_connection(descriptor);
  if (address.empty()) return;
  const std::scoped_lock lock(mutex_);
  auto connection = std::make_unique<Connection>();
  connection->descriptor = descriptor;
  connection->cookie = cookie_of(descriptor);
  connection->port = port_of(address);
  connection->began_small = began_small;
  connection->counts = counts_of(descriptor).value_or(SocketCounts{});
  table_[descriptor].store(connection.get(), std::memory_order_release);
  apply(*connection, steady_s());
  connections_.push_back(std::move(connection));
}

void Governor::closed(int descriptor) {
  if (descriptor < 0 || descriptor >= most_descriptors) return;
  if (table_[descriptor].load(std::memory_order_relaxed) == nullptr) return;
  const std::scoped_lock lock(mutex_);
  const auto is_it = [&](const auto& one) { return one->descriptor == descriptor; };
  const auto found = std::ranges::find_if(connections_, is_it);
  if (found != connections_.end()) drop(static_cast<std::size_t>(found - connections_.begin()));
}

/// False if the connection was closed by a call that was not seen; its descriptor may then belong to another
/// socket or file.
bool Governor::is_still_there(const Connection& connection) {
  return cookie_of(connection.descriptor) == connection.cookie;
}

void Governor::duplicated(int from, int to) {
  if (from == to) return;
  closed(to);  // dup2() closes the file that had this number
  if (std::min(from, to) < 0 || std::max(from, to) >= most_descriptors || is_stopped_) return;
  const std::scoped_lock lock(mutex_);
  const Connection* const known = table_[from].load(std::memory_order_relaxed);
  if (known == nullptr) return;
  auto connection = std::make_unique<Connection>();
  connection->descriptor = to;
  connection->cookie = known->cookie;
  connection->port = known->port;
  connection->buffer = known->buffer;
  connection->counts = known->counts;
  connection->share_bytes = known->share_bytes;
  table_[to].store(connection.get(), std::memory_order_release);
  connections_.push_back(std::move(connection));
}

void Governor::drop(std::size_t index) {
  table_[connections_[index]->descriptor].store(nullptr, std::memory_order_release);
  std::erase(awake_, connections_[index].get());
  closed_.push_back(std::move(connections_[index]));
  if (closed_.size() > most_closed) closed_.pop_front();
  connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Lists the connection for the next look. bytes_read must be increased before, so that the look sees the new
/// bytes.
void Governor::wake(Connection& connection) {
  if (connection.is_awake.load() || connection.is_awake.exchange(true)) return;
  const int descriptor = connection.descriptor;
  woken_[descriptor / bits_of_word].fetch_or(std::uint64_t{1} << (descriptor % bits_of_word));
}

/// Skips connections that were closed after they were woken. New connections with their descriptors wake when
/// data come.
void Governor::gather_awake() {
  for (std::size_t word = 0; word < woken_.size(); ++word) {
    if (woken_[word].load(std::memory_order_relaxed) == 0) continue;
    for (std::uint64_t bits = woken_[word].exchange(0); bits != 0; bits &= bits - 1) {
      const auto descriptor = word * bits_of_word + static_cast<std::size_t>(std::countr_zero(bits));
      Connection* const connection = table_[descriptor].load(std::memory_order_acquire);
      if (connection == nullptr || !connection->is_awake || std::exchange(connection->is_listed, true))
        continue;
      awake_.push_back(connection);
    }
  }
}

void Governor::note(Connection& connection, std::int64_t bytes) {
  connection.bytes_read.fetch_add(bytes);
  wake(connection);
  const double now = steady_s();
  if (now < next_look_s_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) look_at_all(now);
}

void Governor::received(int descriptor) {
  if (descriptor < 0 || descriptor >= most_descriptors) return;
  Connection* const connection = table_[descriptor].load(std::memory_order_acquire);
  if (connection == nullptr) return;
  connection->bytes_read.fetch_add(1);
  wake(*connection);
}

bool Governor::look() {
  const std::scoped_lock lock(mutex_);
  look_at_all(steady_s());
  return bytes_of_look_ < full_bytes_of_look_ / 2;
}

/// Call it with the mutex locked.
void Governor::look_at_all(double now_s) {
  next_look_s_.store(now_s + look_every_s, std::memory_order_relaxed);
  if (is_stopped_) return;
  bytes_of_look_ = full_bytes_of_look_ = 0;
  for (Port& port : ports_) port.own.num_senders = 0;
  gather_awake();
  std::erase_if(awake_, [&](Connection* one) {
    if (look_at(*one, now_s)) return false;
    one->is_awake = false;
    // A reader may have added to bytes_read since look_at(). Then its wake() or the exchange() below sets
    // is_awake again; the one that does so lists the connection.
    const bool has_received = one->bytes_read != one->bytes_seen;
    one->is_listed = has_received && !one->is_awake.exchange(true);
    return !one->is_listed;
  });
  for (Port& port : ports_) judge(port, now_s);
  for (Connection* const connection : awake_) apply(*connection, now_s);
}

/// All processes of the host feed their windows with the same counts, so their windows are nearly equal.
void Governor::judge(Port& port, double now_s) {
  const SharedPort::Counts before =
      std::exchange(port.all, port.host.exchange(port.own, now_s, idle_after_s));
  Report report;
  report.segments = port.all.segments - before.segments;
  if (report.segments <= 0) return;
  report.lost_segments = port.all.lost_segments - before.lost_segments;
  report.segment_bytes = port.segment_bytes;
  report.round_trip_s = port.round_trip_s;
  report.sum_round_trips_s = std::exchange(port.sum_round_trips_s, 0);
  report.num_round_trips = std::exchange(port.num_round_trips, 0);
  report.num_senders = port.senders.add(port.all.num_senders);
  if (now_s - port.last_s < idle_after_s) {
    report.timed_s = now_s - port.last_s;
    report.timed_segments = report.segments;
  }
  port.last_s = now_s;
  const bool was_limited = port.window.is_limited();
  port.window.add(report);
  if (!was_limited && port.window.is_limited()) port.limited_since_s = now_s;
}

/// Returns whether the connection has received data recently.
bool Governor::look_at(Connection& connection, double now_s) {
  Port& port = ports_[connection.port];
  const std::int64_t read = connection.bytes_read.load(std::memory_order_relaxed);
  if (read == connection.bytes_seen) {
    const bool is_active = now_s - connection.last_s < idle_after_s;
    if (is_active) ++port.own.num_senders;
    return is_active;
  }
  connection.bytes_seen = read;
  const auto counts = counts_of(connection.descriptor);
  if (!counts || !is_still_there(connection)) return false;
  const std::int64_t bytes = counts->bytes - connection.counts.bytes;
  const std::int64_t segments = counts->segments - connection.counts.segments;
  const bool is_much = bytes >= counts->segment_bytes && 2 * bytes >= segments * counts->segment_bytes;
  if (is_much) connection.last_s = now_s;
  if (now_s - connection.last_s < idle_after_s) ++port.own.num_senders;
  bytes_of_look_ += bytes;
  full_bytes_of_look_ += segments * counts->segment_bytes;
  port.own.segments += segments;
  if (connection.counts.bytes >= first_window_bytes)  // earlier losses are not due to the window that is set
    port.own.lost_segments += counts->out_of_order - connection.counts.out_of_order;
  port.segment_bytes = counts->segment_bytes;
  if (counts->round_trip_s > 0 && (port.round_trip_s == 0 || counts->round_trip_s < port.round_trip_s))
    port.round_trip_s = counts->round_trip_s;
  if (counts->sent_segments > connection.counts.sent_segments) {
    port.sum_round_trips_s += counts->present_round_trip_s;
    ++port.num_round_trips;
  }
  connection.counts = *counts;
  return true;
}

/// Sets the windows of receiving connections at every look, because the kernel sometimes replaces them
/// (socket.hpp). The windows of idle connections are set at the first look after their next data: until then
/// they send no acknowledgement, so their peers would not learn of another window.
void Governor::apply(Connection& connection, double now_s) {
  if (connection.began_small) restore_buffer(connection.descriptor);
  connection.began_small = false;
  Port& port = ports_[connection.port];
  if (!port.window.is_limited()) {
    if (connection.share_bytes != Window::unlimited && is_still_there(connection))
      free_window(connection.descriptor, connection.buffer);
    connection.share_bytes = port.share_bytes = Window::unlimited;
    return;
  }
  const std::int64_t segment_bytes = std::max<std::int64_t>(connection.counts.segment_bytes, 1);
  const bool receives = connection.last_s == now_s;
  const std::int64_t share = port.window.share_bytes(port.senders.value(), segment_bytes);
  port.share_bytes = share;
  if (!receives && share == connection.share_bytes) return;
  connection.share_bytes = share;
  if (!receives && !is_still_there(connection)) return;  // look_at() has checked the others
  limit_window(connection.descriptor, share, connection.counts.bytes, connection.buffer);
}

int Governor::port_of(const std::string& address) {
  const auto is_it = [&](const Port& port) { return port.address == address; };
  const auto found = std::ranges::find_if(ports_, is_it);
  if (found != ports_.end()) return static_cast<int>(found - ports_.begin());
  Port& port = ports_.emplace_back(address);
  port.limited_since_s = steady_s();
  port.all = port.host.exchange({}, port.limited_since_s, idle_after_s);  // counts of other processes so far
  return static_cast<int>(ports_.size()) - 1;
}

void Governor::stop() {
  const std::scoped_lock lock(mutex_);
  if (is_stopped_.exchange(true)) return;
  for (const auto& connection : connections_)
    if (connection->share_bytes != Window::unlimited && is_still_there(*connection))
      free_window(connection->descriptor, connection->buffer);
  for (Port& port : ports_) port.host.leave();
}

std::vector<PortState> Governor::ports() {
  const std::scoped_lock lock(mutex_);
  std::vector<PortState> states;
  for (const Port& port : ports_) {
    PortState state;
    state.address = port.address;
    state.num_active = port.own.num_senders;
    state.window_bytes = port.window.bytes();
    state.share_bytes = port.share_bytes;
    if (port.window.is_limited()) state.seconds_limited = steady_s() - port.limited_since_s;
    states.push_back(state);
  }
  const auto add = [&](const Connection& one) {
    PortState& state = states[one.port];
    state.num_connections += 1;
    state.segments += one.counts.segments;
    state.lost_segments += one.counts.out_of_order;
  };
  for (const auto& one : connections_) add(*one);
  for (const auto& one : closed_) add(*one);
  return states;
}

}  // namespace nuice::flow
