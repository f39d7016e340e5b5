// SPDX-License-Identifier: BSD-3-Clause
#include "lossless/emulator.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>

#include "nuice/core/error.hpp"

namespace nuice::lossless {
namespace {

constexpr std::uint8_t launcher = 254;  // last byte of its address
constexpr double full_frame = 1514;
constexpr std::uint32_t first_frames = 4096;  // 32 for each of 8 connections of 16 hosts; growing takes time
constexpr int frames_at_a_time = 32;
constexpr Time load_every = 100'000'000;
/// While packets move, ports are polled this number of times in the time of a packet. Polling after every
/// event would halve the number of packets that a core carries (bench/run.py lossless); polling less often
/// would delay notifications. Times in the fabric are those of its own clock.
constexpr Time packet_parts = 6;

Time clock_of(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return now.tv_sec * Time{1'000'000'000} + now.tv_nsec;
}

void sleep_until(Time at) {
  const timespec when{at / 1'000'000'000, at % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

double processor_s() { return 1e-9 * static_cast<double>(clock_of(CLOCK_PROCESS_CPUTIME_ID)); }

}  // namespace

Emulator::Emulator(const Cabling& cabling, const Rules& rules, Routing routing, const std::string& prefix)
    : cabling_(cabling),
      routing_(routing),
      packet_(static_cast<Time>(full_frame * 8e9 / rules.bits_per_s)),
      fabric_(cabling, rules),
      poll_(epoll_create1(EPOLL_CLOEXEC)) {
  while (frames_.size() < first_frames) add_frame();
  for (Rank host = 0; host < cabling.num_hosts(); ++host)
    ports_.push_back(make_port(prefix + "h" + std::to_string(host + 1), "eth0"));
  ports_.push_back(make_port("", "br0"));
  for (std::uint32_t port = 0; port < ports_.size(); ++port) {
    epoll_event wanted{.events = EPOLLIN, .data = {.u32 = port}};
    if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, ports_[port].get(), &wanted) != 0)
      throw Error(ErrorCode::io, "a port cannot be watched");
  }
}

void Emulator::turn(Time longest) {
  Time now = clock_of(CLOCK_MONOTONIC);
  count_pace(now);
  fabric_.run_until(now, [&](Fabric::FlowId, std::uint32_t frame, Time) {
    write(frame);
    ++counts_.delivered;
  });
  count_load(now);
  const Time until = std::min(fabric_.next(), now + longest);
  if (fabric_.next() != never) sleep_until(now + packet_ / packet_parts);
  now = clock_of(CLOCK_MONOTONIC);
  const Time wait = std::max<Time>(until - now, 0);
  const timespec patience{wait / 1'000'000'000, wait % 1'000'000'000};
  std::array<epoll_event, 64> events{};
  const int ready = epoll_pwait2(poll_.get(), events.data(), events.size(), &patience, nullptr);
  now = clock_of(CLOCK_MONOTONIC);
  if (fabric_.next() == never) paced_until_ = now;
  if (fabric_.next() <= now) return;  // before input: ports keep their frames until the next turn
  for (int i = 0; i < ready; ++i) read_port(events[static_cast<std::size_t>(i)].data.u32, now);
}

void Emulator::add_frame() {
  frames_.emplace_back();
  frames_.back().next_free = static_cast<std::uint32_t>(frames_.size());
}

void Emulator::read_port(std::uint32_t port, Time now) {
  for (int i = 0; i < frames_at_a_time; ++i) {
    if (free_ == frames_.size()) add_frame();
    Frame& frame = frames_[free_];
    const ssize_t bytes = read(ports_[port].get(), frame.data.data(), frame.data.size());
    if (bytes <= 0) return;
    const auto heading = read_heading(std::span(frame.data).first(static_cast<std::size_t>(bytes)));
    if (!heading) continue;
    const std::uint32_t id = free_;
    free_ = frame.next_free;
    frame.bytes = static_cast<std::uint32_t>(bytes);
    send(id, *heading, now);
  }
}

void Emulator::send(std::uint32_t frame, const Heading& heading, Time now) {
  const auto hosts = static_cast<std::uint32_t>(cabling_.num_hosts());
  frames_[frame].to = heading.to == launcher ? hosts : heading.to - 1U;
  const bool is_known = frames_[frame].to <= hosts;
  if (heading.to != launcher && heading.from != launcher && is_known && heading.from - 1U < hosts) {
    ++counts_.came;
    fabric_.send(flow_of(heading), frames_[frame].bytes, frame, now);
    return;
  }
  if (is_known) {  // the launcher's cable is not shaped
    write(frame);
    return;
  }
  frames_[frame].next_free = free_;
  free_ = frame;
}

Fabric::FlowId Emulator::flow_of(const Heading& heading) {
  const std::uint64_t key = std::uint64_t{heading.from} << 48U | std::uint64_t{heading.to} << 40U |
                            std::uint64_t{heading.protocol} << 32U |
                            std::uint64_t{heading.source_port} << 16U | heading.destination_port;
  const auto [found, is_new] = flows_.try_emplace(key, 0);
  if (is_new) found->second = fabric_.add_flow(heading.from - 1, heading.to - 1, path_of(heading));
  if (routing_ == Routing::adaptive && fabric_.is_idle(found->second))
    fabric_.take_path(found->second, path_of(heading));
  return found->second;
}

std::int64_t Emulator::path_of(const Heading& heading) const {
  const Rank src = heading.from - 1;
  const Rank dst = heading.to - 1;
  const std::uint32_t paths = cabling_.num_paths(src, dst);
  if (heading.source_port >= first_path_port && paths > 0)
    return (heading.source_port - first_path_port) % paths;
  if (routing_ != Routing::hash || paths == 0) return no_path;
  std::uint64_t mixed = (std::uint64_t{heading.source_port} << 16U | heading.destination_port) * 0x9e3779b9U;
  mixed = (mixed ^ mixed >> 15U ^ static_cast<std::uint64_t>(src * 131 + dst)) * 0x85ebca77U;
  return static_cast<std::int64_t>((mixed ^ mixed >> 13U) % paths);
}

void Emulator::write(std::uint32_t id) {
  Frame& frame = frames_[id];
  if (::write(ports_[frame.to].get(), frame.data.data(), frame.bytes) != static_cast<ssize_t>(frame.bytes))
    ++counts_.lost;
  frame.next_free = free_;
  free_ = id;
}

void Emulator::count_pace(Time now) {
  const Time next = fabric_.next();
  if (next != never) {
    counts_.moving += now - paced_until_;
    counts_.behind += std::max<Time>(now - std::max(paced_until_, next + 2 * packet_), 0);
  }
  paced_until_ = now;
}

void Emulator::count_load(Time now) {
  if (now - load_since_ < load_every) return;
  counts_.busy_s = processor_s();
  const double load = (counts_.busy_s - load_from_s_) * 1e9 / static_cast<double>(now - load_since_);
  if (load_since_ > 0) counts_.peak_load = std::max(counts_.peak_load, load);
  load_since_ = now;
  load_from_s_ = counts_.busy_s;
}

}  // namespace nuice::lossless
