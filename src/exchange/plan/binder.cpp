// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/binder.hpp"

#include <algorithm>
#include <utility>

#include "core/text/names.hpp"
#include "exchange/bind/fields.hpp"
#include "exchange/combine/combine.hpp"
#include "exchange/exec/rows.hpp"
#include "exchange/learn/learning_run.hpp"
#include "exchange/learn/reports.hpp"
#include "exchange/shared_memory/near_messages.hpp"
#include "flow/process.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// The size of a chunk. It is small enough that every MPI sends a chunk without asking the receiver (Open MPI
/// does so up to 64 KiB).
constexpr Bytes chunk_bytes_over_tcp = 32 << 10;

RunSettings settings_for(const PlanOptions& options, const HostView& view, const Elsewhere& elsewhere) {
  const Bytes chunk_bytes = view.is_over_tcp ? chunk_bytes_over_tcp : 0;
  return {.max_sends = options.async.max_sends,
          .early_bytes = options.depend.early_bytes,
          .chunk_bytes = options.async.chunk_bytes > 0 ? options.async.chunk_bytes : chunk_bytes,
          .copies = elsewhere.copies,
          .piece_bytes = elsewhere.piece_bytes,
          .whole_with = elsewhere.piece_bytes > 0 ? std::span(view.near) : std::span<const Rank>(),
          .apart = elsewhere.is_on_device};
}

}  // namespace

TagSpace Plan::Binder::take_tags() {
  const TagSpace taken = plan_.tags->take();
  plan_.comm = plan_.tags->comm;
  return taken;
}

Plan::Binder::Bound Plan::Binder::new_exchange() const {
  auto exchange = std::make_unique<Exchange::State>();
  exchange->comm = plan_.comm;
  exchange->watchdog_s = made_.settled_options.watchdog_s;
  exchange->watches_deaths = tells_of_deaths();
  exchange->self_tag = plan_.tags->next;
  exchange->info.executor = made_.info.executor;
  exchange->info.scheduler = made_.info.scheduler;
  return exchange;
}

Decoration Plan::Binder::combined_for(const PlanOptions& options, const Layout& layout) {
  if (!plan_.view.group || !options.combine) return {};
  const TagSpace own = take_tags();
  const Combining combining{plan_.view.group, options.combining.largest_bytes,
                            plan_.view.is_over_tcp ? chunk_bytes_over_tcp : 0};
  return combine(own.comm, own.next, combining, slice_.table, layout);
}

Decoration Plan::Binder::near_messages_for(const PhaseTable& table, const Layout& layout) {
  Decoration none;
  if (!made_.info.shared_memory) return none;
  none.says = "none: the schedule forwards messages";
  if (made_.info.staged_bytes > 0) return none;
  const TagSpace own = take_tags();
  return find_near_messages(own.comm, own.next, plan_.view.near, made_.settled_options.sharing.largest_bytes,
                            table, layout);
}

std::vector<Plan::Binder::RivalParts> Plan::Binder::parts_of_rivals(const Layout& layout, bool may_combine) {
  std::vector<RivalParts> parts;
  if (made_.rivals.empty()) return parts;
  for (const Rival& rival : made_.rivals) {
    parts.push_back({take_tags(), {}});
    if (may_combine && !rival.table) parts.back().combined = combined_for(rival.options, layout);
  }
  parts.push_back({take_tags(), {}});
  return parts;
}

std::unique_ptr<Run> Plan::Binder::bind_rival(const Rival& rival, RivalParts& parts, const Layout& layout,
                                              const Elsewhere& elsewhere, Arrivals& arrivals) const {
  auto& [its_tags, combined] = parts;
  const auto bind_to = [&, &its = its_tags](const PhaseTable& table) {
    return find_runnable_executor(rival.executor.name)
        .bind({its.comm, table, slice_.notices, layout, arrivals, its.next,
               settings_for(rival.options, plan_.view, elsewhere)});
  };
  if (rival.table) return bind_to(direction_ == Direction::backwards ? reversed(*rival.table) : *rival.table);
  return combined.decorator->around(combined.has_rest ? bind_to(combined.rest) : nullptr, comm().rank(),
                                    arrivals);
}

std::unique_ptr<Run> Plan::Binder::bind_methods(Exchange::State& exchange, const PhaseTable& rest,
                                                bool are_fields, const Layout& layout,
                                                const Elsewhere& elsewhere,
                                                std::vector<RivalParts> of_rivals) const {
  const auto bind_to = [&](Arrivals& arrivals) {
    return find_runnable_executor(made_.info.executor)
        .bind({plan_.comm, rest, slice_.notices, layout, arrivals, plan_.tags->next,
               settings_for(made_.settled_options, plan_.view, elsewhere)});
  };
  std::vector<BoundMethod> methods;
  const auto add = [&](const std::string& scheduler, std::string_view executor, const std::string& options,
                       auto&& bind) {
    BoundMethod& method = methods.emplace_back();
    method.scheduler = scheduler;
    method.executor = executor;
    method.options = options;
    method.arrivals = std::make_unique<Arrivals>(exchange.arrivals.for_same_sources());
    method.run = bind(*method.arrivals);
  };
  for (std::size_t i = 0; i < made_.rivals.size(); ++i) {
    const Rival& rival = made_.rivals[i];
    // A rival that forwards carries neither fields nor device memory. Forwarding needs the same number of
    // field bytes per planned byte on all ranks, which other ranks' fields may not have. And the processor
    // packs forwarded messages, which it cannot do in device memory.
    if (rival.table && (are_fields || elsewhere.is_on_device)) continue;
    if (!rival.table && !of_rivals[i].combined.decorator) continue;
    if (methods.empty()) add(made_.info.scheduler, made_.info.executor, "", bind_to);
    add(rival.scheduler, rival.executor.name, rival.differs_in,
        [&](Arrivals& arrivals) { return bind_rival(rival, of_rivals[i], layout, elsewhere, arrivals); });
  }
  if (methods.empty()) return bind_to(exchange.arrivals);
  const TagSpace& of_reports = of_rivals.back().tags;
  return learn_between(std::move(methods), rest, exchange.arrivals, of_reports.comm, of_reports.next);
}

Plan::Binder::Bound Plan::Binder::finish(Bound exchange) const {
  const PlanOptions& options = made_.settled_options;
  if (!options.trace.empty())
    exchange->arrivals.trace().open(options.trace, exchange->info.executor, made_.info.scheduler,
                                    slice_.table, comm(), plan_.tags->next);
  if (plan_.view.is_over_tcp) flow::govern_process();  // the messages so far have made MPI's connections
  Reports::leave(nullptr);                             // makes progress on reports of earlier exchanges
  // tags of the messages and of the executor's notifications
  plan_.tags->take();
  return exchange;
}

template <typename Prepare>
Plan::Binder::Bound Plan::Binder::bind_parts(const Layout& layout, bool on_device, Prepare&& prepare) {
  Bound exchange;
  all_or_none(comm(), [&] {
    if (on_device)
      throw Error(ErrorCode::not_applicable,
                  "option parts is for host memory only: a buffer is in GPU memory");
    exchange = new_exchange();
    prepare(*exchange);
    exchange->run = mpi::bind_parts(
        {plan_.comm, slice_.table, slice_.notices, layout, exchange->arrivals, plan_.tags->next},
        called_with_ ? called_with_->send_to : slice_.send_to,
        called_with_ ? called_with_->receive_from : slice_.receive_from,
        std::exchange(exchange->self_message, {}));
    exchange->info.executor = "async";
  });
  return finish(std::move(exchange));
}

template <typename Prepare>
Plan::Binder::Bound Plan::Binder::bind_layout(bool are_fields, const Layout& layout,
                                              const Elsewhere& elsewhere, Prepare&& prepare) {
  if (made_.settled_options.parts)
    return bind_parts(layout, elsewhere.is_on_device, std::forward<Prepare>(prepare));
  Decoration combined;
  Decoration near;
  const PhaseTable* rest = &slice_.table;
  const auto leave_rest_of = [&](const Decoration& step) {
    if (step.decorator) rest = &step.rest;
  };
  if (!elsewhere.is_on_device) {
    combined = combined_for(made_.settled_options, layout);
    leave_rest_of(combined);
    near = near_messages_for(*rest, layout);
    leave_rest_of(near);
  }
  const bool may_combine = !elsewhere.is_on_device && rest == &slice_.table;
  std::vector<RivalParts> of_rivals = parts_of_rivals(layout, may_combine);
  Bound exchange;
  all_or_none(comm(), [&] {
    exchange = new_exchange();
    prepare(*exchange);
    const bool has_rest = near.decorator ? near.has_rest : !combined.decorator || combined.has_rest;
    if (has_rest)
      exchange->run = bind_methods(*exchange, *rest, are_fields, layout, elsewhere, std::move(of_rivals));
    for (Decoration* const step : {&near, &combined})
      if (step->decorator)
        exchange->run = step->decorator->around(std::move(exchange->run), comm().rank(), exchange->arrivals);
    exchange->info.combined = std::move(combined.says);
    exchange->info.shared_memory = std::move(near.says);
  });
  return finish(std::move(exchange));
}

Plan::Binder::Bound Plan::Binder::bind_fields(std::span<const SendField> send,
                                              std::span<const ReceiveField> receive,
                                              const Elsewhere& elsewhere) {
  const Layout layout =
      layout_of(comm(), slice_, send, receive, plan_.tags->next, made_.info.staged_bytes > 0);
  return bind_layout(true, layout, elsewhere, [&](Exchange::State& exchange) {
    set_sources(exchange.arrivals, slice_.receive_from);
    exchange.self_message = make_self_message(slice_.table, layout);
  });
}

/// Binds messages. If any rank has a message that is not contiguous bytes, all ranks bind their messages like
/// fields.
Plan::Binder::Bound Plan::Binder::bind_checked(const Layout& given, bool are_buffers,
                                               const Elsewhere& elsewhere) {
  int has_gaps = are_buffers || are_plain(given) ? 0 : 1;
  if (!are_buffers) all_reduce(comm(), MPI_IN_PLACE, &has_gaps, 1, MPI_INT, MPI_MAX);
  if (has_gaps != 0) {
    const Layout layout = layout_of(comm(), given, plan_.tags->next);
    return bind_layout(true, layout, elsewhere, [&](Exchange::State& exchange) {
      set_sources(exchange.arrivals, slice_.receive_from);
      exchange.self_message = make_self_message(slice_.table, layout);
    });
  }
  Layout layout;
  all_or_none(comm(), [&] { layout = layout_of_bytes(given, made_.lists_twice); });
  return bind_layout(false, layout, elsewhere, [&](Exchange::State& exchange) {
    set_sources(exchange.arrivals, slice_.receive_from, given);
    exchange.self_message = make_self_message(slice_.table, layout);
  });
}

Plan::Binder::Bound Plan::Binder::bind_messages(const Layout& given, bool are_buffers, bool is_in_place) {
  return on_device_ ? bind_device_messages(given, are_buffers, is_in_place)
                    : bind_checked(given, are_buffers);
}

Plan::Binder::Bound Plan::Binder::buffers(std::span<const SendBuffer> send,
                                          std::span<const ReceiveBuffer> receive) {
  Layout given;
  all_or_none(comm(), [&] { given = given_buffers(slice_, send, receive); });
  return bind_messages(given, true);
}

Plan::Binder::Bound Plan::Binder::array(const SendArray& send, const ReceiveArray& receive) {
  Layout given;
  all_or_none(comm(), [&] { given = given_array(slice_, send, receive); });
  return bind_messages(given, true);
}

Plan::Binder::Bound Plan::Binder::fields(std::span<const SendField> send,
                                         std::span<const ReceiveField> receive) {
  return on_device_ ? bind_device_fields(send, receive) : bind_fields(send, receive);
}

Plan::Binder::Bound Plan::Binder::messages(std::span<const Outgoing> sends,
                                           std::span<const Incoming> receives, bool is_in_place) {
  Layout given;
  std::vector<std::size_t> indices;
  all_or_none(comm(), [&] {
    given = given_messages(slice_, sends, receives, indices);
    if (made_.settled_options.parts)
      called_with_ = {partners_of(places_of(sends)), partners_of(places_of(receives))};
  });
  Bound exchange = bind_messages(given, false, is_in_place);
  exchange->arrivals.number_sources(indices);
  return exchange;
}

Plan::Binder::Bound Plan::Binder::in_place(std::span<const Incoming> all) {
  std::vector<Incoming> messages;
  std::vector<Outgoing> sends;
  std::vector<std::byte> memory;
  all_or_none(comm(), [&] {
    if (made_.settled_options.parts)
      throw Error(ErrorCode::not_applicable, "option parts cannot be combined with an exchange in place");
    stage(all, comm().rank(), comm().num_ranks(), messages, sends, memory);
    if (!any_on_device({}, messages)) return;
    memory.clear();  // the copy on the device is enough
    for (std::size_t i = 0; i < sends.size(); ++i)
      sends[i] = {messages[i].from, messages[i].data, messages[i].count, messages[i].type};
  });
  Bound exchange = this->messages(sends, messages, true);
  if (memory.empty()) return exchange;
  PhaseTable to_itself;
  to_itself.rank = comm().rank();
  to_itself.sources = {{comm().rank(), std::ssize(memory)}};
  exchange->self_message = make_self_message(to_itself, layout_of_staged(messages, memory, comm().rank()));
  exchange->staged = std::move(memory);
  return exchange;
}

}  // namespace nuice::mpi
