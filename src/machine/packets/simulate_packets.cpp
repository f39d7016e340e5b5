// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/plan/packets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/support/table.hpp"
#include "machine/packets/fabric.hpp"
#include "machine/packets/routes.hpp"
#include "machine/packets/senders.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/interrupt.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

using machine::Way;

constexpr core::Named<Queueing> queueing_names[] = {{"fifo", Queueing::fifo}, {"voq", Queueing::voq}};
constexpr Bytes usual_packet = 4096;
constexpr std::size_t most_drawn = 16;  // paths that are drawn for a transfer

[[noreturn]] void refuse(const std::string& reason) { throw Error(ErrorCode::invalid_argument, reason); }

void require_lossless(const Machine& machine) {
  if (machine.switching == Switching::packet && machine.duplex == Duplex::full) return;
  throw Error(ErrorCode::not_applicable, "machine " + machine.name +
                                             ": the packet simulator needs a packet network whose ports "
                                             "send and receive at the same time");
}

class Run {
 public:
  Run(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
      const PacketOptions& options)
      : schedule_(schedule),
        machine_(machine),
        options_(options),
        pace_(find_executor(options.executor).pace),
        routing_(options.routing.value_or(machine.routing)) {
    payload_ = options.packet_bytes > 0     ? options.packet_bytes
               : machine.packet_payload > 0 ? machine.packet_payload
                                            : usual_packet;
    result_.slot_s = machine.byte_s * static_cast<double>(payload_ + machine.packet_header);
    program_ = machine::compile(matrix, schedule, machine, Pace::at_once, false);
    for (const machine::Move& move : program_.moves) {
      packets_.push_back(packets_of(move.bytes));
      eager_.push_back(move.bytes <= machine.eager_limit);
      result_.packets += packets_.back();
    }
  }

  PacketRun make() {
    std::optional<Dependencies> before;
    if (pace_ == Pace::notices) before = find_dependencies();
    std::vector<Way> all = ways();
    add_ways_of_notices(before, all);
    const machine::Routes routes(*machine_.topology, schedule_.num_ranks(), all);
    find_bounds(routes);
    result_.virtual_lanes = routes.virtual_lanes();
    machine::Senders senders(program_, packets_, eager_, before ? &*before : nullptr, rules());
    machine::Fabric fabric(routes, options_.queueing, options_.buffer_packets);
    deliver(routes, fabric, senders);
    result_.packet_hops = fabric.packet_hops();
    return std::move(result_);
  }

 private:
  std::uint32_t packets_of(Bytes bytes) const {
    const Bytes packets = (bytes - 1) / payload_ + 1;
    if (packets > 0xffffffff) throw Error(ErrorCode::limit, "a message of more than 2^32 - 1 packets");
    return static_cast<std::uint32_t>(packets);
  }

  /// Returns the routes of all transfers, back to back.
  std::vector<Way> ways() {
    Random random(options_.seed);
    std::vector<Way> result;
    for (const machine::Move& move : program_.moves) {
      first_way_.push_back(static_cast<std::uint32_t>(result.size()));
      if (move.path != no_path || routing_ == Routing::table) {
        result.push_back({move.src, move.dst, move.path});
        continue;
      }
      const auto paths = static_cast<std::uint64_t>(machine_.topology->num_paths(move.src, move.dst));
      const std::uint64_t drawn =
          routing_ == Routing::random ? 1 : std::min<std::uint64_t>(paths, most_drawn);
      const std::uint64_t first = random.below(paths);
      for (std::uint64_t i = 0; i < drawn; ++i)
        result.push_back(
            {move.src, move.dst, static_cast<std::int64_t>((first + i * paths / drawn) % paths)});
    }
    first_way_.push_back(static_cast<std::uint32_t>(result.size()));
    return result;
  }

  /// Appends the routes of notices, which lead from receivers to the senders that they notify.
  void add_ways_of_notices(const std::optional<Dependencies>& before, std::vector<Way>& all) {
    if (!before) return;
    const auto add = [&](Rank from, Rank to) {
      if (from == to) return;
      const auto way = static_cast<std::uint32_t>(all.size());
      if (way_of_notice_.try_emplace({from, to}, way).second) all.push_back({from, to, no_path});
    };
    const auto& moves = program_.moves;
    for (std::uint32_t id = 0; id < moves.size(); ++id) {
      for (const std::uint32_t earlier : before->of(id)) add(moves[earlier].dst, moves[id].src);
    }
  }

  void find_bounds(const machine::Routes& routes) {
    std::vector<double> load(routes.wires().size(), 0);
    for (std::size_t id = 0; id < packets_.size(); ++id) {
      const double share = packets_[id] / static_cast<double>(first_way_[id + 1] - first_way_[id]);
      for (std::uint32_t way = first_way_[id]; way < first_way_[id + 1]; ++way)
        for (std::uint32_t i = routes.first_hop()[way]; i < routes.first_hop()[way + 1]; ++i)
          load[routes.hops()[i].wire] += share;
    }
    const auto num_links = static_cast<std::size_t>(machine_.topology->num_links());
    for (std::size_t wire = 0; wire < load.size(); ++wire) {
      double& bound = wire < num_links ? result_.link_bound_slots : result_.port_bound_slots;
      bound = std::max(bound, load[wire] / routes.wires()[wire].capacity);
    }
  }

  /// Returns the dependencies of transfers. Links are included only if the links of each transfer are known.
  Dependencies find_dependencies() const {
    const bool known = routing_ == Routing::table || schedule_.has_paths();
    return dependencies(schedule_, known ? machine_.topology.get() : nullptr, 2 * options_.early_bytes);
  }

  machine::Senders::Rules rules() const {
    const double slot = result_.slot_s;
    const Machine& m = machine_;
    const machine::PacketTimes times{
        .send = (m.send_overhead_s + m.start_up_s) / slot,
        .message = (m.latency_s + m.receive_overhead_s) / slot,
        .notice = (m.send_overhead_s + m.latency_s + m.receive_overhead_s) / slot,
        .handshake = m.handshake_s / slot,
        .phase = m.phase_s / slot};
    return {.pace = pace_, .times = times, .early = packets_of(std::max<Bytes>(options_.early_bytes, 1))};
  }

  void deliver(const machine::Routes& routes, machine::Fabric& fabric, machine::Senders& senders) {
    result_.arrived_slots.assign(packets_.size(), 0);
    std::vector<machine::Senders::Notice> notices;
    senders.set_carrier([&](const machine::Senders::Notice& notice) {
      const std::uint32_t way = way_of_notice_.at({notice.from, notice.to});
      fabric.inject_notice(notice.from, static_cast<std::uint32_t>(notices.size()), routes.first_hop()[way]);
      notices.push_back(notice);
    });
    double slot = 0;
    double last = 0;
    while (!senders.is_done()) {
      check_interrupt();
      senders.begin_slot(slot);
      if (fabric.is_empty() && senders.num_ready() == 0) {
        const auto next = senders.next_event();
        if (!next) {
          throw Error(ErrorCode::state,
                      "rank " + std::to_string(senders.first_waiting()) + " would wait forever to send");
        }
        const double ahead = std::max(slot, std::ceil(*next));
        fabric.skip(static_cast<std::uint64_t>(ahead - slot));
        slot = ahead;
        senders.begin_slot(slot);
      }
      if (senders.num_ready() > 0) inject(routes, fabric, senders);
      ++slot;
      fabric.step(
          [&](std::uint32_t transfer) {
            last = result_.arrived_slots[transfer] = slot;
            senders.arrives(transfer, slot);
          },
          [&](std::uint32_t notice) { senders.is_told(notices[notice], slot); });
    }
    result_.slots = last;
    result_.seconds =
        result_.packets == 0 ? 0 : last * result_.slot_s + machine_.latency_s + machine_.receive_overhead_s;
  }

  void inject(const machine::Routes& routes, machine::Fabric& fabric, machine::Senders& senders) {
    for (Rank rank = 0; rank < schedule_.num_ranks(); ++rank) {
      if (!senders.has_packet(rank) || !fabric.takes(rank)) continue;
      const std::uint32_t transfer = senders.next(rank);
      fabric.inject(rank, transfer, first_hop(routes, transfer, senders.packets_sent(transfer)));
    }
  }

  /// Returns the first hop of the n-th packet of a transfer. The packets of a transfer take its routes
  /// alternately.
  std::uint32_t first_hop(const machine::Routes& routes, std::uint32_t transfer, std::uint64_t n) const {
    const std::uint32_t ways = first_way_[transfer + 1] - first_way_[transfer];
    return routes.first_hop()[first_way_[transfer] + n % ways];
  }

  const Schedule& schedule_;
  const Machine& machine_;
  const PacketOptions& options_;
  const Pace pace_;
  const Routing routing_;
  Bytes payload_ = usual_packet;
  machine::Program program_;
  std::vector<std::uint32_t> packets_;  // by transfer
  std::vector<bool> eager_;             // by transfer
  std::vector<std::uint32_t> first_way_;
  std::map<std::pair<Rank, Rank>, std::uint32_t> way_of_notice_;
  PacketRun result_;
};

void require_options(const PacketOptions& options) {
  if (!find_executor(options.executor).needs_schedule())
    refuse("executor \"" + options.executor +
           "\" takes no schedule: it cannot be simulated packet by packet");
  if (options.packet_bytes < 0 || options.early_bytes < 0) refuse("packet_bytes or early_bytes is negative");
  if (options.buffer_packets < 1) refuse("an input needs a buffer for at least one packet");
}

}  // namespace

std::string_view queueing_name(Queueing queueing) { return core::name_of(queueing_names, queueing); }
Queueing find_queueing(std::string_view name) {
  return core::require_row(queueing_names, "queueing", name).value;
}

PacketRun simulate_packets(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                           const PacketOptions& options) {
  require_valid(machine);
  require_lossless(machine);
  require_options(options);
  if (const std::string reason = why_too_small(*machine.topology, matrix.num_ranks()); !reason.empty())
    throw Error(ErrorCode::mismatch, "machine " + machine.name + ": " + reason);
  if (schedule.num_ranks() != matrix.num_ranks()) {
    throw Error(ErrorCode::mismatch, "the schedule has " + std::to_string(schedule.num_ranks()) +
                                         " ranks, the matrix " + std::to_string(matrix.num_ranks()));
  }
  PacketRun result = Run(matrix, schedule, machine, options).make();
  result.delivered.assign(matrix.num_messages(), 0);
  for (std::size_t id = 0; id < schedule.num_transfers(); ++id) {
    const Transfer transfer = schedule.transfer(id);
    for (const Piece piece : transfer.pieces)
      if (matrix.dst(piece.message) == transfer.dst) result.delivered[piece.message] += piece.bytes;
  }
  return result;
}

double switch_throughput(int ports, Queueing queueing, int slots, std::uint64_t seed) {
  if (ports < 1 || slots < 1) refuse("a switch needs at least one port and one slot");
  const auto crossbar = make_topology("crossbar:" + std::to_string(ports));
  std::vector<Way> ways;
  for (Rank src = 0; src < ports; ++src)
    for (Rank dst = 0; dst < ports; ++dst) ways.push_back({src, dst, no_path});
  const machine::Routes routes(*crossbar, ports, ways);
  machine::Fabric fabric(routes, queueing, 32);
  Random random(seed);
  std::uint64_t delivered = 0;
  const int warm_up = slots / 4;
  for (int slot = 0; slot < warm_up + slots; ++slot) {
    for (Rank src = 0; src < ports; ++src) {
      if (!fabric.takes(src)) continue;
      const auto way = static_cast<std::size_t>(src) * static_cast<std::size_t>(ports) +
                       static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(ports)));
      fabric.inject(src, 0, routes.first_hop()[way]);
    }
    fabric.step([&](std::uint32_t) { delivered += slot >= warm_up ? 1 : 0; }, [](std::uint32_t) {});
  }
  return static_cast<double>(delivered) / (static_cast<double>(slots) * ports);
}

}  // namespace nuice
