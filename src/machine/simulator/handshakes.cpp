// SPDX-License-Identifier: BSD-3-Clause
// The distributed scheduling of 004 fig. 5. A rank tests and sets the receiver's lock by an active message,
// then sends its message, then resets the lock by another active message. If the rank is refused, it asks its
// next destination.
#include <algorithm>
#include <string>
#include <utility>

#include "machine/simulator/engine.hpp"
#include "nuice/core/error.hpp"

namespace nuice::machine {

void Engine::set_handshakes(Handshakes handshakes) {
  retry_delay_s_ = handshakes.retry_delay_s;
  for (std::size_t rank = 0; rank < processors_.size(); ++rank) {
    processors_[rank].to_send = std::move(handshakes.to_send[rank]);
  }
}

/// Makes a step of a rank that sends its messages. Returns true if all messages are sent, and false if the
/// rank is busy or has to wait.
bool Engine::serve(Rank rank) {
  Processor& p = processors_[at(rank)];
  const auto next = [&p](Serving state) { p.serving = state; };
  while (!p.busy) {
    switch (p.serving) {
      case Serving::choosing:
        if (p.to_send.empty()) return true;
        next(Serving::asking);
        work(rank, machine_.am_send_s);
        break;
      case Serving::asking:
        ++inquiries_;
        next(Serving::hoping);
        events_.push(now_ + machine_.am_latency_s, EventKind::inquiry, static_cast<std::uint32_t>(rank));
        return false;
      case Serving::hoping:
        if (!std::exchange(p.answered, false)) return false;
        next(Serving::judging);
        work(rank, machine_.am_handler_s);
        break;
      case Serving::judging:
        if (p.granted) {
          next(Serving::launching);
          work(rank, machine_.send_overhead_s + machine_.async_send_s);
          break;
        }
        refused(rank);
        p.trying = (p.trying + 1) % p.to_send.size();
        next(retry_delay_s_ > 0 ? Serving::delaying : Serving::choosing);
        if (retry_delay_s_ > 0) {
          events_.push(now_ + retry_delay_s_, EventKind::retry, static_cast<std::uint32_t>(rank));
        }
        break;
      case Serving::delaying:
        if (!std::exchange(p.answered, false)) return false;
        next(Serving::choosing);
        break;
      case Serving::launching:
        launch(p.to_send[p.trying]);
        next(Serving::sending);
        break;
      case Serving::sending:
        if (p.sends > 0) return false;
        next(Serving::releasing);
        work(rank, machine_.am_send_s);
        break;
      case Serving::releasing:
        finish_handshake(p);
        next(Serving::choosing);
        break;
    }
  }
  return false;
}

void Engine::finish_handshake(Processor& p) {
  const auto sent = p.to_send.begin() + static_cast<std::ptrdiff_t>(p.trying);
  const Rank receiver = program_.moves[*sent].dst;
  events_.push(now_ + machine_.am_latency_s, EventKind::release, static_cast<std::uint32_t>(receiver));
  p.to_send.erase(sent);
  if (p.trying == p.to_send.size()) p.trying = 0;
}

/// Handles an inquiry of `rank` at the receiver that it tries.
void Engine::inquiry(Rank rank) {
  Processor& asker = processors_[at(rank)];
  const Rank receiver = program_.moves[asker.to_send[asker.trying]].dst;
  asker.granted = !std::exchange(processors_[at(receiver)].locked, true);
  events_.push(interrupt(receiver, machine_.am_handler_s) + machine_.am_latency_s, EventKind::answer,
               static_cast<std::uint32_t>(rank));
}

void Engine::refused(Rank rank) {
  require_few(++refusals_,
              "refused inquiries: a delay before a retry makes them fewer (retry_delay_s, am_retry_s)");
  Processor& p = processors_[at(rank)];
  if (p.refused_at == now_) {
    throw Error(ErrorCode::limit, "after " + std::to_string(now_) +
                                      " s of simulated time an inquiry is too short to be represented: the "
                                      "machine's times differ too much");
  }
  p.refused_at = now_;
}

void Engine::release(Rank rank) {
  interrupt(rank, machine_.am_handler_s);
  processors_[at(rank)].locked = false;
}

/// Runs a handler for `cost` seconds. Returns the time at which the handler ends. The work of the processor,
/// or the message that it is receiving, takes `cost` seconds longer. Handlers run one after the other. After
/// a handler the processor has `cost` seconds for its own work before the next handler, so it makes progress
/// however many ranks ask.
double Engine::interrupt(Rank rank, double cost) {
  if (cost == 0) return now_;
  Processor& p = processors_[at(rank)];
  const double begin = std::max(now_, p.handler_until);
  p.handler_until = begin + 2 * cost;
  network_.interrupt(rank, cost, now_);
  if (p.busy) {  // counted as part of the work that it delays
    p.busy_until += cost;
    events_.push(p.busy_until, EventKind::work_ends, static_cast<std::uint32_t>(rank), ++p.version);
  } else {
    record_.of(rank).software_s += cost;
  }
  return begin + cost;
}

}  // namespace nuice::machine
