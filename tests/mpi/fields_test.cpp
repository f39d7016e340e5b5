// SPDX-License-Identifier: BSD-3-Clause
// Fields that are not multiples of the plan or empty, and one array that holds the messages of all partners.
// datatype_test.cpp has fields of all datatypes.
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using Counts = std::vector<std::int64_t>;

/// The number at `place` of what src sends to dst in a field.
double value_of(Rank src, Rank dst, int field, std::int64_t place) {
  return 1e6 * field + 1e4 * src + 100 * dst + static_cast<double>(place % 97);
}

/// Elements per message: some large enough to travel field by field.
std::vector<Partner> row() {
  std::vector<Partner> elements;
  for (Rank dst = test::world_size(); dst-- > 0;)
    elements.push_back(
        {dst, (dst + test::world_rank()) % 3 == 0 ? 3000 + dst : 7 * ((dst + test::world_rank()) % 4)});
  return elements;
}

/// A plan of bytes, of which fields have any share, one by one where they are large.
TEST(FieldsOfAnyType, NeedNotBeMultiplesOfThePlan) {
  for (const std::string executor : {"phased", "async"}) {
    const Rank n = test::world_size();
    const Rank rank = test::world_rank();
    std::vector<Partner> destinations;
    for (Rank dst = 0; dst < n; ++dst) destinations.push_back({dst, 1 + 1000 * ((rank * dst) % 3)});
    mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "rs_nh", .executor = executor, .hosts = "1"});
    const auto count = [](Rank src, Rank dst) { return std::int64_t{3 + 5 * src + (dst % 2) * 9000}; };
    Counts out_counts;
    Counts in_counts;
    std::vector<double> out;
    std::vector<double> expected;
    for (const Partner& to : plan.destinations()) {
      out_counts.push_back(count(rank, to.rank));
      for (std::int64_t k = 0; k < count(rank, to.rank); ++k) out.push_back(value_of(rank, to.rank, 0, k));
    }
    for (const Partner& from : plan.sources()) {
      in_counts.push_back(count(from.rank, rank));
      for (std::int64_t k = 0; k < count(from.rank, rank); ++k)
        expected.push_back(value_of(from.rank, rank, 0, k));
    }
    std::vector<double> in(expected.size(), -1);
    std::vector<double> in_2 = in;
    const std::vector<mpi::SendField> send(2, {out.data(), MPI_DOUBLE, out_counts});
    const std::vector<mpi::ReceiveField> receive = {{in.data(), MPI_DOUBLE, in_counts},
                                                    {in_2.data(), MPI_DOUBLE, in_counts}};
    auto exchange = plan.bind(send, receive);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(in, expected);
    EXPECT_EQ(in_2, expected);
  }
}

/// Ranks whose distance is odd have no elements for each other, though the plan has
/// bytes for them; all_empty: no rank has.
void expect_none_of_the_empty(const mpi::PlanOptions& options, bool all_empty) {
  SCOPED_TRACE(options.scheduler + ", " + std::string(options.executor));
  const Rank rank = test::world_rank();
  std::vector<Partner> destinations;
  for (Rank dst = 0; dst < test::world_size(); ++dst) destinations.push_back({dst, 24'000});
  mpi::Plan plan(MPI_COMM_WORLD, destinations, options);
  Counts counts;  // the same both ways
  for (const Partner& partner : plan.sources())
    counts.push_back(all_empty || (partner.rank + rank) % 2 != 0 ? 0 : 3000);
  const std::size_t size = 3000 * counts.size();
  const std::vector<double> out(size, 7);
  std::vector<double> in(size, -1);
  std::vector<double> in_2 = in;
  const std::vector<mpi::SendField> send(2, {out.data(), MPI_DOUBLE, counts});
  const std::vector<mpi::ReceiveField> receive = {{in.data(), MPI_DOUBLE, counts},
                                                  {in_2.data(), MPI_DOUBLE, counts}};
  auto exchange = plan.bind(send, receive);
  for (int round = 0; round < 2; ++round) {
    exchange.start();
    std::vector<Rank> seen;
    while (const auto arrival = exchange.next()) seen.push_back(arrival->source.rank);
    std::ranges::sort(seen);
    std::vector<Rank> expected;
    for (Rank src = all_empty ? test::world_size() : rank % 2; src < test::world_size(); src += 2)
      expected.push_back(src);
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(std::ranges::count(in, 7.0), std::ranges::count(counts, 3000) * 3000);
    EXPECT_EQ(in, in_2);
  }
}

TEST(FieldsOfAnyType, MessagesWithoutElementsAreNotHandedOver) {
  for (const bool all_empty : {false, true}) {
    for (const std::string executor : {"async", "phased", "depend"})
      expect_none_of_the_empty({.scheduler = "coloring", .executor = executor, .hosts = "1"}, all_empty);
    expect_none_of_the_empty({.scheduler = "coloring", .executor = "async", .async = {.max_sends = 1}},
                             all_empty);
  }
  expect_none_of_the_empty({.scheduler = "rex", .executor = "phased"}, true);
}

void expect_arrays(const std::string& executor) {
  SCOPED_TRACE(std::string(executor));
  mpi::Plan plan(MPI_COMM_WORLD, row(), {.scheduler = "coloring", .executor = executor, .hosts = "1"});
  const auto flat = [](const test::Blocks& blocks, std::span<const Partner> partners) {
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < partners.size(); ++i)
      all.insert(all.end(), blocks[i].begin(), blocks[i].begin() + partners[i].bytes);
    return all;
  };
  const auto size_of = [](const std::vector<std::byte>& array) { return static_cast<Bytes>(array.size()); };
  const Rank rank = test::world_rank();
  const auto out = flat(test::payload_to_send(rank, plan.destinations()), plan.destinations());
  const auto expected = flat(test::payload_expected(rank, plan.sources()), plan.sources());
  std::vector<std::byte> in(expected.size(), test::poison);
  auto exchange = plan.bind({out.data(), size_of(out)}, {in.data(), size_of(in)});
  exchange.start();
  exchange.wait();
  EXPECT_EQ(in, expected);

  std::vector<std::byte> back(out.size() + 5, test::poison);  // behind five bytes of another
  std::vector<Bytes> offsets;
  Bytes at = 5;
  for (const Partner& to : plan.destinations()) {
    offsets.push_back(at);
    at += to.bytes;
  }
  auto reverse =
      plan.bind({in.data(), size_of(in)}, {back.data(), size_of(back), offsets}, mpi::Direction::backwards);
  reverse.start();
  reverse.wait();
  EXPECT_TRUE(std::equal(out.begin(), out.end(), back.begin() + 5));

  test::expect_same_error(ErrorCode::invalid_argument, "is not inside the array of",
                          [&] { plan.bind({out.data(), size_of(out)}, {in.data(), size_of(in) - 1}); });
  offsets.push_back(0);
  test::expect_same_error(ErrorCode::invalid_argument, "offsets for",
                          [&] { plan.bind({out.data(), size_of(out), offsets}, {in.data(), size_of(in)}); });
}

TEST(Arrays, HoldTheMessagesOfAllPartners) {
  for (const std::string executor : {"async", "phased", "depend"}) expect_arrays(executor);
}

TEST(FieldErrors, AreTheSameOnAllRanks) {
  const Rank n = test::world_size();
  const Rank next = (test::world_rank() + 1) % n;
  const bool is_last = test::world_rank() == n - 1;
  const std::vector<Partner> ring = {{next, 10}};
  mpi::Plan plan(MPI_COMM_WORLD, ring, {.scheduler = "coloring"});
  std::vector<double> memory(40);
  const Counts ten = {10};
  const Counts nine = {9};
  const Counts negative = {-1};
  const mpi::SendField send{memory.data(), MPI_DOUBLE, ten};
  const mpi::ReceiveField receive{memory.data() + 20, MPI_DOUBLE, ten};
  const auto expect = [&](ErrorCode code, const std::string& text, mpi::SendField bad,
                          mpi::ReceiveField also = {}) {
    const mpi::ReceiveField other = also.data != nullptr && is_last ? also : receive;
    test::expect_same_error(code, text,
                            [&] { plan.bind(std::span(is_last ? &bad : &send, 1), std::span(&other, 1)); });
  };
  expect(ErrorCode::invalid_argument, "send field 0 has MPI_DATATYPE_NULL",
         {memory.data(), MPI_DATATYPE_NULL, ten});
  expect(ErrorCode::invalid_argument, "send field 0 is null", {nullptr, MPI_DOUBLE, ten});
  expect(ErrorCode::invalid_argument, "send field 0 has 0 counts for 1 partners",
         {memory.data(), MPI_DOUBLE, {}});
  expect(ErrorCode::invalid_argument, "field 0 has -1 elements", {memory.data(), MPI_DOUBLE, negative});
  if (n > 1) {
    const std::string pair = "rank " + std::to_string(n - 1) + " -> rank 0: field 0 has ";
    expect(ErrorCode::mismatch, pair + "9 elements of 8 bytes on the sender, 10 of 8 bytes on the receiver",
           {memory.data(), MPI_DOUBLE, nine});
    expect(ErrorCode::mismatch, pair + "10 elements of 4 bytes on the sender",
           {memory.data(), MPI_FLOAT, ten});
    test::expect_same_error(ErrorCode::mismatch, "gives 0 fields, rank 0 gives 1", [&] {
      is_last ? plan.bind(std::span<const mpi::SendField>(), std::span<const mpi::ReceiveField>())
              : plan.bind(std::span(&send, 1), std::span(&receive, 1));
    });
  }
  auto exchange = plan.bind(std::span(&send, 1), std::span(&receive, 1));  // the plan is as good as before
  exchange.start();
  exchange.wait();
}

}  // namespace
}  // namespace nuice
