// SPDX-License-Identifier: BSD-3-Clause
// Calls with a result. The caller keeps a slot for each call. The CallId contains a generation, so a result
// that arrives after its Future was dropped does no harm.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "am/endpoint_core.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

struct ResultHead {
  CallId id;
  std::uint64_t failed;
};

}  // namespace

CallId EndpointCore::new_call() {
  Calls& calls = calls_;
  if (calls.free.empty()) {
    calls.free.push_back(static_cast<std::uint32_t>(calls.slots.size()));
    calls.slots.emplace_back();
  }
  const std::uint32_t index = calls.free.back();
  calls.free.pop_back();
  Calls::Slot& slot = calls.slots[index];
  slot.state = Calls::State::waiting;
  return (static_cast<std::uint64_t>(slot.generation) << 32) | index;
}

bool EndpointCore::call_done(CallId id) {
  const Entry entry(*this);
  const Calls::Slot* const slot = calls_.find(id);
  if (slot == nullptr) throw Error(ErrorCode::state, "the result of a call was taken already");
  return slot->state != Calls::State::waiting;
}

void EndpointCore::drop_call(CallId id) {
  const Entry entry(*this);
  if (Calls::Slot* const slot = calls_.find(id)) {
    ++slot->generation;
    slot->state = Calls::State::free;
    calls_.free.push_back(static_cast<std::uint32_t>(id));
  }
}

void EndpointCore::take_result(CallId id, std::span<std::byte> result) {
  const Entry entry(*this);
  Calls::Slot& slot = *calls_.find(id);
  const bool failed = slot.state == Calls::State::failed;
  const std::string text =
      failed ? std::string(reinterpret_cast<const char*>(slot.result.data()), slot.result.size())
             : std::string();
  const std::size_t bytes = slot.result.size();
  if (!failed && bytes == result.size()) std::ranges::copy(slot.result, result.begin());
  drop_call(id);
  if (failed)
    throw Error(ErrorCode::mismatch, "a call from rank " + std::to_string(rank_) + " failed: " + text);
  if (bytes != result.size())
    throw Error(ErrorCode::mismatch, "a call from rank " + std::to_string(rank_) + " got a result of " +
                                         std::to_string(bytes) + " bytes instead of " +
                                         std::to_string(result.size()));
}

void EndpointCore::send_result(Rank dst, CallId id, bool failed, std::span<const std::byte> bytes) {
  const ResultHead head{id, failed ? 1U : 0U};
  const std::size_t room = max_message_bytes_ - sizeof head;
  post(dst, internal_header(InternalHandler::result), &head, sizeof head,
       bytes.first(std::min(bytes.size(), room)));
}

void EndpointCore::add_internal_handlers() {
  using Run = detail::HandlerRow::Run;
  internal_rows_.resize(num_internal_handlers);
  const auto add = [this](InternalHandler number, Run run) {
    internal_rows_[static_cast<std::size_t>(number)] = {run, nullptr, nullptr, false};
  };
  add(InternalHandler::result, [](void*, Context& context, const std::byte* payload, std::size_t bytes) {
    if (bytes < sizeof(ResultHead)) detail::wrong_size(context, sizeof(ResultHead), bytes, true);
    const auto head = detail::load<ResultHead>(payload);
    Calls::Slot* const slot = context.endpoint().core().calls_.find(head.id);
    if (slot == nullptr || slot->state != Calls::State::waiting) return;
    slot->result.assign(payload + sizeof head, payload + bytes);
    slot->state = head.failed != 0 ? Calls::State::failed : Calls::State::done;
  });
  add(InternalHandler::put, [](void*, Context& context, const std::byte* payload, std::size_t bytes) {
    context.endpoint().core().take_put(context, payload, bytes);
  });
  add(InternalHandler::bulk_put, [](void*, Context& context, const std::byte* payload, std::size_t bytes) {
    context.endpoint().core().take_bulk_put(context, payload, bytes);
  });
  add(InternalHandler::level_mark, [](void*, Context& context, const std::byte* payload, std::size_t bytes) {
    if (bytes != sizeof(std::uint32_t)) detail::wrong_size(context, sizeof(std::uint32_t), bytes, false);
    EndpointCore& endpoint = context.endpoint().core();
    auto& marks = endpoint.levels_.marks;
    const auto sync = detail::load<std::uint32_t>(payload);
    if (sync > marks.size() + UINT16_MAX)
      throw Error(ErrorCode::mismatch, "a level mark for a LevelSync that does not exist");
    if (sync >= marks.size()) marks.resize(sync + 1);  // the other rank made its LevelSync first
    if (marks[sync].empty()) marks[sync].resize(static_cast<std::size_t>(endpoint.num_ranks_), 0);
    ++marks[sync][static_cast<std::size_t>(context.source())];
  });
}

void detail::send_result(const Context& context, CallId call, std::span<const std::byte> result) {
  context.endpoint().core().send_result(context.source(), call, false, result);
}

void detail::send_failure(const Context& context, CallId call, const char* text) {
  const std::string_view view(text);
  context.endpoint().core().send_result(context.source(), call, true,
                                        std::as_bytes(std::span(view.data(), view.size())));
}

}  // namespace nuice::am
