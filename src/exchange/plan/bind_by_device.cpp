// SPDX-License-Identifier: BSD-3-Clause
// Binds exchanges with buffers on a device: staged, direct, or both. If both, the exchanges find out which is
// faster.
#include <optional>
#include <utility>
#include <vector>

#include "exchange/bind/fields.hpp"
#include "exchange/learn/learning_run.hpp"
#include "exchange/plan/binder.hpp"
#include "mpi/agree.hpp"

namespace nuice::mpi {

template <typename Bind>
Plan::Binder::Bound Plan::Binder::bind_by_device(const DeviceSides& sides, Bound exchange, Bind&& bind) {
  const PhaseTable& table = slice_.table;
  const auto [chooses, chunk_bytes] = made_.settled_options.device;
  const DeviceDecision decision = decide_on_devices(
      comm(), sides, chooses, made_.info.staged_bytes > 0 ? "the schedule forwards messages" : "");
  const TagSpace of_faults = take_tags();
  if (comm().num_ranks() > 1) exchange->faults = std::make_unique<Faults>(of_faults.comm, of_faults.next);
  std::vector<BoundMethod> methods;
  for (const bool is_direct : {false, true}) {
    if (is_direct ? !decision.tries_direct : !decision.tries_staged) continue;
    const bool is_only = decision.tries_direct != decision.tries_staged;
    BoundMethod& method = methods.emplace_back();
    method.options = is_direct ? "device=direct" : "device=staged";
    method.arrivals = std::make_unique<Arrivals>(exchange->arrivals.for_same_sources());
    std::unique_ptr<DeviceRun> run;
    DeviceRun* made = nullptr;
    all_or_none(comm(), [&] {
      run = std::make_unique<DeviceRun>(
          device_parts(sides, table, plan_.view.near, is_direct, chunk_bytes, decision.why), table.sources,
          table.rank, is_only ? exchange->arrivals : *method.arrivals, exchange->streams,
          exchange->faults.get());
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
    const TagSpace of_reports = take_tags();
    all_or_none(comm(), [&] {
      exchange->run =
          learn_between(std::move(methods), table, exchange->arrivals, of_reports.comm, of_reports.next);
    });
  }
  exchange->run->describe(exchange->info);
  for (const Partner& source : table.sources)
    if (source.rank == table.rank && source.bytes > 0) exchange->self_is_copied_by_run = true;
  return exchange;
}

Plan::Binder::Bound Plan::Binder::bind_device_messages(const Layout& given, bool are_buffers,
                                                       bool is_in_place) {
  DeviceSides sides;
  Bound exchange;
  all_or_none(comm(), [&] {
    sides.send_to = partners_of(given.send);
    sides.receive_from = slice_.receive_from;
    sides.send = items_of(given.send);
    sides.receive = items_of(given.receive);
    sides.locate(slice_.table.rank);
    sides.is_in_place = is_in_place;
    exchange = new_exchange();
    if (are_plain(given))
      set_sources(exchange->arrivals, slice_.receive_from, given);
    else
      set_sources(exchange->arrivals, slice_.receive_from);
  });
  return bind_by_device(sides, std::move(exchange), [&](const DeviceRun& run, const Elsewhere& elsewhere) {
    Layout here;
    here.send = mirrored(run.sends(), given.send);
    here.receive = mirrored(run.receives(), given.receive);
    Bound inner = bind_checked(here, are_buffers, elsewhere);
    if (run.copies_self()) inner->self_message.reset();
    return inner;
  });
}

Plan::Binder::Bound Plan::Binder::bind_device_fields(std::span<const SendField> send,
                                                     std::span<const ReceiveField> receive) {
  DeviceSides sides;
  Bound exchange;
  all_or_none(comm(), [&] {
    const Rank rank = slice_.table.rank;
    sides.send_to = slice_.send_to;
    sides.receive_from = slice_.receive_from;
    sides.send = items_of(FieldSide(slice_.send_to, send, true, rank));
    sides.receive = items_of(FieldSide(slice_.receive_from, receive, false, rank));
    sides.locate(rank);
    exchange = new_exchange();
    set_sources(exchange->arrivals, slice_.receive_from);
  });
  return bind_by_device(sides, std::move(exchange), [&](const DeviceRun& run, const Elsewhere& elsewhere) {
    MirroredFields<SendField> from;
    MirroredFields<ReceiveField> to;
    all_or_none(comm(), [&] {
      from = mirrored_fields(run.sends(), send);
      to = mirrored_fields(run.receives(), receive);
    });
    Bound inner = bind_fields(from.fields, to.fields, elsewhere);
    if (run.copies_self()) inner->self_message.reset();
    return inner;
  });
}

}  // namespace nuice::mpi
