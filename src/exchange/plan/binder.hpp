// SPDX-License-Identifier: BSD-3-Clause
// Binds one direction of a plan to memory, on all ranks together: a pipeline from what the user gives to an exchange.
//
//   buffers, messages, fields     checked; where any of it lies on a device, their mirrors (bind_by_device)
//   Layout                        where the bytes lie
//   steps                         combine, host memory: each takes some messages out of the table, as a Decoration
//   methods                       an executor for what is left, or all that are tried
//   decorators                    around these, the last step's first
//   trace, watch                  what the exchange notes, and how long it waits
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/bind/binding.hpp"
#include "exchange/bind/layout.hpp"
#include "exchange/bind/messages.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/exec/outer_run.hpp"
#include "exchange/plan/bind_devices.hpp"
#include "exchange/plan/planner.hpp"

namespace nuice::mpi {

class Plan::Binder {
 public:
  using Bound = std::unique_ptr<Exchange::State>;

  /// slice: in the direction of the call. on_device: any memory of any rank.
  Binder(State& plan, const Slice& slice, Direction direction, bool on_device)
      : plan_(plan), made_(*plan.made), slice_(slice), direction_(direction), on_device_(on_device) {}

  /// bind(binder), once all ranks are known to bind the same plan alike. plan: null if it has moved away.
  template <typename Bind>
  static Exchange bind_same(State* plan, const BindCall& call, Bind&& bind);

  Bound buffers(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive);
  Bound array(const SendArray& send, const ReceiveArray& receive);
  Bound fields(std::span<const SendField> send, std::span<const ReceiveField> receive);
  Bound messages(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                 bool is_in_place = false);
  Bound in_place(std::span<const Incoming> messages);

 private:
  /// What binding needs of a rival, and at the end, tags of their reports.
  struct RivalParts {
    TagSpace tags;
    Decoration combined;
  };
  const Communicator& comm() const { return *plan_.comm; }
  /// Collective where they run out.
  TagSpace take_tags();
  Bound new_exchange() const;
  /// Wherever the memory lies. are_buffers: all of it is known to be bytes.
  Bound bind_messages(const Layout& given, bool are_buffers, bool is_in_place = false);
  Bound bind_checked(const Layout& given, bool are_buffers, const Elsewhere& elsewhere = {});
  Bound bind_fields(std::span<const SendField> send, std::span<const ReceiveField> receive,
                    const Elsewhere& elsewhere = {});
  /// What all of these end with. prepare(exchange): what differs.
  template <typename Prepare>
  Bound bind_layout(bool are_fields, const Layout& layout, const Elsewhere& elsewhere, Prepare&& prepare);
  /// With the option parts.
  template <typename Prepare>
  Bound bind_parts(const Layout& layout, bool on_device, Prepare&& prepare);
  Bound finish(Bound exchange) const;

  // The steps. Collective, with tags of their own.
  Decoration combined_for(const PlanOptions& options, const Layout& layout);
  Decoration near_messages_for(const PhaseTable& table, const Layout& layout);
  std::vector<RivalParts> parts_of_rivals(const Layout& layout, bool may_combine);
  /// Not collective. By the plan's executor, or by all that are tried.
  std::unique_ptr<Run> bind_methods(Exchange::State& exchange, const PhaseTable& rest, bool are_fields,
                                    const Layout& layout, const Elsewhere& elsewhere,
                                    std::vector<RivalParts> of_rivals) const;
  std::unique_ptr<Run> bind_rival(const Rival& rival, RivalParts& parts, const Layout& layout,
                                  const Elsewhere& elsewhere, Arrivals& arrivals) const;

  /// Where the memory of any rank lies on a device (bind_by_device.cpp). bind(run, elsewhere): binds to the mirrors of the run.
  template <typename Bind>
  Bound bind_by_device(const DeviceSides& sides, Bound exchange, Bind&& bind);
  Bound bind_device_messages(const Layout& given, bool are_buffers, bool is_in_place);
  Bound bind_device_fields(std::span<const SendField> send, std::span<const ReceiveField> receive);

  State& plan_;
  const Made& made_;
  const Slice& slice_;
  Direction direction_;
  bool on_device_;
  std::optional<std::vector<Partner>> send_to_;  // of messages: as they are given, instead of the slice's
};

}  // namespace nuice::mpi
