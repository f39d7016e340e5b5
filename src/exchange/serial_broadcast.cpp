// SPDX-License-Identifier: BSD-3-Clause
// The serial executor of broadcasts. It reads the slices only, and follows who has the message.
// O(steps * ranks) time and the copies.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice {
namespace {

[[noreturn]] void fail_broadcast(ErrorCode code, const std::string& text) {
  throw Error(code, "broadcast_serially: " + text);
}

[[noreturn]] void fail_at(std::uint32_t step, Rank src, Rank dst, const std::string& text) {
  fail_broadcast(ErrorCode::mismatch, "step " + std::to_string(step) + ", rank " + std::to_string(src) +
                                          " -> rank " + std::to_string(dst) + ": " + text);
}

void check_tables(std::span<const BroadcastTable> tables) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const BroadcastTable& table = tables[i];
    const bool fits = std::cmp_equal(table.rank, i) && std::cmp_equal(table.num_ranks, tables.size()) &&
                      table.root == tables[0].root && table.num_steps == tables[0].num_steps;
    if (!fits)
      fail_broadcast(ErrorCode::mismatch, "table " + std::to_string(i) + " does not belong to the others");
  }
}

void check_buffers(std::span<const BroadcastTable> tables, std::span<const ReceiveBuffer> buffers,
                   Bytes bytes) {
  if (buffers.size() != tables.size())
    fail_broadcast(ErrorCode::invalid_argument, std::to_string(tables.size()) + " tables, but " +
                                                    std::to_string(buffers.size()) + " buffers");
  if (bytes < 0)
    fail_broadcast(ErrorCode::invalid_argument, "the size is negative: " + std::to_string(bytes));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!tables[i].takes_part() || bytes == 0) continue;
    if (buffers[i].data == nullptr)
      fail_broadcast(ErrorCode::invalid_argument, "rank " + std::to_string(i) + ": the buffer is null");
    if (buffers[i].bytes < bytes)
      fail_broadcast(ErrorCode::invalid_argument, "rank " + std::to_string(i) + ": the buffer has " +
                                                      std::to_string(buffers[i].bytes) +
                                                      " bytes, the message has " + std::to_string(bytes));
  }
}

class SerialBroadcast {
 public:
  SerialBroadcast(std::span<const BroadcastTable> tables, std::span<const ReceiveBuffer> buffers, Bytes bytes)
      : tables_(tables),
        buffers_(buffers),
        bytes_(static_cast<std::size_t>(bytes)),
        num_steps_(tables.empty() ? 0 : tables[0].num_steps),
        has_it_from_(tables.size(), never()) {
    for (const BroadcastTable& table : tables)
      if (table.rank == table.root) has_it_from_[index(table.root)] = 0;
  }

  void run() {
    for (std::uint32_t step = 0; step < num_steps_; ++step)
      for (const BroadcastTable& from : tables_)
        for (const BroadcastStep& send : from.sends)
          if (send.step == step) copy(step, from.rank, send.partner);
    for (const BroadcastTable& to : tables_)
      if (to.receive && has_it_from_[index(to.rank)] == never())
        fail_at(to.receive->step, to.receive->partner, to.rank, "a receive without its send");
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  std::uint32_t never() const { return num_steps_ + 1; }

  void copy(std::uint32_t step, Rank src, Rank dst) {
    const bool is_expected =
        index(dst) < tables_.size() && tables_[index(dst)].receive == BroadcastStep{step, src};
    if (!is_expected) fail_at(step, src, dst, "a send without its receive");
    if (has_it_from_[index(src)] > step) fail_at(step, src, dst, "the sender does not have the message");
    if (has_it_from_[index(dst)] != never()) fail_at(step, src, dst, "the receiver has it already");
    if (bytes_ > 0) std::memcpy(buffers_[index(dst)].data, buffers_[index(src)].data, bytes_);
    has_it_from_[index(dst)] = step + 1;
  }

  std::span<const BroadcastTable> tables_;
  std::span<const ReceiveBuffer> buffers_;
  std::size_t bytes_;
  std::uint32_t num_steps_;
  std::vector<std::uint32_t> has_it_from_;  // by rank: the step in which it may send the message first
};

}  // namespace

void broadcast_serially(std::span<const BroadcastTable> tables, std::span<const ReceiveBuffer> buffers,
                        Bytes bytes) {
  check_tables(tables);
  check_buffers(tables, buffers, bytes);
  SerialBroadcast(tables, buffers, bytes).run();
}

}  // namespace nuice
