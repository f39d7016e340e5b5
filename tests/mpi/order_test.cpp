// SPDX-License-Identifier: BSD-3-Clause
// What distinguishes the executors: which rank waits for which. One rank comes late, either by
// a while, and then the ranks that must wait for it take as long; or only when another rank,
// which must not wait for it, has finished.
#include <chrono>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

constexpr double late_s = 0.2;
constexpr int token_tag = 3;

/// phases[p] lists (src, dst).
PhaseTable table_of(const std::vector<std::vector<std::pair<Rank, Rank>>>& phases) {
  std::vector<Message> messages;
  for (const auto& phase : phases)
    for (const auto& [src, dst] : phase) messages.push_back({src, dst, 8});
  const CommMatrix matrix = CommMatrix::from_messages(test::world_size(), messages);
  Schedule schedule(test::world_size());
  for (const auto& phase : phases) {
    schedule.begin_phase();
    for (const auto& [src, dst] : phase) schedule.add_whole(matrix, matrix.find(src, dst).value());
  }
  return slice(matrix, schedule, test::world_rank());
}

class Order : public testing::Test {
 protected:
  void SetUp() override {
    if (test::world_size() < 4) GTEST_SKIP() << "needs four ranks";
  }

  /// One exchange in which rank `late` starts after late_s; how long this rank needed.
  static double exchange_s(const PhaseTable& table, const mpi::PlanOptions& options, Rank late) {
    mpi::Plan plan = mpi::Plan::from_table(MPI_COMM_WORLD, table, options);
    test::BoundPlan bound(plan);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime();
    if (test::world_rank() == late) std::this_thread::sleep_for(std::chrono::duration<double>(late_s));
    bound.exchange_once();
    return MPI_Wtime() - begin_s;
  }

  /// One exchange in which rank `late` starts when rank `early` has finished. Hangs if `early` waits for
  /// `late`.
  static void exchange_in_order(const PhaseTable& table, const mpi::PlanOptions& options, Rank early,
                                Rank late) {
    mpi::Plan plan = mpi::Plan::from_table(MPI_COMM_WORLD, table, options);
    test::BoundPlan bound(plan);
    if (test::world_rank() == late)
      MPI_Recv(nullptr, 0, MPI_BYTE, early, token_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bound.exchange.start();
    bound.exchange.wait();
    if (test::world_rank() == early) MPI_Send(nullptr, 0, MPI_BYTE, late, token_tag, MPI_COMM_WORLD);
    bound.expect_received(0);
  }
};

TEST_F(Order, PhasedDoesNotWaitForOtherRanks) {
  exchange_in_order(table_of({{{0, 1}}, {{2, 3}}}), {.executor = "phased"}, 3, 1);
}

TEST_F(Order, PhasedBeginsAPhaseWhenItsOwnPartOfTheLastIsDone) {
  const PhaseTable table = table_of({{{1, 0}}, {{0, 2}}});  // 0 must hear from 1 before it sends to 2
  const double elapsed_s = exchange_s(table, {.executor = "phased"}, 1);
  if (test::world_rank() == 2) {
    EXPECT_GT(elapsed_s, 0.9 * late_s);
  }
}

TEST_F(Order, AsyncSendsAtOnce) {
  exchange_in_order(table_of({{{1, 0}}, {{0, 2}}}), {.executor = "async"}, 2, 1);
}

TEST_F(Order, AFullWindowHoldsTheNextSendBack) {
  const PhaseTable table = table_of({{{0, 1}}, {{0, 2}}, {{0, 3}}});
  const mpi::PlanOptions two = {.executor = "async", .async = {.max_sends = 2}};
  exchange_in_order(table, two, 2, 1);
  exchange_in_order(table, two, 3, 1);  // the second place of the window serves 2, then 3
  const mpi::PlanOptions one = {.executor = "async", .async = {.max_sends = 1}};
  const double elapsed_s = exchange_s(table, one, 1);
  if (test::world_rank() >= 2 && test::world_rank() <= 3) {
    EXPECT_GT(elapsed_s, 0.9 * late_s);
  }
}

}  // namespace
}  // namespace nuice
