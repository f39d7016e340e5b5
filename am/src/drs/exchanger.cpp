// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/text/names.hpp"
#include "drs/exchanger_state.hpp"
#include "drs/message_run.hpp"
#include "nuice/core/outcome.hpp"

namespace nuice::drs {
std::shared_ptr<Exchanger::State> Exchanger::State::make(am::Endpoint& ep) {
  auto state = std::make_shared<State>(ep);
  state->entry_handler = ep.on<Bytes>("drs entry", [state](am::Context& from, const Bytes& bytes) {
    state->entries.push_back({from.source(), bytes});
  });
  state->verdict_handler =
      ep.on<Verdict>("drs verdict", [state](am::Context&, const Verdict& v, am::Tail text) {
        state->verdict.emplace(static_cast<ErrorCode>(v.code),
                               std::string(reinterpret_cast<const char*>(text.data()), text.size()));
      });
  state->inquiry_handler = ep.on<Inquiry>("drs inquiry", [state](am::Context& from, const Inquiry& inquiry) {
    state->run(inquiry.exchange, from.source()).take_inquiry(from, inquiry);
  });
  state->answer_handler = ep.on<Answer>("drs answer", [state](am::Context& from, const Answer& answer) {
    state->run(answer.exchange, from.source()).take_answer(answer);
  });
  state->release_handler = ep.on<Release>("drs release", [state](am::Context&, const Release& release) {
    // The release may come after the exchange has ended, because the data came before it.
    if (MessageRun* const found = state->find_run(release.exchange)) found->take_release(release);
  });
  return state;
}

void Exchanger::State::agree(const std::function<void()>& step) {
  const Outcome mine = attempt(place().rank, step);
  const Rank none = place().num_ranks;
  const std::array<std::int64_t, 1> offer = {mine ? -place().rank : -none};
  const auto lowest = static_cast<Rank>(-reduce(am::ReduceOp::max, offer)[0]);
  if (lowest == none) return;
  if (lowest == place().rank) {
    const Verdict head{static_cast<std::int32_t>(mine->code())};
    const std::size_t room = endpoint.max_message_bytes() - sizeof head;
    const std::size_t length = std::min(room, std::strlen(mine->what()));
    for (Rank dst = 0; dst < none; ++dst)
      held.of(
          [&] { endpoint.send(dst, verdict_handler, head, std::as_bytes(std::span(mine->what(), length))); });
  }
  wait_until([this] { return verdict.has_value(); });
  throw Error(*std::exchange(verdict, std::nullopt));
}

void Exchanger::State::send_entries(std::span<const Partner> destinations) {
  for (const auto& [dst, bytes] : destinations) {
    if (bytes == 0) continue;
    if (dst == place().rank) {
      entries.push_back({dst, bytes});
    } else {
      held.of([&] { endpoint.send(dst, entry_handler, bytes); });
    }
  }
}

std::vector<std::int64_t> Exchanger::State::reduce(am::ReduceOp op, std::span<const std::int64_t> values) {
  std::vector<std::int64_t> result(values.size());
  held.add(endpoint.core().try_reduce(op, values, result));
  return result;
}

void Exchanger::State::quiesce() { held.add(endpoint.core().try_quiesce()); }

std::vector<Partner> Exchanger::State::take_entries() {
  std::vector<Partner> list = std::move(entries);
  entries.clear();
  std::ranges::sort(list, {}, &Partner::rank);
  return list;
}

void Exchanger::State::check_options(const Options& options) {
  const std::int64_t mine = fingerprint(options);
  const std::array<std::int64_t, 1> first = {place().rank == 0 ? mine : 0};
  const std::int64_t of_rank_0 = reduce(am::ReduceOp::sum, first)[0];
  agree([&] {
    drs::check_options(options);
    if (mine != of_rank_0)
      throw Error(ErrorCode::mismatch, "drs::Options differ: those of rank " + std::to_string(place().rank) +
                                           " are not those of rank 0");
  });
}

namespace {

/// Throws Error `mismatch` for the first difference, with the pair of ranks.
void compare(Rank rank, std::span<const Partner> expected, std::span<const Partner> sent) {
  const auto bytes_from = [](std::span<const Partner> list, Rank src) {
    const auto found = std::ranges::find(list, src, &Partner::rank);
    return found == list.end() ? Bytes{0} : found->bytes;
  };
  for (const auto list : {expected, sent})
    for (const Partner& partner : list) {
      const Bytes here = bytes_from(expected, partner.rank);
      const Bytes there = bytes_from(sent, partner.rank);
      if (here != there)
        throw Error(ErrorCode::mismatch, pair_name(partner.rank, rank) + ": the receiver expects " +
                                             std::to_string(here) + " bytes, the sender has " +
                                             std::to_string(there));
    }
}

}  // namespace

// The sums cost one reduction, and show only that there is a difference. Generate_Recv then finds the
// difference.
void Exchanger::State::check_sources(std::span<const Partner> destinations,
                                     std::span<const Partner> sources) {
  const Balance mine = balance(place(), destinations, sources);
  const std::array<std::int64_t, 2> values = {mine.first, mine.second};
  const auto sums = reduce(am::ReduceOp::sum, values);
  if (sums[0] == 0 && sums[1] == 0) return;
  send_entries(destinations);
  quiesce();
  const std::vector<Partner> sent = take_entries();
  agree([&] { compare(place().rank, sources, sent); });
  throw Error(ErrorCode::mismatch, "the sources given to bind() do not match what the ranks send");
}

MessageRun* Exchanger::State::find_run(std::uint32_t exchange) {
  return exchange < runs.size() ? runs[exchange] : nullptr;
}

MessageRun& Exchanger::State::run(std::uint32_t exchange, Rank asking) {
  if (MessageRun* const found = find_run(exchange)) return *found;
  throw Error(ErrorCode::mismatch, "rank " + std::to_string(asking) + " names exchange " +
                                       std::to_string(exchange) + ", which rank " +
                                       std::to_string(place().rank) + " does not have");
}

Exchanger::Exchanger(am::Endpoint& endpoint) : state_(State::make(endpoint)) {}
Exchanger::Exchanger(Exchanger&&) noexcept = default;
Exchanger::~Exchanger() = default;

std::vector<Partner> Exchanger::sources(std::span<const Partner> destinations) {
  State& state = *state_;
  const Collective call(state);
  state.agree([&] { check_destinations(state.place(), destinations); });
  state.send_entries(destinations);
  state.quiesce();
  return state.take_entries();
}

Exchange Exchanger::bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                         std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                         const Options& options) {
  const Collective call(*state_);
  state_->check_options(options);
  state_->agree([&] {
    if (options.lock == Lock::rma)
      throw Error(ErrorCode::not_applicable, "Lock::rma needs MPI: use drs::mpi::World (nuice/mpi/drs.hpp)");
  });
  return bind_messages(state_, *state_, destinations, sources, send, receive, options);
}

Exchange bind_messages(const std::shared_ptr<void>& keeps_alive, Exchanger::State& exchanger,
                       std::span<const Partner> destinations, std::span<const Partner> sources,
                       std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                       const Options& options) {
  std::unique_ptr<MessageRun> run;
  const std::uint32_t number = exchanger.next_number++;
  exchanger.agree([&] {
    Messages messages = make_messages(exchanger.place(), destinations, sources, send, receive, options.seed);
    run = std::make_unique<MessageRun>(keeps_alive, exchanger, number, std::move(messages), options);
  });
  exchanger.check_sources(destinations, sources);
  return Exchange(std::move(run));
}

}  // namespace nuice::drs
