// SPDX-License-Identifier: BSD-3-Clause
// What a plan tells, how long it lives, and that it keeps to itself.
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

CommMatrix some_matrix() {
  return random_density(test::world_size(), 0.6, {.unit_bytes = 40, .max_units = 10}, 21);
}

mpi::Plan plan_with(const CommMatrix& matrix, const mpi::PlanOptions& options = {}) {
  return mpi::Plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options);
}

TEST(Plan, ItsSourcesAreTheColumnOfItsMatrixWhichCanBeWritten) {
  std::vector<Message> entries = some_matrix().entries();
  entries.push_back({0, 0, 17});
  const CommMatrix matrix = CommMatrix::from_messages(test::world_size(), entries);
  const mpi::Plan plan = plan_with(matrix, {.scheduler = "coloring"});
  EXPECT_EQ(std::vector<Partner>(plan.sources().begin(), plan.sources().end()),
            test::column_of(matrix, test::world_rank()));
  const std::string path =
      "/tmp/nuice_plan_test_" + mpi::text_of_rank_0(MPI_COMM_WORLD, std::to_string(getpid()));
  plan.save_matrix(path);
  if (test::world_rank() == 0) {
    EXPECT_EQ(load_matrix_market(path).entries(), matrix.entries());
    std::remove(path.c_str());
  }
  test::expect_same_error(ErrorCode::io, "/no/such", [&] { plan.save_matrix("/no/such/folder/m.mtx"); });
}

TEST(Plan, KeepsDestinationsInTheUsersOrder) {
  const Rank n = test::world_size();
  const Rank rank = test::world_rank();
  std::vector<Partner> destinations;  // descending, with an empty message to every other rank
  for (Rank dst = n - 1; dst >= 0; --dst) destinations.push_back({dst, dst % 2 == 0 ? 100 + dst : 0});
  mpi::Plan plan(MPI_COMM_WORLD, destinations);
  EXPECT_EQ(std::vector<Partner>(plan.destinations().begin(), plan.destinations().end()), destinations);
  EXPECT_EQ(plan.sources().size(), rank % 2 == 0 ? static_cast<std::size_t>(n) : 0U);
  test::BoundPlan bound(plan);
  bound.exchange_once();
}

TEST(Plan, TellsWhatItKnows) {
  const CommMatrix matrix = some_matrix();
  const Schedule schedule = make_schedule(matrix, "rs_n", 77);
  for (const bool check : {true, false}) {
    const mpi::Plan plan = plan_with(matrix, {.scheduler = "rs_n", .seed = 77, .check = check});
    const mpi::PlanInfo& info = plan.info();
    EXPECT_EQ(info.scheduler, "rs_n");
    EXPECT_EQ(info.seed, 77U);
    EXPECT_EQ(info.executor, "phased");
    EXPECT_EQ(info.num_messages, matrix.num_messages());
    EXPECT_EQ(info.num_phases, schedule.num_phases());
    EXPECT_EQ(info.phase_bytes, phase_bytes(schedule));
    EXPECT_EQ(info.bounds.max_port_bytes, lower_bounds(matrix).max_port_bytes);
    EXPECT_GT(info.gather_s, 0);
    EXPECT_GT(info.schedule_s, 0);
    EXPECT_EQ(info.check_s > 0, check);
    double least[3] = {info.gather_s, info.schedule_s, info.check_s};
    MPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_EQ(least[0], info.gather_s) << "times are the same on all ranks";
    EXPECT_EQ(least[1], info.schedule_s);
    EXPECT_EQ(least[2], info.check_s);
  }
}

TEST(Plan, PhaseCostReachesTheScheduler) {
  // Large messages: without a cost kpbs splits them, with a high one it does not.
  const CommMatrix matrix =
      random_density(test::world_size(), 0.9, {.unit_bytes = 1 << 20, .max_units = 9}, 2);
  for (const Bytes cost : {Bytes{0}, max_bytes}) {
    const mpi::Plan plan = plan_with(matrix, {.scheduler = "kpbs", .phase_cost_bytes = cost});
    const Schedule schedule = make_schedule(matrix, "kpbs", 0, cost);
    EXPECT_EQ(plan.info().phase_cost_bytes, cost);
    EXPECT_EQ(plan.info().num_phases, schedule.num_phases());
    EXPECT_EQ(plan.table(), slice(matrix, schedule, test::world_rank()));
  }
}

TEST(Plan, UsesTheRanksOfItsCommunicator) {
  const Rank n = test::world_size();
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - test::world_rank(), &reversed);
  const Rank rank = n - 1 - test::world_rank();
  const CommMatrix matrix = some_matrix();
  {
    mpi::Plan plan(reversed, test::row_of(matrix, rank));
    MPI_Comm_free(&reversed);  // the plan has its own
    EXPECT_EQ(plan.table().rank, rank);
    test::BoundPlan bound(plan);
    bound.exchange_once();
  }
}

TEST(Plan, LeavesTheUsersMessagesAlone) {
  const Rank n = test::world_size();
  const Rank rank = test::world_rank();
  int heard = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  const CommMatrix matrix = some_matrix();
  mpi::Plan plan = plan_with(matrix);
  test::BoundPlan bound(plan);
  bound.exchange_once();
  EXPECT_EQ(heard, -1);
  MPI_Barrier(MPI_COMM_WORLD);  // no rank speaks before all have looked
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % n, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(heard, (rank + n - 1) % n);
}

TEST(Plan, MayBeFreedBeforeItsExchanges) {
  const CommMatrix matrix = some_matrix();
  const auto column = test::column_of(matrix, test::world_rank());
  for (const std::string executor : {"async", "phased", "pairwise"}) {
    mpi::Plan plan = plan_with(matrix, {.executor = executor});
    const test::Blocks send = test::payload_to_send(test::world_rank(), plan.destinations());
    test::Blocks receive = test::poisoned(column);
    mpi::Exchange exchange = plan.bind(test::send_buffers(send), test::receive_buffers(receive));
    plan.free();
    exchange.start();
    exchange.wait();
    EXPECT_EQ(receive, test::payload_expected(test::world_rank(), column));
    exchange.free();
  }
}

TEST(Plan, CanBeMoved) {
  const CommMatrix matrix = some_matrix();
  mpi::Plan plan = plan_with(matrix);
  mpi::Plan other = plan_with(matrix, {.scheduler = "lp"});
  plan = std::move(other);
  EXPECT_EQ(plan.info().scheduler, "lp");
  test::expect_error(ErrorCode::state, "the plan was freed", [&] { (void)other.info(); });
}

TEST(Exchange, ThatIsUnderWayIsFinishedByItsDestructor) {
  const CommMatrix matrix = some_matrix();
  mpi::Plan plan = plan_with(matrix);
  const test::Blocks send = test::payload_to_send(test::world_rank(), plan.destinations());
  test::Blocks receive = test::poisoned(plan.sources());
  {
    mpi::Exchange exchange = plan.bind(test::send_buffers(send), test::receive_buffers(receive));
    exchange.start();
  }
  EXPECT_EQ(receive, test::payload_expected(test::world_rank(), plan.sources()));
}

TEST(Exchange, CanBeMovedWhileUnderWay) {
  const CommMatrix matrix = some_matrix();
  mpi::Plan plan = plan_with(matrix);
  test::BoundPlan first(plan);
  test::BoundPlan second(plan);
  first.exchange.start();
  second.exchange.start();
  mpi::Exchange moved = std::move(first.exchange);
  moved = std::move(second.exchange);  // finishes the first
  first.expect_received(0);
  moved.wait();
  second.expect_received(0);
}

}  // namespace
}  // namespace nuice
