// SPDX-License-Identifier: BSD-3-Clause
// Binds one direction of a plan to memory, on all ranks together. The steps from the user's memory to an
// exchange:
//
//   buffers, messages, fields     are checked, and replaced by mirrors if any memory lies on a device
//                                 (bind_by_device)
//   Layout                        says where the bytes lie
//   steps                         (combine, shared memory) each take messages out of the table (Decoration)
//   methods                       carry the other messages: one executor, or all methods that are tried
//   decorators                    are put around the methods, the last step's first
//   trace, watch                  set what the exchange records, and how long it waits
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

  /// slice: the rank's part of the plan in this direction. on_device: whether any rank has memory on a
  /// device.
  Binder(State& plan, const Slice& slice, Direction direction, bool on_device)
      : plan_(plan), made_(*plan.made), slice_(slice), direction_(direction), on_device_(on_device) {}

  /// Calls bind(binder) after checking that all ranks bind the same plan in the same way. plan: null if the
  /// Plan was moved from.
  template <typename Bind>
  static Exchange bind_same(State* plan, const BindCall& call, Bind&& bind);

  Bound buffers(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive);
  Bound array(const SendArray& send, const ReceiveArray& receive);
  Bound fields(std::span<const SendField> send, std::span<const ReceiveField> receive);
  Bound messages(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                 bool is_in_place = false);
  Bound in_place(std::span<const Incoming> messages);

 private:
  /// The parts of a rival that binding needs. The last entry of parts_of_rivals() only has the tags of the
  /// rivals' reports.
  struct RivalParts {
    TagSpace tags;
    Decoration combined;
  };
  const Communicator& comm() const { return *plan_.comm; }
  /// Collective if the tags run out.
  TagSpace take_tags();
  Bound new_exchange() const;
  /// Binds messages in host or device memory. are_buffers: whether all messages are known to be plain bytes.
  Bound bind_messages(const Layout& given, bool are_buffers, bool is_in_place = false);
  Bound bind_checked(const Layout& given, bool are_buffers, const Elsewhere& elsewhere = {});
  Bound bind_fields(std::span<const SendField> send, std::span<const ReceiveField> receive,
                    const Elsewhere& elsewhere = {});
  /// Does what the functions above have in common. prepare(exchange) does the part in which they differ.
  template <typename Prepare>
  Bound bind_layout(bool are_fields, const Layout& layout, const Elsewhere& elsewhere, Prepare&& prepare);
  /// Binds an exchange with option `parts`.
  template <typename Prepare>
  Bound bind_parts(const Layout& layout, bool on_device, Prepare&& prepare);
  Bound finish(Bound exchange) const;

  // The steps (see above). They are collective and take tags of their own.
  Decoration combined_for(const PlanOptions& options, const Layout& layout);
  Decoration near_messages_for(const PhaseTable& table, const Layout& layout);
  std::vector<RivalParts> parts_of_rivals(const Layout& layout, bool may_combine);
  /// Not collective. Binds the plan's executor, or all methods that are tried.
  std::unique_ptr<Run> bind_methods(Exchange::State& exchange, const PhaseTable& rest, bool are_fields,
                                    const Layout& layout, const Elsewhere& elsewhere,
                                    std::vector<RivalParts> of_rivals) const;
  std::unique_ptr<Run> bind_rival(const Rival& rival, RivalParts& parts, const Layout& layout,
                                  const Elsewhere& elsewhere, Arrivals& arrivals) const;

  /// Binds an exchange in which any rank has memory on a device (bind_by_device.cpp). Calls
  /// bind(run, elsewhere), which binds the plan to the run's mirrors.
  template <typename Bind>
  Bound bind_by_device(const DeviceSides& sides, Bound exchange, Bind&& bind);
  Bound bind_device_messages(const Layout& given, bool are_buffers, bool is_in_place);
  Bound bind_device_fields(std::span<const SendField> send, std::span<const ReceiveField> receive);

  State& plan_;
  const Made& made_;
  const Slice& slice_;
  Direction direction_;
  bool on_device_;
  /// The partners of all messages of the call, also those without bytes, in the order of the call.
  struct Partners {
    std::vector<Partner> send_to;
    std::vector<Partner> receive_from;
  };
  std::optional<Partners> called_with_;  // set if messages are bound with option parts
};

}  // namespace nuice::mpi
