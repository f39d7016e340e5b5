// SPDX-License-Identifier: BSD-3-Clause
// The serial executor of broadcasts. It reads the slices only, and follows who has the message.
// O(steps * ranks) time and the copies.
#include <cstring>
#include <string>

#include "nuice/error.hpp"
#include "nuice/exchange.hpp"

namespace nuice {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& text) {
  throw Error(code, "broadcast_serially: " + text);
}

[[noreturn]] void fail_at(std::uint32_t step, Rank src, Rank dst, const std::string& text) {
  fail(ErrorCode::mismatch, "step " + std::to_string(step) + ", rank " + std::to_string(src) + " -> rank " +
                                std::to_string(dst) + ": " + text);
}

void check_tables(std::span<const BroadcastTable> tables) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const BroadcastTable& table = tables[i];
    const bool fits = static_cast<std::size_t>(table.rank) == i &&
                      static_cast<std::size_t>(table.num_ranks) == tables.size() &&
                      table.root == tables[0].root && table.num_steps == tables[0].num_steps;
    if (!fits) fail(ErrorCode::mismatch, "table " + std::to_string(i) + " does not belong to the others");
  }
}

void check_buffers(std::span<const BroadcastTable> tables, std::span<const ReceiveBuffer> buffers,
                   Bytes bytes) {
  if (buffers.size() != tables.size())
    fail(ErrorCode::invalid_argument,
         std::to_string(tables.size()) + " tables, but " + std::to_string(buffers.size()) + " buffers");
  if (bytes < 0) fail(ErrorCode::invalid_argument, "the size is negative: " + std::to_string(bytes));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!tables[i].takes_part() || bytes == 0) continue;
    if (buffers[i].data == nullptr)
      fail(ErrorCode::invalid_argument, "rank " + std::to_string(i) + ": the buffer is null");
    if (buffers[i].bytes < bytes)
      fail(ErrorCode::invalid_argument, "rank " + std::to_string(i) + ": the buffer has " +
                                            std::to_string(buffers[i].bytes) + " bytes, the message has " +
                                            std::to_string(bytes));
  }
}

}  // namespace

void broadcast_serially(std::span<const BroadcastTable> tables, std::span<const ReceiveBuffer> buffers,
                        Bytes bytes) {
  check_tables(tables);
  check_buffers(tables, buffers, bytes);
  if (tables.empty()) return;
  const std::uint32_t num_steps = tables[0].num_steps;
  std::vector<std::uint32_t> has_it_from(tables.size(),
                                         num_steps + 1);  // the step in which it may send it first
  if (const auto root = static_cast<std::size_t>(tables[0].root); root < tables.size()) has_it_from[root] = 0;
  for (std::uint32_t step = 0; step < num_steps; ++step) {
    for (const BroadcastTable& from : tables) {
      for (const auto& [send_step, dst] : from.sends) {
        if (send_step != step) continue;
        const auto src_index = static_cast<std::size_t>(from.rank);
        const auto dst_index = static_cast<std::size_t>(dst);
        const bool is_expected =
            dst_index < tables.size() && tables[dst_index].receive == BroadcastStep{step, from.rank};
        if (!is_expected) fail_at(step, from.rank, dst, "a send without its receive");
        if (has_it_from[src_index] > step)
          fail_at(step, from.rank, dst, "the sender does not have the message");
        if (has_it_from[dst_index] <= num_steps) fail_at(step, from.rank, dst, "the receiver has it already");
        if (bytes > 0)
          std::memcpy(buffers[dst_index].data, buffers[src_index].data, static_cast<std::size_t>(bytes));
        has_it_from[dst_index] = step + 1;
      }
    }
  }
  for (const BroadcastTable& to : tables)
    if (to.receive && has_it_from[static_cast<std::size_t>(to.rank)] > num_steps)
      fail_at(to.receive->step, to.receive->partner, to.rank, "a receive without its send");
}

}  // namespace nuice
