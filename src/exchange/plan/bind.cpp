// SPDX-License-Identifier: BSD-3-Clause
// The binding functions of Plan. They require that all ranks bind the same.
#include "core/text/names.hpp"
#include "exchange/plan/binder.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// Calls bind(binder) after checking that all ranks bind the same.
template <typename Bind>
Exchange Plan::Binder::bind_same(State* state, const BindCall& call, Bind&& bind) {
  if (state == nullptr) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  require_running("bind()");
  State& plan = *state;
  const bool on_device = plan.member.require_same(call);
  plan.comm = plan.tags->comm;  // another communicator if the tags of the old one ran out
  const auto kept = plan.comm;
  return naming_dead_ranks(*kept, [&] {
    const Slice& forwards = plan.made->slice;
    if (call.direction == Direction::forwards)
      return Exchange(bind(Binder(plan, forwards, call.direction, on_device)));
    Slice back;
    all_or_none(*kept, [&] { back = reversed(forwards); });
    return Exchange(bind(Binder(plan, back, call.direction, on_device)));
  });
}

void Plan::refuse(const Error& why) {
  if (!state_) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  require_running("bind()");
  const Error named(why.code(), rank_name(state_->comm->rank()) + ": " + why.what());
  state_->member.refuse(named);
  throw Error(named);
}

Exchange Plan::bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                    Direction direction) {
  return Binder::bind_same(state_.get(), {Form::buffers, direction, any_on_device(send, receive)},
                           [&](Binder binder) { return binder.buffers(send, receive); });
}

Exchange Plan::bind(const SendArray& send, const ReceiveArray& receive, Direction direction) {
  return Binder::bind_same(state_.get(), {Form::array, direction, any_on_device(send, receive)},
                           [&](Binder binder) { return binder.array(send, receive); });
}

Exchange Plan::bind(std::span<const SendField> send, std::span<const ReceiveField> receive,
                    Direction direction) {
  return Binder::bind_same(state_.get(), {Form::fields, direction, any_on_device(send, receive)},
                           [&](Binder binder) { return binder.fields(send, receive); });
}

Exchange Plan::bind_messages(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  return Binder::bind_same(state_.get(), {Form::messages, {}, any_on_device(sends, receives)},
                           [&](Binder binder) { return binder.messages(sends, receives); });
}

Exchange Plan::bind_in_place(std::span<const Incoming> messages) {
  return Binder::bind_same(state_.get(), {Form::messages, {}, any_on_device({}, messages)},
                           [&](Binder binder) { return binder.in_place(messages); });
}

}  // namespace nuice::mpi
