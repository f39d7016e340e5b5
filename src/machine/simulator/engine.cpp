// SPDX-License-Identifier: BSD-3-Clause
#include "machine/simulator/engine.hpp"

#include <algorithm>
#include <utility>

#include "nuice/core/error.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::machine {

Engine::Engine(const Machine& machine, Program program, std::vector<double> slowdown, bool keep_timeline)
    : machine_(machine),
      program_(std::move(program)),
      network_(machine, std::move(slowdown), events_, *this),
      record_(static_cast<Rank>(program_.ops.size()), keep_timeline),
      processors_(program_.ops.size()),
      flights_(program_.moves.size()) {
  for (TransferId id = 0; id < flights_.size(); ++id) {
    flights_[id].eager = program_.moves[id].bytes <= machine.eager_limit;
  }
}

void Engine::run_events() {
  for (Rank rank = 0; rank < num_ranks(); ++rank) advance(rank);
  network_.settle(now_);
  while (!events_.empty()) {
    now_ = events_.next_time();
    while (!events_.empty() && events_.next_time() <= now_) {
      check_interrupt();
      handle(events_.pop());
    }
    network_.settle(now_);
  }
}

void Engine::handle(const Event& event) {
  const Rank rank = static_cast<Rank>(event.id);
  switch (event.kind) {
    case EventKind::flow_ends:
      network_.flow_ends(event.id, event.version, now_);
      break;
    case EventKind::arrives:
      arrives(event.id);
      break;
    case EventKind::hands_shaken:
      submit(event.id);
      break;
    case EventKind::work_ends:
      work_ends(rank, event.version);
      break;
    case EventKind::port_ready:
      network_.port_ready(event.id, now_);
      break;
    case EventKind::met:
      for (const Rank partner : {program_.meetings[event.id].first, program_.meetings[event.id].second}) {
        processors_[at(partner)].met = true;
        advance(partner);
      }
      break;
    case EventKind::inquiry:
      inquiry(rank);
      break;
    case EventKind::release:
      release(rank);
      break;
    case EventKind::answer:
    case EventKind::retry:
      processors_[at(rank)].answered = true;
      advance(rank);
      break;
  }
}

Simulation Engine::finish() {
  Simulation result;
  for (Rank rank = 0; rank < num_ranks(); ++rank) {
    if (!processors_[at(rank)].done) throw Error(ErrorCode::state, stuck_text());
    result.seconds = std::max(result.seconds, record_.of(rank).finished_s);
  }
  record_.finish(result);
  result.transfers = flights_.size();
  result.node_contention = network_.counts().node_contention;
  result.link_contention = network_.counts().link_contention;
  result.timeouts = network_.counts().timeouts;
  result.inquiries = inquiries_;
  result.refusals = refusals_;
  return result;
}

std::string Engine::stuck_text() const {
  const auto stuck = std::ranges::find(processors_, false, &Processor::done);
  const auto rank = stuck - processors_.begin();
  return "rank " + std::to_string(rank) + " would wait forever: " + std::to_string(stuck->sends) +
         " sends have not left, " + std::to_string(stuck->receives) + " receives are not complete";
}

// ---- processors

void Engine::advance(Rank rank) {
  Processor& p = processors_[at(rank)];
  if (p.busy || p.done) return;
  bool progress = false;
  while (!p.busy && step(rank)) progress = true;
  if (p.busy || p.done || progress) stop_waiting(p, rank);
  if (!p.busy && !p.done && p.waiting_since < 0) p.waiting_since = now_;
}

/// Takes a step of a rank's processor. Returns false if the processor can only wait.
bool Engine::step(Rank rank) {
  Processor& p = processors_[at(rank)];
  const auto& ops = program_.ops[at(rank)];
  if (p.next_op == ops.size()) {
    if (!std::exchange(p.done, true)) record_.of(rank).finished_s = now_;
    return false;
  }
  if (run_op(rank, ops[p.next_op])) {
    ++p.next_op;
    return true;
  }
  if (p.busy) return true;
  if (p.inbox.empty()) return false;
  take_from_inbox(rank);
  return true;
}

/// Runs an operation. Returns true if it is complete (for work: if it has begun).
bool Engine::run_op(Rank rank, const Op& op) {
  const Processor& p = processors_[at(rank)];
  switch (op.kind) {
    case OpKind::work:
      work(rank, op.seconds);
      return true;
    case OpKind::post:
      post(op.id);
      return true;
    case OpKind::launch:
      launch(op.id);
      return true;
    case OpKind::wait_sends:
      return p.sends == 0;
    case OpKind::wait_all:
      return p.sends == 0 && p.receives == 0;
    case OpKind::wait_parts:
      return program_.moves[op.id].missing == 0;
    case OpKind::meet:
      return meet(rank, op.id);
    case OpKind::serve:
      return serve(rank);
  }
  return true;
}

void Engine::work(Rank rank, double seconds) {
  if (seconds <= 0) return;
  Processor& p = processors_[at(rank)];
  p.busy = true;
  p.work_since = now_;
  p.busy_until = now_ + seconds;
  record_.begin_active(rank, now_);
  network_.processor_works(rank, true);
  events_.push(p.busy_until, EventKind::work_ends, static_cast<std::uint32_t>(rank), ++p.version);
}

void Engine::work_ends(Rank rank, std::uint32_t version) {
  Processor& p = processors_[at(rank)];
  if (version != p.version) return;
  p.busy = false;
  network_.processor_works(rank, false);
  record_.end_active(rank, now_);
  record_.of(rank).software_s += now_ - p.work_since;
  record_.add({rank, Activity::software, p.work_since, now_, no_rank, 0, 0});
  if (p.receiving != no_transfer) complete_receive(rank, std::exchange(p.receiving, no_transfer));
  advance(rank);
}

void Engine::stop_waiting(Processor& p, Rank rank) {
  if (p.waiting_since < 0) return;
  record_.of(rank).waiting_s += now_ - p.waiting_since;
  record_.add({rank, Activity::waiting, p.waiting_since, now_, no_rank, 0, 0});
  p.waiting_since = -1;
}

void Engine::take_from_inbox(Rank rank) {
  Processor& p = processors_[at(rank)];
  const TransferId id = p.inbox.front();
  p.inbox.pop_front();
  double seconds = machine_.receive_overhead_s;
  if (flights_[id].unexpected)
    seconds += machine_.copy_byte_s * static_cast<double>(program_.moves[id].bytes);
  seconds += program_.moves[id].packing_s;
  if (seconds > 0) {
    p.receiving = id;
    work(rank, seconds);
  } else {
    complete_receive(rank, id);
  }
}

void Engine::complete_receive(Rank rank, TransferId id) {
  Processor& p = processors_[at(rank)];
  Flight& flight = flights_[id];
  flight.complete = true;
  --p.receives;
  if (std::exchange(flight.buffered, false)) p.buffered -= program_.moves[id].bytes;
  record_.of(rank).received_bytes += program_.moves[id].bytes;
  if (program_.needed_by.empty()) return;
  for (const TransferId next : program_.needed_by[id]) --program_.moves[next].missing;
}

bool Engine::meet(Rank rank, std::uint32_t id) {
  Processor& p = processors_[at(rank)];
  if (std::exchange(p.met, false)) return true;
  Meeting& meeting = program_.meetings[id];
  const int side = rank == meeting.first ? 1 : 2;
  if ((meeting.arrived & side) == 0) {
    meeting.arrived |= side;
    if (meeting.arrived == 3) events_.push(now_ + machine_.handshake_s, EventKind::met, id);
  }
  return false;
}

// ---- transfers

void Engine::launch(TransferId id) {
  const Move& move = program_.moves[id];
  Flight& flight = flights_[id];
  ++processors_[at(move.src)].sends;
  Processor& receiver = processors_[at(move.dst)];
  if (flight.posted) {
    shake_hands(id);
  } else if (flight.eager && move.bytes <= machine_.buffer_limit - receiver.buffered) {
    flight.buffered = true;
    receiver.buffered += move.bytes;
    submit(id);
  } else {
    flight.waits_for_post = true;
  }
}

void Engine::post(TransferId id) {
  Flight& flight = flights_[id];
  Processor& p = processors_[at(program_.moves[id].dst)];
  flight.posted = true;
  ++p.receives;
  if (flight.arrived) {
    p.inbox.push_back(id);
  } else if (std::exchange(flight.buffered, false)) {
    p.buffered -= program_.moves[id].bytes;
  }
  if (std::exchange(flight.waits_for_post, false)) shake_hands(id);
}

/// Continues a transfer for which both ranks are ready.
void Engine::shake_hands(TransferId id) {
  if (flights_[id].eager || program_.moves[id].together || machine_.handshake_s == 0) {
    submit(id);
  } else {
    events_.push(now_ + machine_.handshake_s, EventKind::hands_shaken, id);
  }
}

void Engine::submit(TransferId id) {
  const Move& move = program_.moves[id];
  const auto wire = static_cast<double>(wire_bytes(machine_, move.bytes));
  network_.submit(id, move, wire, now_);
}

void Engine::port_taken(TransferId id, double now) {
  flights_[id].send_since = now;
  record_.begin_active(program_.moves[id].src, now);
}

void Engine::blocked(TransferId id, double now) {
  const Rank src = program_.moves[id].src;
  Flight& flight = flights_[id];
  record(id, src, Activity::sending, flight.send_since, now);
  record_.end_active(src, now);
  flight.blocked = true;
  flight.send_since = now;
}

void Engine::bytes_begin(TransferId id, double now) {
  const Move& move = program_.moves[id];
  Flight& flight = flights_[id];
  flight.receive_since = now;
  record_.begin_active(move.dst, now);
  if (!flight.blocked) return;
  record(id, move.src, Activity::blocked, flight.send_since, now);
  record_.of(move.src).blocked_s += now - flight.send_since;
  record_.begin_active(move.src, now);
  flight.send_since = now;
}

void Engine::left(TransferId id, double now) {
  const Move& move = program_.moves[id];
  record(id, move.src, Activity::sending, flights_[id].send_since, now);
  record_.end_active(move.src, now);
  record_.of(move.src).sent_bytes += move.bytes;
  const double on_the_way = machine_.latency_s + machine_.hop_s * static_cast<double>(network_.hops(id));
  events_.push(now + on_the_way, EventKind::arrives, id);
  --processors_[at(move.src)].sends;
  advance(move.src);
}

void Engine::arrives(TransferId id) {
  const Move& move = program_.moves[id];
  Flight& flight = flights_[id];
  record(id, move.dst, Activity::receiving, flight.receive_since, now_);
  record_.end_active(move.dst, now_);
  flight.arrived = true;
  flight.unexpected = !flight.posted;
  if (!flight.posted) return;
  processors_[at(move.dst)].inbox.push_back(id);
  advance(move.dst);
}

void Engine::record(TransferId id, Rank rank, Activity activity, double begin, double end) {
  const Move& move = program_.moves[id];
  record_.add({rank, activity, begin, end, rank == move.src ? move.dst : move.src, move.bytes, move.phase});
}

}  // namespace nuice::machine
