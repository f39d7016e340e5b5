// SPDX-License-Identifier: BSD-3-Clause
// The exchanges of a plan whose buffers lie on a device: staged, direct, or both, of which the exchanges themselves show the better.
#include <utility>
#include <vector>

#include "exchange/bind/buffers.hpp"
#include "exchange/bind/messages.hpp"
#include "exchange/plan/bind_devices.hpp"
#include "exchange/plan/plan_state.hpp"
#include "mpi/agree.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

std::string Plan::State::why_not_direct() const {
  if (info.staged_bytes > 0) return "the schedule forwards messages";
  return {};
}

template <typename Bind>
Plan::State::Bound Plan::State::bind_by_device(const Way& way, const DeviceSides& sides, Bound exchange,
                                               Bind&& bind) {
  const auto [chooses, chunk_bytes] = settled_options.device;
  const DeviceDecision decision = decide_on_devices(*comm, sides, way, chooses, why_not_direct());
  std::vector<BoundMethod> methods;
  for (const bool is_direct : {false, true}) {
    if (is_direct ? !decision.tries_direct : !decision.tries_staged) continue;
    const bool is_only = decision.tries_direct != decision.tries_staged;
    BoundMethod& method = methods.emplace_back();
    method.options = is_direct ? "device=direct" : "device=staged";
    method.arrivals = std::make_unique<Arrivals>(exchange->arrivals.for_same_sources());
    std::unique_ptr<DeviceRun> run;
    DeviceRun* made = nullptr;
    all_or_none(*comm, [&] {
      run = std::make_unique<DeviceRun>(device_parts(sides, way, is_direct, chunk_bytes, decision.why),
                                        way.table.sources, way.table.rank,
                                        is_only ? exchange->arrivals : *method.arrivals, exchange->streams);
      made = run.get();
    });
    const bool tells = !is_direct && run->has_mirrors();
    Bound inner = bind(*run, Elsewhere{tells ? made : nullptr, is_direct ? 0 : chunk_bytes, is_direct});
    method.scheduler = inner->info.scheduler;
    method.executor = inner->info.executor;
    exchange->info = inner->info;
    run->carry_out_by(std::move(inner));
    method.run = std::move(run);
  }
  if (methods.size() == 1) {
    exchange->run = std::move(methods[0].run);
  } else {
    const TagSpace of_reports = *tags;
    take_tags(tags->comm, tags->next);
    comm = tags->comm;
    all_or_none(*comm, [&] {
      exchange->run = std::make_unique<LearningRun>(std::move(methods), way.table, exchange->arrivals,
                                                    of_reports.comm, of_reports.next, KeepChoice());
    });
    exchange->run->agree();
  }
  exchange->run->describe(exchange->info);
  for (const Partner& source : way.table.sources)
    if (source.rank == way.table.rank && source.bytes > 0) exchange->self_is_copied_by_run = true;
  return exchange;
}

Plan::State::Bound Plan::State::bind_device_buffers(const Way& way, bool is_backwards,
                                                    std::span<const SendBuffer> send,
                                                    std::span<const ReceiveBuffer> receive) {
  CheckedMessages messages;
  all_or_none(*comm, [&] {
    check_buffers(way, send, receive);
    messages.destinations.assign(way.send_to.begin(), way.send_to.end());
    for (std::size_t i = 0; i < way.send_to.size(); ++i)
      messages.sends.push_back({way.send_to[i].rank, send[i].data, way.send_to[i].bytes});
    for (std::size_t i = 0; i < way.receive_from.size(); ++i)
      messages.receives.push_back({way.receive_from[i].rank, receive[i].data, way.receive_from[i].bytes});
  });
  return bind_device_messages(way, is_backwards, messages, false);
}

Plan::State::Bound Plan::State::bind_device_messages(const Way& way, bool is_backwards,
                                                     const CheckedMessages& messages, bool is_in_place) {
  DeviceSides sides;
  Bound exchange;
  all_or_none(*comm, [&] {
    sides.send = items_of(std::span(messages.sends));
    sides.receive = items_of(std::span(messages.receives));
    sides.locate(way.table.rank);
    sides.is_in_place = is_in_place;
    exchange = new_exchange();
    if (messages.are_plain())
      set_sources(exchange->arrivals, way.receive_from, messages.to());
    else
      exchange->arrivals.set_sources(way.receive_from,
                                     std::vector<std::span<std::byte>>(way.receive_from.size()));
  });
  return bind_by_device(way, sides, std::move(exchange),
                        [&](const DeviceRun& run, const Elsewhere& elsewhere) {
                          CheckedMessages here = messages;
                          here.sends = mirrored(run.sends(), std::span(messages.sends));
                          here.receives = mirrored(run.receives(), std::span(messages.receives));
                          auto inner = bind_checked(way, is_backwards, here, elsewhere);
                          if (run.copies_self()) inner->self.clear(), inner->self_message.reset();
                          return inner;
                        });
}

Plan::State::Bound Plan::State::bind_device_fields(const Way& way, bool is_backwards,
                                                   std::span<const SendField> send,
                                                   std::span<const ReceiveField> receive) {
  DeviceSides sides;
  Bound exchange;
  all_or_none(*comm, [&] {
    const Rank rank = way.table.rank;
    sides.send = items_of(FieldSide(way.send_to, send, true, rank));
    sides.receive = items_of(FieldSide(way.receive_from, receive, false, rank));
    sides.locate(rank);
    exchange = new_exchange();
    exchange->arrivals.set_sources(way.receive_from,
                                   std::vector<std::span<std::byte>>(way.receive_from.size()));
  });
  return bind_by_device(way, sides, std::move(exchange),
                        [&](const DeviceRun& run, const Elsewhere& elsewhere) {
                          MirroredFields<SendField> from;
                          MirroredFields<ReceiveField> to;
                          all_or_none(*comm, [&] {
                            from = mirrored_fields(run.sends(), send);
                            to = mirrored_fields(run.receives(), receive);
                          });
                          auto inner = bind_fields(way, is_backwards, from.fields, to.fields, elsewhere);
                          if (run.copies_self()) inner->self_message.reset();
                          return inner;
                        });
}

}  // namespace nuice::mpi
