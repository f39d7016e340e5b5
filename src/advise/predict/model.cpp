// SPDX-License-Identifier: BSD-3-Clause
// One pass over the transfers, in the order of phases; ports.hpp says when each has finished. Everything else follows the
// executors of the simulator (docs/reference/machines.md); what is left out is which message overtakes which, and that circuits wait for whole
// routes.
#include "advise/predict/model.hpp"

#include <algorithm>
#include <vector>

#include "advise/predict/ports.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::advice {
namespace {

/// What executors with notices lose between transfers: lab/bench/run.py advise_lossless, seeds below 1000.
constexpr double waiting_for_notices = 1.05;

class Walk {
 public:
  /// all_at_once: executor async.
  Walk(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, bool all_at_once)
      : schedule_(schedule),
        machine_(machine),
        ports_(matrix, machine, all_at_once),
        ranks_(at(schedule.num_ranks())) {}

  bool timeouts() const { return ports_.timeouts() || overflows_; }

  double at_once() {
    count_ends();
    for (Processor& rank : ranks_) rank.time = machine_.post_receive_s * rank.receives;
    const double send_s = machine_.send_overhead_s + machine_.async_send_s;
    for (const std::size_t id : by_turn()) {
      check_interrupt();
      const Ends ends = ends_of(id);
      Processor& src = ranks_[at(ends.src)];
      Processor& dst = ranks_[at(ends.dst)];
      src.time += send_s + packing_s(id, ends.bytes);
      src.work += send_s;
      dst.work += machine_.receive_overhead_s;
      const Flight flight = ports_.fly(ends, src.time + handshake_s(ends.bytes), false, alone, alone);
      note_load(ends, src, dst);
      src.done = std::max(src.done, flight.leaves);
      dst.done = std::max(dst.done, flight.arrives + machine_.receive_overhead_s);
    }
    double end = 0;
    for (const Processor& rank : ranks_) end = std::max(end, end_at_once(rank));
    if (!ports_.timeouts() && may_overflow()) end += machine_.timeout_s;
    return end * queueing();
  }

  double in_phases(bool pairs) {
    for (PhaseId phase = 0; phase < schedule_.num_phases(); ++phase) {
      check_interrupt();
      begin_phase(phase);
      for (std::size_t i = first_; i < last_; ++i) fly_in_phase(i, pairs && machine_.duplex != Duplex::full);
      for (std::size_t i = first_; i < last_; ++i) end_in_phase(ends_[i - first_]);
    }
    return latest_;
  }

  /// A transfer begins when its ports and links are free, which is what the notices tell. Those too short for notices leave
  /// at once.
  double noticed() {
    const double notice_s = machine_.send_overhead_s + machine_.latency_s + machine_.receive_overhead_s;
    const double early_s = ports_.wire_s(default_early_bytes);
    const double late_s = std::max(0.0, notice_s - early_s);
    for (std::size_t id = 0; id < schedule_.num_transfers(); ++id) {
      check_interrupt();
      const Ends ends = ends_of(id);
      const bool waits = ends.bytes >= 2 * default_early_bytes;
      Processor& src = ranks_[at(ends.src)];
      Processor& dst = ranks_[at(ends.dst)];
      src.work += machine_.send_overhead_s;
      dst.work += machine_.receive_overhead_s;
      const double begin = waits ? std::max(src.work, ports_.free_at(ends) + late_s) : src.work;
      const Flight flight = ports_.fly(ends, begin, false, alone, alone);
      latest_ = std::max(latest_, flight.arrives + machine_.receive_overhead_s);
    }
    for (const Processor& rank : ranks_) latest_ = std::max(latest_, rank.work);
    return latest_ * waiting_for_notices;
  }

 private:
  struct Processor {
    double time = 0;      // when it has launched what it can
    double work = 0;      // of the processor, in all
    double done = 0;      // its last transfer
    double receives = 0;  // in all
    double wire_out = 0;
    double wire_in = 0;
    double launched = 0;        // when the last message for it left its sender's processor
    double busiest_sender = 0;  // on the wire
    // In the phase at hand.
    double start = 0;
    double wire = 0;  // of all its transfers
    Rank partner_out = no_rank;
    Rank partner_in = no_rank;
    PhaseId next_phase = 0;  // the first one not yet accounted for
  };

  Ends ends_of(std::size_t id) const {
    const Transfer transfer = schedule_.transfer(id);
    return {transfer.src, transfer.dst, transfer.bytes()};
  }
  double packing_s(std::size_t id, Bytes bytes) const {
    if (!machine_.copies_parts || schedule_.transfer(id).pieces.size() <= 1) return 0;
    return machine_.copy_byte_s * static_cast<double>(bytes);
  }
  double handshake_s(Bytes bytes) const { return bytes > machine_.eager_limit ? machine_.handshake_s : 0; }

  void count_ends() {
    for (std::size_t id = 0; id < schedule_.num_transfers(); ++id)
      ++ranks_[at(schedule_.transfer(id).dst)].receives;
  }

  /// All first transfers of the ranks, then all second ones, and so on: about the order in which they leave.
  std::vector<std::size_t> by_turn() const {
    std::vector<std::size_t> turn(schedule_.num_transfers());
    std::vector<std::size_t> sent(ranks_.size());
    std::vector<std::size_t> begin(schedule_.num_transfers() + 1);
    for (std::size_t id = 0; id < turn.size(); ++id) {
      turn[id] = sent[at(schedule_.transfer(id).src)]++;
      ++begin[turn[id] + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<std::size_t> order(turn.size());
    for (std::size_t id = 0; id < turn.size(); ++id) order[begin[turn[id]]++] = id;
    return order;
  }

  void note_load(const Ends& ends, Processor& src, Processor& dst) {
    const double wire = ports_.wire_s(ends.bytes);
    src.wire_out += wire;
    dst.wire_in += wire;
    dst.launched = std::max(dst.launched, src.time);
    dst.busiest_sender = std::max(dst.busiest_sender, src.wire_out);
  }

  /// Whether that many messages may come in at once that a short queue overflows. A port that shares its speed among its
  /// messages, which come with load r > 1 of what it can move, has a part of about 1 - 1 / r^2 of them still in flight when
  /// the last one comes. In a random order some receivers get much more at once than the mean.
  bool may_overflow() {
    if (machine_.queue_senders == 0) return false;
    const double bursts = schedule_.num_phases() > 1 ? 1.0 : 2.5;
    for (const Processor& rank : ranks_) {
      if (rank.launched == 0) continue;
      const double load = std::max(rank.wire_in, rank.busiest_sender) / rank.launched;
      const double share = std::clamp(bursts * (1 - 1 / (load * load)), 0.0, 1.0);
      if (share * rank.receives < machine_.queue_senders) continue;
      if (share * rank.wire_in > static_cast<double>(machine_.queue) * machine_.byte_s) overflows_ = true;
    }
    return overflows_;
  }

  /// Ports that take one message at a time, and circuits, stand idle while what they wait for waits elsewhere. Factors
  /// between the model without them and the simulator: lab/bench/run.py advise, seeds below 1000.
  double queueing() const {
    if (machine_.switching == Switching::circuit) return 1.2;
    // Packets block each other on the way to links, not to ports: lab/bench/run.py advise_lossless, seeds below 1000.
    if (machine_.lossless && ports_.links_are_last()) return 1.1;
    return machine_.receives_at_once == 1 ? 1.05 : 1;
  }

  double end_at_once(const Processor& rank) const {
    if (machine_.processor_moves_bytes) return rank.work + rank.done;
    return std::max({rank.time, rank.done, rank.work});
  }

  /// Brings the ranks of a phase to its beginning: posts, then launches.
  void begin_phase(PhaseId phase) {
    first_ = last_;
    ends_.clear();
    for (const Transfer transfer : schedule_.transfers(phase)) {
      ends_.push_back({transfer.src, transfer.dst, transfer.bytes()});
      Processor& src = enter(transfer.src, phase);
      Processor& dst = enter(transfer.dst, phase);
      src.partner_out = src.partner_out == no_rank ? transfer.dst : many;
      dst.partner_in = dst.partner_in == no_rank ? transfer.src : many;
      const double wire = ports_.wire_s(ends_.back().bytes);
      src.wire += wire;
      dst.wire += wire;
      dst.start += machine_.post_receive_s;
      ++last_;
    }
    for (std::size_t i = first_; i < last_; ++i) {
      const Ends& ends = ends_[i - first_];
      const double saved_s = is_exchange(ends) ? machine_.exchange_saves_s : 0;
      ranks_[at(ends.src)].time += machine_.send_overhead_s - saved_s + packing_s(i, ends.bytes);
    }
  }

  Processor& enter(Rank rank, PhaseId phase) {
    Processor& processor = ranks_[at(rank)];
    if (processor.next_phase > phase) return processor;
    const double idle = static_cast<double>(phase - processor.next_phase) * machine_.idle_phase_s;
    processor.start = processor.done + idle + machine_.phase_s;
    processor.time = 0;  // of launching, from start
    processor.done = processor.start;
    processor.wire = 0;
    processor.partner_out = processor.partner_in = no_rank;
    processor.next_phase = phase + 1;
    ports_.begin_phase(rank);
    return processor;
  }

  bool is_exchange(const Ends& ends) const {
    const Processor& src = ranks_[at(ends.src)];
    const Processor& dst = ranks_[at(ends.dst)];
    return src.partner_out == ends.dst && src.partner_in == ends.dst && dst.partner_out == ends.src &&
           dst.partner_in == ends.src;
  }

  void fly_in_phase(std::size_t id, bool pairs) {
    const Ends& ends = ends_[id - first_];
    Processor& src = ranks_[at(ends.src)];
    Processor& dst = ranks_[at(ends.dst)];
    const bool together = pairs && is_exchange(ends);
    double ready = src.start + src.time;
    const bool eager = ends.bytes <= machine_.eager_limit;
    if (!eager || together)
      ready = std::max(ready, dst.start + src.time) + (eager ? 0 : machine_.handshake_s);
    if (machine_.processor_moves_bytes) ready = std::max(ready, dst.start + dst.time);
    const double wire = ports_.wire_s(ends.bytes);
    const Flight flight = ports_.fly(ends, ready, together, src.wire - wire, dst.wire - wire);
    src.done = std::max(src.done, flight.leaves);
    const bool unexpected = eager && flight.arrives < dst.start;
    const double copy = unexpected ? machine_.copy_byte_s * static_cast<double>(ends.bytes) : 0;
    dst.done = std::max(dst.done, flight.arrives) + machine_.receive_overhead_s + copy;
  }

  void end_in_phase(const Ends& ends) {
    for (const Rank rank : {ends.src, ends.dst}) {
      Processor& processor = ranks_[at(rank)];
      processor.done = std::max(processor.done, processor.start + processor.time);
      latest_ = std::max(latest_, processor.done);
    }
  }

  static constexpr Rank many = -2;
  static constexpr double alone = -1;  // not in a phase

  const Schedule& schedule_;
  const Machine& machine_;
  Ports ports_;
  std::vector<Processor> ranks_;
  std::vector<Ends> ends_;  // of the phase at hand, transfers first_ to last_ - 1
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  bool overflows_ = false;
  double latest_ = 0;
};

}  // namespace

Modelled model(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, Pace pace) {
  Walk walk(matrix, schedule, machine, pace == Pace::at_once);
  const auto seconds = [&] {
    if (pace == Pace::notices) return walk.noticed();
    if (pace == Pace::at_once) return walk.at_once();
    return walk.in_phases(pace == Pace::pairs);
  }();
  return {seconds, walk.timeouts()};
}

}  // namespace nuice::advice
