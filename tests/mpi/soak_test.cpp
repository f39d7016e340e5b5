// SPDX-License-Identifier: BSD-3-Clause
// Many exchanges with changing plans leave nothing behind: no memory, no requests, no communicators, no
// datatypes. What makes and frees those in MPI is counted.
//
// NUICE_SOAK_ROUNDS: how many plans; 200 without it, 10,000 with ctest -C soak.
// That also runs what needs 5 GB of memory.
#include <bit>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>

#include "mpi/mpi_support.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/nuice.hpp"
#include "support/resident.hpp"

namespace {
/// Made and not freed. Freeing sets the handle to null, also of what is still in use.
struct Alive {
  long communicators = 0;
  long duplicates = 0;  // ever
  long requests = 0;    // persistent ones
  long datatypes = 0;
} alive;

int counted(int code, long& count, int change) {
  if (code == MPI_SUCCESS) count += change;
  return code;
}
}  // namespace

// Found before those of MPI, which are still there as PMPI_.
extern "C" {
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return counted(PMPI_Comm_dup(comm, made), alive.communicators, 1);
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  ++alive.duplicates;
  return counted(PMPI_Comm_idup(comm, made, request), alive.communicators, 1);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return counted(PMPI_Comm_split(comm, color, key, made), alive.communicators, 1);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return counted(PMPI_Comm_split_type(comm, type, key, info, made), alive.communicators, 1);
}
int MPI_Comm_free(MPI_Comm* comm) { return counted(PMPI_Comm_free(comm), alive.communicators, -1); }
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* made) {
  return counted(PMPI_Send_init(data, count, type, to, tag, comm, made), alive.requests, 1);
}
int MPI_Ssend_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* made) {
  return counted(PMPI_Ssend_init(data, count, type, to, tag, comm, made), alive.requests, 1);
}
int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* made) {
  return counted(PMPI_Recv_init(data, count, type, from, tag, comm, made), alive.requests, 1);
}
int MPI_Request_free(MPI_Request* request) { return counted(PMPI_Request_free(request), alive.requests, -1); }
int MPI_Type_dup(MPI_Datatype type, MPI_Datatype* made) {
  return counted(PMPI_Type_dup(type, made), alive.datatypes, 1);
}
int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  return counted(PMPI_Type_contiguous(count, type, made), alive.datatypes, 1);
}
int MPI_Type_create_hindexed(int count, const int* lengths, const MPI_Aint* places, MPI_Datatype type,
                             MPI_Datatype* made) {
  return counted(PMPI_Type_create_hindexed(count, lengths, places, type, made), alive.datatypes, 1);
}
int MPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype* types,
                           MPI_Datatype* made) {
  return counted(PMPI_Type_create_struct(count, lengths, places, types, made), alive.datatypes, 1);
}
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made) {
  return counted(PMPI_Type_vector(count, length, stride, type, made), alive.datatypes, 1);
}
int MPI_Type_free(MPI_Datatype* type) { return counted(PMPI_Type_free(type), alive.datatypes, -1); }
}

namespace nuice {
namespace {

int rounds_wanted() {
  const char* text = std::getenv("NUICE_SOAK_ROUNDS");
  return text != nullptr ? std::atoi(text) : 200;
}
bool is_long() { return std::getenv("NUICE_SOAK_ROUNDS") != nullptr; }

struct Kind {
  const char* scheduler;
  std::string executor;
  int max_sends_in_flight = 0;
  const char* hosts = "1";
  bool combine = false;
  bool in_memory = false;
};
constexpr Kind kinds[] = {{"ac", "async"},
                          {"ac", "async", 2},
                          {"rs_nh", "phased"},
                          {"coloring", "pairwise"},
                          {"rex", "phased"},
                          {"coloring", "depend"},
                          {"rs_nh", "depend"},
                          {"coloring", "async", 0, "2"},
                          {"ac", "phased", 0, "2", true},
                          {"coloring", "async", 0, "2", true},
                          {"coloring", "depend", 0, "2", false, true},
                          {"ac", "async", 0, "auto", false, true}};

/// One plan with a matrix of its own, exchanged forwards and backwards, as a whole and message by message.
void one_round(unsigned round) {
  const Kind& kind = kinds[round % std::size(kinds)];
  const CommMatrix matrix =
      random_density(test::world_size(), 0.7, {.unit_bytes = 97, .max_units = 100}, round);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()),
                 {.scheduler = kind.scheduler,
                  .executor = kind.executor,
                  .hosts = kind.hosts,
                  .combine = kind.combine,
                  .shared_memory = kind.in_memory,
                  .watchdog_s = round % 4 == 1 ? 60.0 : 0.0,
                  .async = {.max_sends = kind.max_sends_in_flight}});
  test::BoundPlan bound(plan);
  for (unsigned again = 0; again < 3; ++again) {
    bound.refill(round + again);
    bound.exchange.start();
    if (again == 0) bound.exchange.wait();
    if (again == 1) {
      while (bound.exchange.next()) {
      }
    }
    if (again == 2) {
      while (!bound.exchange.test()) {
      }
    }
    bound.expect_received(round + again);
  }
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> back_counts;
  for (const Partner& to : plan.destinations()) counts.push_back(to.bytes);
  for (const Partner& from : plan.sources()) back_counts.push_back(from.bytes);
  const auto floats = [](const std::vector<std::int64_t>& of) {
    return std::vector<float>(
        static_cast<std::size_t>(2 * std::accumulate(of.begin(), of.end(), std::int64_t{1})));
  };
  std::vector<float> out = floats(counts);
  std::vector<float> in = floats(back_counts);
  MPI_Datatype every_other = MPI_DATATYPE_NULL;  // with gaps
  MPI_Type_vector(2, 1, 2, MPI_SHORT, &every_other);
  MPI_Type_commit(&every_other);
  const std::vector<mpi::SendField> send = {{in.data(), MPI_FLOAT, back_counts},
                                            {in.data(), every_other, back_counts}};
  std::vector<float> out_2 = out;
  const std::vector<mpi::ReceiveField> receive = {{out.data(), MPI_FLOAT, counts},
                                                  {out_2.data(), every_other, counts}};
  auto reverse = plan.bind(send, receive, mpi::Direction::backwards);
  MPI_Type_free(&every_other);
  plan.free();  // the exchanges go on without it
  reverse.start();
  reverse.wait();
}

TEST(Soak, ChangingPlansLeaveNothingBehind) {
  const int rounds = rounds_wanted();
  // A communicator of the user keeps a duplicate, on which its plans meet, and those of plans that watch.
  for (unsigned round = 0; round < 2; ++round) one_round(round);
  const Alive before = alive;
  Bytes settled = 0;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    if (round == rounds / 2)
      settled = test::resident_bytes();  // pools of MPI and of malloc have grown by then
    one_round(static_cast<unsigned>(round));
  }
  EXPECT_EQ(alive.communicators, before.communicators);
  // What the last exchange with windows has to tell the others may be in
  // flight: log2 n rounds of two requests.
  const long last_report = 2L * std::bit_width(static_cast<unsigned>(test::world_size() - 1));
  EXPECT_LE(alive.requests, before.requests + last_report);
  EXPECT_EQ(alive.datatypes, before.datatypes);
  const Bytes growth = test::resident_bytes() - settled;
  // A leaked plan or exchange keeps kilobytes, so half the rounds would keep more than this.
  [[maybe_unused]] const Bytes allowed = is_long() ? Bytes{4} << 20 : Bytes{2} << 20;
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory for a while
  EXPECT_LT(growth, allowed) << "bytes after " << rounds << " rounds, since half of them";
#endif
  if (test::world_rank() == 0)
    std::printf("rank 0: %d rounds, growth in the second half %lld KiB\n", rounds,
                static_cast<long long>(growth / 1024));
}

/// Around the ring, under a watchdog.
mpi::Exchange ring(mpi::Plan& plan, std::vector<char>& out, std::vector<char>& in) {
  const SendBuffer send{out.data(), static_cast<Bytes>(out.size())};
  const ReceiveBuffer receive{in.data(), static_cast<Bytes>(in.size())};
  return plan.bind(std::span(&send, 1), std::span(&receive, 1));
}

std::vector<Partner> next_rank() { return {{(test::world_rank() + 1) % test::world_size(), 1000}}; }

// What a plan or halo under a watchdog leaves is taken by the next: no communicators are made, and a rank
// that does not come is asked for by name.
TEST(Soak, PlansAndHalosThatWatchTakeEachOthersCommunicators) {
  const auto one = [](int round) {
    const mpi::PlanOptions watching{.scheduler = "coloring", .watchdog_s = 60};
    mpi::Plan plan(MPI_COMM_WORLD, next_rank(), watching);
    std::vector<char> out(1000, static_cast<char>('a' + round % 26));
    std::vector<char> in(1000);
    mpi::Exchange exchange = ring(plan, out, in);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(in, out);
    const mpi::GlobalIndex needed = (test::world_rank() + 1) % test::world_size();
    const mpi::Halo halo(MPI_COMM_WORLD, mpi::Ownership::list({test::world_rank()}), std::span(&needed, 1),
                         watching);
    EXPECT_EQ(halo.num_ghosts(), test::world_size() > 1 ? 1 : 0);
  };
  one(0);
  const Alive before = alive;
  for (int round = 1; round < 20; ++round) one(round);
  EXPECT_EQ(alive.duplicates, before.duplicates);
  EXPECT_EQ(alive.communicators, before.communicators);
}

// Two that live at the same time never have the same one, and one that a rank
// still uses is not taken by the others.
TEST(Soak, PlansThatWatchDoNotMeet) {
  const mpi::PlanOptions watching{.scheduler = "coloring", .watchdog_s = 60};
  std::vector<char> out(1000, 'x'), in(1000), other_out(1000, 'y'), other_in(1000);
  auto first = std::make_unique<mpi::Plan>(MPI_COMM_WORLD, next_rank(), watching);
  std::optional<mpi::Exchange> exchange = ring(*first, out, in);
  exchange->start();
  mpi::Plan second(MPI_COMM_WORLD, next_rank(), watching);
  first.reset();
  if (test::world_rank() != 0) {  // rank 0 frees its exchange later
    exchange->wait();
    exchange.reset();
  }
  mpi::Plan third(MPI_COMM_WORLD, next_rank(), watching);
  mpi::Exchange other = ring(third, other_out, other_in);
  other.start();
  other.wait();
  EXPECT_EQ(other_in, other_out);
  if (exchange) exchange->wait();
  EXPECT_EQ(in, out);
}

/// 2^31 + 5 elements in one field, of a type with a negative lower bound where they are received, and a few
/// more in another: beyond what an int counts, on two ranks.
void expect_large_fields(const std::string& executor) {
  const std::int64_t count = (std::int64_t{1} << 31) + 5;
  const bool is_sender = test::world_rank() == 0;
  mpi::Plan plan(MPI_COMM_WORLD, is_sender ? std::vector<Partner>{{1, 1000}} : std::vector<Partner>{},
                 {.scheduler = "coloring", .executor = executor});
  const auto letter = [](std::int64_t i) { return static_cast<char>((i * 2654435761) >> 20); };
  const std::vector<std::int64_t> counts = {count};
  const std::vector<std::int64_t> few = {3};
  std::vector<char> data(static_cast<std::size_t>(count), '?');
  std::vector<double> other = is_sender ? std::vector<double>{1, 2, 3} : std::vector<double>(3, 0);
  if (is_sender)
    for (std::int64_t i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = letter(i);
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_CHAR, -1, 1, &shifted);
  MPI_Type_commit(&shifted);
  std::vector<mpi::SendField> send = {{data.data(), MPI_CHAR, {}}, {other.data(), MPI_DOUBLE, {}}};
  std::vector<mpi::ReceiveField> receive = {{data.data(), shifted, {}}, {other.data(), MPI_DOUBLE, {}}};
  is_sender ? (send[0].counts = counts, send[1].counts = few)
            : (receive[0].counts = counts, receive[1].counts = few);
  auto exchange = plan.bind(send, receive);
  MPI_Type_free(&shifted);
  exchange.start();
  exchange.wait();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) wrong += data[static_cast<std::size_t>(i)] != letter(i) ? 1 : 0;
  EXPECT_EQ(wrong, 0) << executor;
  EXPECT_EQ(other, (std::vector<double>{1, 2, 3}));
}

TEST(LargeFields, MoreElementsThanAnIntCountsAreCarried) {
  if (!is_long()) GTEST_SKIP() << "needs 5 GB of memory: only with NUICE_SOAK_ROUNDS";
  if (test::world_size() != 2) GTEST_SKIP() << "on two ranks";
  expect_large_fields("phased");
  expect_large_fields("async");
}

}  // namespace
}  // namespace nuice
