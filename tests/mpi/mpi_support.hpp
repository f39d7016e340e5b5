// SPDX-License-Identifier: BSD-3-Clause
// What the tests under MPI share.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "exchange/payload.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/plan.hpp"
#include "support/throws.hpp"

namespace nuice::test {

using mpi::world_rank;
using mpi::world_size;

/// How often: in make test, and where more is wanted (make test-all: tests of MORE_RANKS).
inline int rounds(int usual, int thorough) {
  return std::getenv("NUICE_LONG_TESTS") == nullptr ? usual : thorough;
}

/// Returns a matrix whose phases are long because rank 0 sends one large message to rank 1. Other ranks send
/// and receive as many bytes, but in three messages. All ranks but these two exchange tiny messages.
inline CommMatrix with_one_large_message(Rank num_ranks) {
  std::vector<Message> messages;
  for (Rank src = 0; src < num_ranks; ++src)
    for (Rank dst = 0; dst < num_ranks; ++dst) {
      const Rank far = (dst - src + num_ranks) % num_ranks;
      if (src == 0 && dst == 1)
        messages.push_back({src, dst, 9000});
      else if (src != dst)
        messages.push_back({src, dst, src != 0 && dst != 1 && far <= 3 ? 3000 : 8});
    }
  return CommMatrix::from_messages(num_ranks, messages);
}

/// Rank r's row of the matrix, the message to itself included.
inline std::vector<Partner> row_of(const CommMatrix& matrix, Rank rank) {
  std::vector<Partner> row;
  for (const Message& message : matrix.entries())
    if (message.src == rank) row.push_back({message.dst, message.bytes});
  return row;
}

inline std::vector<Partner> column_of(const CommMatrix& matrix, Rank rank) {
  std::vector<Partner> column;
  for (const Message& message : matrix.entries())
    if (message.dst == rank) column.push_back({message.src, message.bytes});
  return column;
}

/// Collective. Runs the step, which must throw Error with this code on every rank, with the same text on all
/// of them, and the text must contain `part`.
template <typename Step>
void expect_same_error(ErrorCode code, const std::string& part, Step&& step) {
  std::string text;
  try {
    step();
    ADD_FAILURE() << "no error; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    text = error.what();
    EXPECT_NE(text.find(part), std::string::npos) << "error: " << text << "\nexpected: " << part;
  }
  EXPECT_EQ(text, mpi::text_of_rank_0(MPI_COMM_WORLD, text));
}

/// Not collective.
template <typename Step>
void expect_error(ErrorCode code, const std::string& part, Step&& step) {
  expect_error(step, code, {part});
}

/// A plan bound to buffers of its own, filled with the payload.
struct BoundPlan {
  mpi::Plan& plan;
  Blocks send;
  Blocks receive;
  mpi::Exchange exchange;

  explicit BoundPlan(mpi::Plan& p)
      : plan(p),
        send(payload_to_send(p.table().rank, p.destinations())),
        receive(poisoned(p.sources())),
        exchange(p.bind(send_buffers(send), receive_buffers(receive))) {}

  void refill(unsigned round) {
    const Blocks fresh = payload_to_send(plan.table().rank, plan.destinations(), round);
    for (std::size_t i = 0; i < send.size(); ++i)
      std::ranges::copy(fresh[i], send[i].begin());  // same addresses
    for (auto& block : receive) std::ranges::fill(block, poison);
  }
  void expect_received(unsigned round) const {
    EXPECT_EQ(receive, payload_expected(plan.table().rank, plan.sources(), round)) << "round " << round;
  }
  void exchange_once(unsigned round = 0) {
    refill(round);
    exchange.start();
    exchange.wait();
    expect_received(round);
  }
};

}  // namespace nuice::test
