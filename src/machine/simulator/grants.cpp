// SPDX-License-Identifier: BSD-3-Clause
// DRS_N with a list at the receiver, which 004 s.6 leaves open: an inquiry that finds it busy is noted and granted when
// its turn comes, so there is one inquiry for each message and no release. With early_bytes the next is granted when
// no more than a number of bytes are to come: a message is then two transfers, back to back, whose software is
// counted once, and the end of the first says how far the message is.
//
// Handlers interrupt a processor as they do with refusals; a grant from the list costs the receiver am_send.
#include <utility>

#include "machine/simulator/engine.hpp"

namespace nuice::machine {

/// One step of a rank that hands out its messages: what is granted is sent first, then it asks for the next; one
/// inquiry at a time is without an answer. True when all are sent.
bool Engine::serve_granted(Rank rank) {
  Processor& p = processors_[at(rank)];
  while (!p.busy) {
    switch (p.serving) {
      case Serving::asking:
        ++inquiries_;
        p.asked = p.to_send[p.trying++];
        p.serving = Serving::choosing;
        events_.push(now_ + machine_.am_latency_s, EventKind::inquiry, static_cast<std::uint32_t>(rank));
        break;
      case Serving::launching:
        p.serving = Serving::sending;
        launch(p.part);
        break;
      case Serving::sending:
        if (p.sends > 0) return false;
        if (p.part != p.message) {
          begin_part(rank, p.message, 0);
          break;
        }
        ++p.num_sent;
        p.serving = Serving::choosing;
        break;
      default:  // choosing
        if (!p.may_send.empty()) {
          p.message = p.may_send.front();
          p.may_send.pop_front();
          begin_part(rank, program_.leader_of[p.message], machine_.send_overhead_s + machine_.async_send_s);
        } else if (p.asked == no_transfer && p.trying < p.to_send.size()) {
          p.serving = Serving::asking;
          work(rank, machine_.am_send_s);
        } else {
          return p.num_sent == p.to_send.size();
        }
        break;
    }
  }
  return false;
}

void Engine::begin_part(Rank rank, TransferId part, double seconds) {
  Processor& p = processors_[at(rank)];
  p.part = part;
  p.serving = Serving::launching;
  work(rank, seconds);
}

/// The inquiry of `rank` reaches the receiver that it asks.
void Engine::inquiry_listed(Rank rank) {
  const TransferId message = processors_[at(rank)].asked;
  const Rank receiver = program_.moves[message].dst;
  const double answered = interrupt(receiver, machine_.am_handler_s);
  Processor& p = processors_[at(receiver)];
  if (takes_another(p)) {
    grant(message, answered);
    return;
  }
  ++refusals_;
  p.listed.push_back(message);
  events_.push(answered + machine_.am_latency_s, EventKind::noted, message);
}

bool Engine::takes_another(const Processor& receiver) const {
  return receiver.parts_to_come == 0 || (early_bytes_ > 0 && receiver.bytes_to_come <= early_bytes_);
}

/// Tells the sender of `message`, at that time.
void Engine::grant(TransferId message, double at_time) {
  const TransferId leader = program_.leader_of[message];
  Processor& p = processors_[at(program_.moves[message].dst)];
  ++p.parts_to_come;
  p.bytes_to_come += program_.moves[message].bytes;
  if (leader != message) {
    ++p.parts_to_come;
    p.bytes_to_come += program_.moves[leader].bytes;
  }
  events_.push(at_time + machine_.am_latency_s, EventKind::grant, message);
}

void Engine::part_arrived(const Move& move) {
  Processor& p = processors_[at(move.dst)];
  --p.parts_to_come;
  p.bytes_to_come -= move.bytes;
  while (!p.listed.empty() && takes_another(p)) {
    const TransferId message = p.listed.front();
    p.listed.pop_front();
    grant(message, interrupt(move.dst, machine_.am_send_s));
  }
}

/// The sender of `message` knows now whether it may send it, or has to wait for that.
void Engine::read_answer(TransferId message, bool granted) {
  const Rank rank = program_.moves[message].src;
  Processor& p = processors_[at(rank)];
  if (p.asked == message) p.asked = no_transfer;
  if (granted) p.may_send.push_back(message);
  advance(rank);
}

}  // namespace nuice::machine
