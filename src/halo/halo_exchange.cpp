// SPDX-License-Identifier: BSD-3-Clause
// The executor: packs, starts the messages, and unpacks or combines what arrives.
#include "halo/halo_state.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

HaloExchange::HaloExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
HaloExchange::HaloExchange(HaloExchange&&) noexcept = default;
HaloExchange& HaloExchange::operator=(HaloExchange&&) noexcept = default;
HaloExchange::~HaloExchange() = default;

HaloExchange::State& HaloExchange::state() const {
  if (!state_) throw Error(ErrorCode::state, "the halo exchange was freed");
  return *state_;
}

/// Runs act(). If the device's driver reports an error on this rank, the exchange fails on all ranks, as for
/// an error within the exchange.
template <typename Act>
void HaloExchange::State::with_device(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    exchange->give_up(error);
  }
}

void HaloExchange::State::pack_and_start(void* stream) {
  if (both) return both->start();
  if (on_device)
    with_device([&] { stream = on_device->pack(stream); });
  else
    movement.pack();
  exchange->start(stream);
}

void HaloExchange::State::unpack(void* stream, bool waits) {
  under_way = false;
  if (on_device)
    with_device([&] { on_device->unpack(stream, waits); });
  else
    movement.unpack();
}

void HaloExchange::start() { start(nullptr); }

void HaloExchange::start(void* stream) {
  State& bound = state();
  if (bound.under_way)
    throw Error(ErrorCode::state, "start() before the previous halo exchange finished: call wait() first");
  bound.pack_and_start(stream);
  bound.under_way = true;
}

bool HaloExchange::test() {
  State& bound = state();
  if (!(bound.both ? bound.both->test() : bound.exchange->test())) return false;
  bound.unpack(nullptr, true);
  return true;
}

void HaloExchange::wait() {
  State& bound = state();
  if (bound.both)
    bound.both->wait();
  else
    bound.exchange->wait();
  bound.unpack(nullptr, true);
}

void HaloExchange::wait(void* stream) {
  State& bound = state();
  if (bound.both) return wait();
  bound.exchange->wait(stream);
  bound.unpack(stream, false);
}

bool HaloExchange::is_under_way() const { return state().under_way; }

void HaloExchange::free() {
  if (!state_) return;
  if (state_->both) {
    state_->both->free();
  } else {
    state_->exchange->free();
  }
  state_.reset();
}

const PlanInfo& HaloExchange::info() const { return state().info; }

double HaloExchange::wire_roundoff() const { return state().wire_roundoff; }

}  // namespace nuice::mpi
