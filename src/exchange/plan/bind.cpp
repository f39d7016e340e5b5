// SPDX-License-Identifier: BSD-3-Clause
// Binds a plan to memory: the layout of what was given, and the executor's run of it.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/names.hpp"
#include "exchange/bind/buffers.hpp"
#include "exchange/bind/fields.hpp"
#include "exchange/bind/messages.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/exec/parts.hpp"
#include "exchange/exec/reports.hpp"
#include "exchange/exec/run.hpp"
#include "exchange/plan/plan_state.hpp"
#include "exchange/shared_memory/near_run.hpp"
#include "flow/process.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// One, or as many as the rank lists itself.
std::vector<SelfCopy> self_copies(const PhaseTable& table, const BufferLayout& layout) {
  const auto self = std::ranges::find(table.sources, table.rank, &Partner::rank);
  if (self == table.sources.end()) return {};
  Places from;
  Places to;
  layout.find_to_send(table.rank, 0, self->bytes, from);
  layout.find_to_receive(table.rank, 0, self->bytes, to);
  std::vector<SelfCopy> copies;
  for (std::size_t i = 0; i < from.size(); ++i)
    copies.push_back({from[i].at, to[i].at, static_cast<std::size_t>(from[i].count)});
  return copies;
}

/// Of messages that are not buffers of bytes.
void set_no_places(Arrivals& arrivals, std::span<const Partner> sources) {
  arrivals.set_sources(sources, std::vector<std::span<std::byte>>(sources.size()));
}

Direction direction_of(bool is_backwards) {
  return is_backwards ? Direction::backwards : Direction::forwards;
}

/// Below every MPI's limit for messages that are sent without asking (64 KiB in Open MPI).
constexpr Bytes chunk_bytes_over_tcp = 32 << 10;

RunSettings with_options(RunSettings settings, const PlanOptions& options) {
  settings.max_sends = options.async.max_sends;
  if (options.async.chunk_bytes > 0) settings.chunk_bytes = options.async.chunk_bytes;
  settings.phases_in_flight = options.phased.in_flight;
  settings.early_bytes = options.depend.early_bytes;
  return settings;
}

}  // namespace

std::unique_ptr<Exchange::State> Plan::State::new_exchange() const {
  auto exchange = std::make_unique<Exchange::State>();
  exchange->comm = comm;
  exchange->watchdog_s = settled_options.watchdog_s;
  exchange->watches_deaths = tells_of_deaths();
  exchange->self_tag = tags->next;
  return exchange;
}

Combined Plan::State::combined_for(const PlanOptions& options, const Way& way, const Layout& layout) {
  if (!group || !options.combine) return {};
  const auto between = tags->comm;
  const int tag = tags->next;
  take_tags(tags->comm, tags->next);
  comm = tags->comm;
  Combined combined = combine(between, tag, {group, options.combining.largest_bytes}, way, layout);
  if (combined.parts && is_over_tcp) combined.parts->chunk_bytes = chunk_bytes_over_tcp;
  return combined;
}

NearMessages Plan::State::near_messages_for(const Way& way, const Combined& combined, const Layout& layout) {
  if (!info.shared_memory) return {};
  const bool forwards = info.staged_bytes > 0;
  if (forwards)
    return {.parts = {}, .rest = {}, .has_rest = true, .says = "none: the schedule forwards messages"};
  const auto of_progress = tags->comm;
  const int tag = tags->next;
  take_tags(tags->comm, tags->next);
  comm = tags->comm;
  const PhaseTable& left = combined.parts ? combined.rest : way.table;
  return find_near_messages(of_progress, tag, host_ranks, settled_options.sharing.largest_bytes,
                            {left, way.send_to, way.receive_from}, layout);
}

std::vector<Plan::State::RivalParts> Plan::State::parts_of_rivals(const Way& way, const Layout& layout,
                                                                  bool may_combine) {
  std::vector<RivalParts> parts;
  for (std::size_t i = 0; !rivals.empty() && i <= rivals.size(); ++i) {
    parts.push_back({.tags = *tags, .combined = {}});
    take_tags(tags->comm, tags->next);
    comm = tags->comm;
    if (may_combine && i < rivals.size() && rivals[i].combines)
      parts.back().combined = combined_for(rivals[i].options, way, layout);
  }
  return parts;
}

std::unique_ptr<Run> Plan::State::bind_methods(Exchange::State& exchange, const PhaseTable& rest,
                                               BindCall call, const Layout& layout,
                                               const RunSettings& settings,
                                               std::vector<RivalParts> of_rivals) const {
  const auto bind_to = [&](Arrivals& arrivals) {
    return find_runnable_executor(info.executor).bind({comm, rest, layout, arrivals, tags->next, settings});
  };
  if (rivals.empty()) return bind_to(exchange.arrivals);
  std::vector<BoundMethod> methods;
  const auto add = [&](const std::string& scheduler, std::string_view executor, const std::string& options,
                       std::unique_ptr<Arrivals> arrivals, std::unique_ptr<Run> run) {
    methods.push_back({.scheduler = scheduler,
                       .executor = std::string(executor),
                       .options = options,
                       .arrivals = std::move(arrivals),
                       .run = std::move(run)});
  };
  const auto new_arrivals = [&] { return std::make_unique<Arrivals>(exchange.arrivals.for_same_sources()); };
  const bool is_backwards = call.direction == Direction::backwards;
  auto of_first = new_arrivals();
  std::unique_ptr<Run> first = bind_to(*of_first);
  add(info.scheduler, info.executor, "", std::move(of_first), std::move(first));
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    const Rival& rival = rivals[i];
    // Fields of other ranks may have other bytes for a byte of the plan, which forwarding does not bear.
    if (rival.table && call.form == Form::fields) continue;
    if (settings.apart && rival.table) continue;  // the processor packs what it forwards
    auto& [its_tags, combined] = of_rivals[i];
    if (rival.combines && !combined.parts) continue;
    auto arrivals = new_arrivals();
    const PhaseTable reverse = rival.table && is_backwards ? reversed(*rival.table) : PhaseTable();
    const PhaseTable& of_table = !rival.table ? rest : is_backwards ? reverse : *rival.table;
    const PhaseTable& way = combined.parts ? combined.rest : of_table;
    std::unique_ptr<Run> run;
    if (!combined.parts || combined.has_rest)
      run = find_runnable_executor(rival.executor.name)
                .bind({its_tags.comm, way, layout, *arrivals, its_tags.next,
                       with_options(settings, rival.options)});
    if (combined.parts)
      run =
          std::make_unique<CombinedRun>(std::move(*combined.parts), comm->rank(), *arrivals, std::move(run));
    add(rival.scheduler, rival.executor.name, rival.differs_in, std::move(arrivals), std::move(run));
  }
  if (methods.size() == 1) return bind_to(exchange.arrivals);
  const TagSpace& of_reports = of_rivals.back().tags;
  return std::make_unique<LearningRun>(std::move(methods), rest, exchange.arrivals, of_reports.comm,
                                       of_reports.next, keep_choice);
}

void Plan::State::set_run(Exchange::State& exchange, const Way& way, BindCall call, const Layout& layout,
                          Combined combined, NearMessages near, const RunSettings& settings,
                          std::vector<RivalParts> of_rivals) const {
  const bool is_combined = combined.parts.has_value();
  const bool is_near = near.parts.has_value();
  const PhaseTable& rest = is_near ? near.rest : is_combined ? combined.rest : way.table;
  const bool has_rest = is_near ? near.has_rest : is_combined ? combined.has_rest : true;
  if (has_rest) exchange.run = bind_methods(exchange, rest, call, layout, settings, std::move(of_rivals));
  if (is_near)
    exchange.run =
        std::make_unique<NearRun>(std::move(*near.parts), exchange.arrivals, std::move(exchange.run));
  if (is_combined)
    exchange.run = std::make_unique<CombinedRun>(std::move(*combined.parts), comm->rank(), exchange.arrivals,
                                                 std::move(exchange.run));
  exchange.info.executor = info.executor;
  exchange.info.scheduler = info.scheduler;
  exchange.info.combined = std::move(combined.says);
  exchange.info.shared_memory = std::move(near.says);
}

Plan::State::Bound Plan::State::finish_bind(Bound exchange, const PhaseTable& way) {
  try {
    exchange->run->agree();
    if (!settled_options.trace.empty())
      exchange->arrivals.trace().open(settled_options.trace, exchange->info.executor, info.scheduler, way,
                                      *comm, tags->next);
  } catch (const Error&) {
    Exchange::State::abandon(std::move(exchange));
    throw;
  }
  if (is_over_tcp) flow::govern_process();  // what was said so far has made MPI's connections
  Reports::leave(nullptr);                  // looks after those of exchanges before
  take_tags(tags->comm, tags->next);        // of the payload, and of what the executor says besides
  return exchange;
}

template <typename Prepare>
Plan::State::Bound Plan::State::bind_parts(const Way& way, const Layout& layout, bool on_device,
                                           Prepare&& prepare) {
  Bound exchange;
  all_or_none(*comm, [&] {
    if (on_device) throw Error(ErrorCode::not_applicable, "option parts: a buffer lies in a GPU's memory");
    exchange = new_exchange();
    prepare(*exchange);
    exchange->run = std::make_unique<PartsRun>(
        Binding{comm, way.table, layout, exchange->arrivals, tags->next, {}}, way,
        OwnMessage{std::exchange(exchange->self, {}), std::exchange(exchange->self_message, {})});
    exchange->info.executor = "async";
    exchange->info.scheduler = info.scheduler;
  });
  return finish_bind(std::move(exchange), way.table);
}

template <typename Prepare>
Plan::State::Bound Plan::State::bind_layout(const Way& way, BindCall call, const Layout& layout,
                                            const Elsewhere& elsewhere, Prepare&& prepare) {
  if (settled_options.parts)
    return bind_parts(way, layout, elsewhere.is_on_device, std::forward<Prepare>(prepare));
  const PlanOptions& options = settled_options;
  Combined combined = elsewhere.is_on_device ? Combined() : combined_for(options, way, layout);
  NearMessages near = elsewhere.is_on_device ? NearMessages() : near_messages_for(way, combined, layout);
  const bool may_combine = !elsewhere.is_on_device && !combined.parts && !near.parts;
  std::vector<RivalParts> of_rivals = parts_of_rivals(way, layout, may_combine);
  Bound exchange;
  all_or_none(*comm, [&] {
    exchange = new_exchange();
    prepare(*exchange);
    const Notices backwards = reversed(notices, table.num_phases);
    const bool is_backwards = call.direction == Direction::backwards;
    RunSettings settings = with_options({.notices = is_backwards ? &backwards : &notices,
                                         .chunk_bytes = is_over_tcp ? chunk_bytes_over_tcp : 0},
                                        settled_options);
    settings.copies = elsewhere.copies;
    settings.piece_bytes = elsewhere.piece_bytes;
    settings.apart = elsewhere.is_on_device;
    set_run(*exchange, way, call, layout, std::move(combined), std::move(near), settings,
            std::move(of_rivals));
  });
  return finish_bind(std::move(exchange), way.table);
}

Plan::State::Bound Plan::State::bind_buffers(const Way& way, bool is_backwards,
                                             std::span<const SendBuffer> send,
                                             std::span<const ReceiveBuffer> receive,
                                             const Elsewhere& elsewhere) {
  std::optional<BufferLayout> layout;
  all_or_none(*comm, [&] {
    check_buffers(way, send, receive);
    layout.emplace(way, send, receive, listing.has_value());
  });
  return bind_layout(way, {Form::buffers, direction_of(is_backwards)}, *layout, elsewhere,
                     [&](Exchange::State& exchange) {
                       set_sources(exchange.arrivals, way.receive_from, receive);
                       exchange.self = self_copies(way.table, *layout);
                     });
}

Plan::State::Bound Plan::State::bind_fields(const Way& way, bool is_backwards,
                                            std::span<const SendField> send,
                                            std::span<const ReceiveField> receive,
                                            const Elsewhere& elsewhere) {
  const FieldLayout layout(*comm, way, send, receive, tags->next, info.staged_bytes > 0);
  return bind_layout(way, {Form::fields, direction_of(is_backwards)}, layout, elsewhere,
                     [&](Exchange::State& exchange) {
                       set_no_places(exchange.arrivals, way.receive_from);
                       exchange.self_message = make_self_message(way.table, layout);
                     });
}

/// As bind_fields(), of one field for each message.
Plan::State::Bound Plan::State::bind_typed(const Way& way, const CheckedMessages& messages,
                                           const Elsewhere& elsewhere) {
  const MessageLayout layout(*comm, messages, tags->next);
  return bind_layout(way, {Form::fields, Direction::forwards}, layout, elsewhere,
                     [&](Exchange::State& exchange) {
                       set_no_places(exchange.arrivals, way.receive_from);
                       exchange.self_message = make_self_message(way.table, layout);
                     });
}

Plan::State::Bound Plan::State::bind_checked(const Way& way, bool is_backwards,
                                             const CheckedMessages& messages, const Elsewhere& elsewhere) {
  int has_gaps = messages.are_plain() ? 0 : 1;
  all_reduce(*comm, MPI_IN_PLACE, &has_gaps, 1, MPI_INT, MPI_MAX);
  return has_gaps != 0 ? bind_typed(way, messages, elsewhere)
                       : bind_buffers(way, is_backwards, messages.from(), messages.to(), elsewhere);
}

Plan::State::Bound Plan::State::bind_messages(const Way& way, std::span<const Outgoing> sends,
                                              std::span<const Incoming> receives, bool on_device,
                                              bool is_in_place) {
  CheckedMessages messages;
  all_or_none(*comm, [&] { messages = CheckedMessages(way, sends, receives); });
  const Way own = {way.table, messages.destinations, way.receive_from};
  Bound exchange = on_device ? bind_device_messages(own, false, messages, is_in_place)
                             : bind_checked(own, false, messages);
  exchange->arrivals.number_sources(messages.places);
  if (auto* const parts = dynamic_cast<PartsRun*>(exchange->run.get())) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < sends.size(); ++i)
      if (bytes_of(sends[i].count, sends[i].type) > 0) places.push_back(i);
    parts->number(places, sends.size(), messages.places, receives.size());
  }
  return exchange;
}

Plan::State::Bound Plan::State::bind_in_place(const Way& way, std::span<const Incoming> all, bool on_device) {
  std::vector<Incoming> messages;
  std::vector<Outgoing> sends;
  std::vector<std::byte> memory;
  all_or_none(*comm, [&] {
    if (settled_options.parts)
      throw Error(ErrorCode::not_applicable, "option parts: what is exchanged in place leaves at once");
    stage(all, comm->rank(), comm->num_ranks(), messages, sends, memory);
    if (!any_on_device({}, messages)) return;
    memory.clear();  // what the device copies is enough
    for (std::size_t i = 0; i < sends.size(); ++i)
      sends[i] = {messages[i].from, messages[i].data, messages[i].count, messages[i].type};
  });
  Bound exchange = bind_messages(way, sends, messages, on_device, true);
  if (memory.empty()) return exchange;
  PhaseTable to_itself;
  to_itself.rank = comm->rank();
  to_itself.sources = {{comm->rank(), std::ssize(memory)}};
  exchange->self_message = make_self_message(to_itself, StagedLayout(messages, memory));
  exchange->staged = std::move(memory);
  return exchange;
}

/// bind(plan, way, is_backwards), once all ranks are known to bind the same.
template <typename Bind>
Exchange Plan::State::binding(State* plan, const BindCall& call, Bind&& bind) {
  if (plan == nullptr) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  require_running("bind()");
  const bool on_device = plan->member.require_same(call);
  plan->comm = plan->tags->comm;  // another one where its tags ran out
  const auto kept = plan->comm;
  return naming_dead_ranks(*kept, [&] {
    const std::span<const Partner> destinations = plan->listed_destinations();
    const std::span<const Partner> sources = plan->listed_sources();
    if (call.direction == Direction::forwards)
      return Exchange(bind(*plan, Way{plan->table, destinations, sources}, false, on_device));
    PhaseTable table_back;
    all_or_none(*kept, [&] { table_back = reversed(plan->table); });
    return Exchange(bind(*plan, Way{table_back, sources, destinations}, true, on_device));
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
  return State::binding(state_.get(), {Form::buffers, direction, any_on_device(send, receive)},
                        [&](State& plan, const Way& way, bool is_backwards, bool on_device) {
                          return on_device ? plan.bind_device_buffers(way, is_backwards, send, receive)
                                           : plan.bind_buffers(way, is_backwards, send, receive);
                        });
}

Exchange Plan::bind(const SendArray& send, const ReceiveArray& receive, Direction direction) {
  return State::binding(state_.get(), {Form::array, direction, any_on_device(send, receive)},
                        [&](State& plan, const Way& way, bool is_backwards, bool on_device) {
                          std::vector<SendBuffer> from;
                          std::vector<ReceiveBuffer> to;
                          all_or_none(*plan.comm, [&] {
                            from = buffers_in(send, way.send_to, way.table.rank);
                            to = buffers_in(receive, way.receive_from, way.table.rank);
                          });
                          return on_device ? plan.bind_device_buffers(way, is_backwards, from, to)
                                           : plan.bind_buffers(way, is_backwards, from, to);
                        });
}

Exchange Plan::bind(std::span<const SendField> send, std::span<const ReceiveField> receive,
                    Direction direction) {
  return State::binding(state_.get(), {Form::fields, direction, any_on_device(send, receive)},
                        [&](State& plan, const Way& way, bool is_backwards, bool on_device) {
                          return on_device ? plan.bind_device_fields(way, is_backwards, send, receive)
                                           : plan.bind_fields(way, is_backwards, send, receive);
                        });
}

Exchange Plan::bind_messages(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  return State::binding(state_.get(), {Form::messages, {}, any_on_device(sends, receives)},
                        [&](State& plan, const Way& way, bool, bool on_device) {
                          return plan.bind_messages(way, sends, receives, on_device);
                        });
}

Exchange Plan::bind_in_place(std::span<const Incoming> messages) {
  return State::binding(state_.get(), {Form::messages, {}, any_on_device({}, messages)},
                        [&](State& plan, const Way& way, bool, bool on_device) {
                          return plan.bind_in_place(way, messages, on_device);
                        });
}

}  // namespace nuice::mpi
