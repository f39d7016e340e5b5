// SPDX-License-Identifier: BSD-3-Clause
// An emulated fabric: frames come out of the hosts' ports, pass through a Fabric at the speed of the
// machine's clock, and go into other hosts' ports.
//
// The emulator is behind if an event is overdue by more than two packets' time, because the machine gave this
// process no time. Measurements during that time are void.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "lossless/fabric.hpp"
#include "lossless/ports.hpp"

namespace nuice::lossless {

/// How packets are routed. With any routing, source port first_path_port + n chooses path n, like several
/// InfiniBand addresses of a port.
enum class Routing : std::uint8_t { table, hash, adaptive };
inline constexpr std::uint16_t first_path_port = 61000;  // the system assigns no program these ports
inline constexpr std::int64_t most_paths = 4096;

struct Counts {
  std::uint64_t came = 0;  ///< Frames that came from hosts.
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;  ///< Frames that a host's port did not take.
  Time moving = 0;         ///< Time during which events were pending.
  Time behind = 0;         ///< Part of `moving` during which the emulator was behind.
  double busy_s = 0;       ///< Processor time.
  double peak_load = 0;    ///< The largest share of a core in a tenth of a second.
};

class Emulator {
 public:
  /// prefix: the prefix of the names of the hosts' namespaces. Throws Error io.
  Emulator(const Cabling& cabling, const Rules& rules, Routing routing, const std::string& prefix);

  /// Waits for the next event or frame, or for the given time, and handles it.
  void turn(Time longest);
  const Counts& counts() const { return counts_; }
  const Fabric& fabric() const { return fabric_; }

 private:
  static constexpr std::size_t most_bytes = 9216;  // of a frame
  struct Frame {
    std::uint32_t bytes = 0;
    std::uint32_t to = 0;  // destination port
    std::uint32_t next_free = 0;
    std::array<std::byte, most_bytes> data;
  };

  void add_frame();
  void read_port(std::uint32_t port, Time now);
  void send(std::uint32_t frame, const Heading& heading, Time now);
  Fabric::FlowId flow_of(const Heading& heading);
  std::int64_t path_of(const Heading& heading) const;
  void write(std::uint32_t frame);
  void count_pace(Time now);
  void count_load(Time now);

  const Cabling& cabling_;
  const Routing routing_;
  const Time packet_;  // time of a packet at the ports' rate
  Fabric fabric_;
  std::vector<FileDescriptor> ports_;  // the hosts' ports; the last is the launcher's
  FileDescriptor poll_;
  std::unordered_map<std::uint64_t, Fabric::FlowId> flows_;  // by addresses, protocol and ports
  std::deque<Frame> frames_;  // grows without copying, which would take longer than a packet
  std::uint32_t free_ = 0;    // frames_.size(): no free frame
  Counts counts_;
  Time paced_until_ = 0;
  Time load_since_ = 0;
  double load_from_s_ = 0;
};

}  // namespace nuice::lossless
