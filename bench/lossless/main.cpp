// SPDX-License-Identifier: BSD-3-Clause
// nuice-fabric: emulates all switches of a lossless test network (nuice-testbed up --preset lossless) in one
// process.
//
//   nuice-fabric --prefix nuice- --topology fattree:4x4/2 --hosts 16 --status FILE.json
//
//   nuice-fabric --topology crossbar:16 --virtual 1000000    measures the switches without ports
//
// Prints "ready" when every host's namespace has its port, eth0, and this namespace has br0 for the launcher.
// Ends by SIGTERM. Exit codes: 0 ended, 1 an error, 2 bad command line.
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "kit/command_line.hpp"
#include "kit/json.hpp"
#include "lossless/emulator.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/random.hpp"

namespace nuice::lossless {
namespace {

constexpr Time status_every = 100'000'000;

volatile std::sig_atomic_t ends = 0;

struct Options {
  std::string prefix = "nuice-";
  std::string topology = "crossbar:16";
  int hosts = 16;
  Rules rules;
  int buffer = 32;
  std::string flow = "credits";
  std::string queueing = "fifo";
  std::string switching = "cut-through";
  std::string routing = "table";
  std::string status;
  int virtual_packets = 0;
};

void add_options(kit::App& app, Options& options) {
  kit::add(app, "--prefix", options.prefix, "of the names of the hosts' namespaces");
  kit::add(app, "--topology", options.topology, "as nuice plan takes it");
  kit::add(app, "--hosts", options.hosts, "its first ones", kit::range(2, 128));
  kit::add(app, "--bits-per-s", options.rules.bits_per_s, "of a port", kit::range(1e3, 1e12));
  kit::add(app, "--buffer", options.buffer, "packets, of every input and lane", kit::range(4, 100'000));
  kit::add(app, "--flow", options.flow, "control", kit::one_of({"credits", "pfc"}));
  kit::add(app, "--queueing", options.queueing, "of an input", kit::one_of({"fifo", "voq"}));
  kit::add(app, "--switching", options.switching, "", kit::one_of({"cut-through", "store"}));
  kit::add(app, "--routing", options.routing, "", kit::one_of({"table", "hash", "adaptive"}));
  kit::add(app, "--virtual", options.virtual_packets, "packets between random hosts, on a virtual clock",
           kit::range(1, 1'000'000'000));
  kit::add(app, "--status", options.status, "file of the counts, ten times a second");
}

void write_status(const std::string& path, const Emulator& emulator) {
  const Counts& counts = emulator.counts();
  const kit::Json json = {{"pid", getpid()},
                          {"came", counts.came},
                          {"delivered", counts.delivered},
                          {"lost", counts.lost},
                          {"inside", emulator.fabric().inside()},
                          {"moving_s", 1e-9 * static_cast<double>(counts.moving)},
                          {"behind_s", 1e-9 * static_cast<double>(counts.behind)},
                          {"busy_s", counts.busy_s},
                          {"peak_load", counts.peak_load},
                          {"most_buffered", emulator.fabric().most_buffered()}};
  std::ofstream(path + ".new") << kit::line(json);
  std::filesystem::rename(path + ".new", path);
}

/// Raises the priority above that of programs, because this process is the hardware on which they run. If the
/// system does not allow this, runs are void more often.
void go_first() {
  const sched_param priority{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_RR, &priority) != 0) static_cast<void>(nice(-20));
  prctl(PR_SET_TIMERSLACK, 1);
}

Time now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * Time{1'000'000'000} + now.tv_nsec;
}

/// Measures how many packets a second of processor time carries, with cards that always have data.
void measure(const Cabling& cabling, const Rules& rules, int packets) {
  Fabric fabric(cabling, rules);
  const Rank hosts = cabling.num_hosts();
  for (Rank src = 0; src < hosts; ++src)
    for (Rank dst = 0; dst < hosts; ++dst) fabric.add_flow(src, dst, no_path);
  Random random(1);
  const auto send = [&](Rank src, Time now) {
    const auto dst = static_cast<Rank>(random.below(static_cast<std::uint64_t>(hosts)));
    fabric.send(static_cast<Fabric::FlowId>(src * hosts + dst), 1514, 0, now);
  };
  const Time began = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (Time now = 0; fabric.delivered() < static_cast<std::uint64_t>(packets); now = fabric.next()) {
    fabric.run_until(now, [](auto...) {});
    for (Rank src = 0; src < hosts; ++src)
      if (fabric.waiting(src) == 0) send(src, now);
  }
  const double seconds = 1e-9 * static_cast<double>(now_ns(CLOCK_PROCESS_CPUTIME_ID) - began);
  const kit::Json json = {{"packets", fabric.delivered()},
                          {"packets_per_s", static_cast<double>(fabric.delivered()) / seconds}};
  std::fputs(kit::line(json).c_str(), stdout);
}

void emulate(const Options& options) {
  const auto topology = make_topology(options.topology);
  if (const std::string reason = why_too_small(*topology, options.hosts); !reason.empty())
    throw Error(ErrorCode::mismatch, reason);
  Rules rules = options.rules;
  rules.buffer = static_cast<std::uint32_t>(options.buffer);
  rules.flow = options.flow == "pfc" ? Flow::pfc : Flow::credits;
  rules.voq = options.queueing == "voq";
  rules.cut_through = options.switching == "cut-through";
  const Routing routing = options.routing == "hash"       ? Routing::hash
                          : options.routing == "adaptive" ? Routing::adaptive
                                                          : Routing::table;
  const Cabling cabling(*topology, options.hosts);
  if (options.virtual_packets > 0) return measure(cabling, rules, options.virtual_packets);
  Emulator emulator(cabling, rules, routing, options.prefix);
  std::signal(SIGTERM, [](int) { ends = 1; });
  std::signal(SIGINT, [](int) { ends = 1; });
  go_first();
  std::puts("ready");
  std::fflush(stdout);
  for (Time written = 0; ends == 0;) {
    emulator.turn(status_every);
    const Time now = now_ns(CLOCK_MONOTONIC);
    if (options.status.empty() || now - written < status_every) continue;
    written = now;
    write_status(options.status, emulator);
  }
}

}  // namespace
}  // namespace nuice::lossless

int main(int argc, char** argv) {
  using namespace nuice;
  lossless::Options options;
  kit::App app{"The switches of a lossless test network.", "nuice-fabric"};
  lossless::add_options(app, options);
  const auto reply = kit::reply_to(argc, argv, app, [&] {
    app.parse(argc, argv);
    lossless::emulate(options);
  });
  if (!reply) return kit::success;
  std::fputs(reply->out.c_str(), stdout);
  std::fputs(reply->err.c_str(), stderr);
  return reply->exit_code;
}
