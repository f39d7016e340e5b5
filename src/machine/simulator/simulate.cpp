// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/plan/simulate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/support/table.hpp"
#include "machine/simulator/engine.hpp"
#include "machine/simulator/program.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

using machine::Engine;
using machine::TransferId;

void require_room(const CommMatrix& matrix, const Machine& machine) {
  require_valid(machine);
  const std::string reason = why_too_small(*machine.topology, matrix.num_ranks());
  if (!reason.empty()) throw Error(ErrorCode::mismatch, "machine " + machine.name + ": " + reason);
}

Bytes bytes_of(const CommMatrix& matrix, const auto& ids) {
  Bytes sum = 0;
  for (const MessageId id : ids) sum += matrix.bytes(id);
  return sum;
}

/// Whether the system copies messages in addition to the user's buffers (Machine::async_copies).
struct Copies {
  bool out = false;  // of outgoing messages, because all sends are active at once
  bool in = false;   // of incoming messages, because all receives are posted at once
};
Pace simulated_pace(std::string_view executor) {
  const Executor& row = find_executor(executor);
  if (row.needs_schedule() && row.is_simulated()) return row.pace;
  std::string known;
  for (const Executor& other : executors())
    if (other.needs_schedule() && other.is_simulated())
      known += (known.empty() ? "" : ", ") + std::string(other.name);
  throw Error(ErrorCode::invalid_argument, "executor \"" + std::string(executor) +
                                               "\" cannot be simulated with a schedule; " + known + " can");
}

/// Returns, for each rank, the factor by which its port is slower on average because a part of its messages
/// exceeds the memory limit.
std::vector<double> slowdowns(const CommMatrix& matrix, const Machine& machine, Copies copies) {
  const double out_times = copies.out && machine.async_copies ? 2 : 1;
  const double in_times = copies.in && machine.async_copies ? 2 : 1;
  const auto limit = static_cast<double>(machine.memory_limit);
  std::vector<double> result;
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    const auto out = static_cast<double>(bytes_of(matrix, matrix.sent_by(rank)));
    const auto in = static_cast<double>(bytes_of(matrix, matrix.received_by(rank)));
    const double held = out * out_times + in * in_times;
    const double above = held > limit ? 1 - limit / held : 0;
    result.push_back(1 + (machine.memory_slowdown - 1) * above);
  }
  return result;
}

}  // namespace

Simulation simulate(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                    const SimulationOptions& options) {
  require_room(matrix, machine);
  const Pace pace = simulated_pace(options.executor);
  if (schedule.num_ranks() != matrix.num_ranks()) {
    throw Error(ErrorCode::mismatch, "the schedule has " + std::to_string(schedule.num_ranks()) +
                                         " ranks, the matrix " + std::to_string(matrix.num_ranks()));
  }
  const bool all_at_once = pace == Pace::at_once;
  Engine engine(machine, machine::compile(matrix, schedule, machine, pace, options.blocking_sends),
                slowdowns(matrix, machine, {.out = all_at_once, .in = all_at_once}), options.record_timeline);
  std::vector<Bytes> delivered(matrix.num_messages());
  Simulation result = engine.run([&](TransferId id) {
    const Transfer transfer = schedule.transfer(id);
    for (const Piece piece : transfer.pieces) {
      if (matrix.dst(piece.message) == transfer.dst) delivered[piece.message] += piece.bytes;
    }
  });
  result.delivered = std::move(delivered);
  return result;
}

Simulation simulate_drs_n(const CommMatrix& matrix, const Machine& machine, const DrsOptions& options) {
  require_room(matrix, machine);
  if (machine.am_send_s + machine.am_latency_s + machine.am_handler_s <= 0) {
    throw Error(ErrorCode::not_applicable,
                "drs_n: on the machine " + machine.name + " an active message takes no time");
  }
  Random random(options.seed);
  std::vector<std::vector<TransferId>> to_send(static_cast<std::size_t>(matrix.num_ranks()));
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    auto& list = to_send[static_cast<std::size_t>(rank)];
    const auto ids = matrix.sent_by(rank);
    list.assign(ids.begin(), ids.end());
    random.shuffle(std::span(list));
  }
  Engine engine(machine, machine::compile_drs_n(matrix, machine), slowdowns(matrix, machine, {.in = true}),
                options.record_timeline);
  engine.set_handshakes(
      {.to_send = std::move(to_send), .retry_delay_s = options.retry_delay_s.value_or(machine.am_retry_s)});
  std::vector<Bytes> delivered(matrix.num_messages());
  Simulation result = engine.run([&](TransferId id) { delivered[id] = matrix.bytes(id); });
  result.delivered = std::move(delivered);
  return result;
}

}  // namespace nuice
