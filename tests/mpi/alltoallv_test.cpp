// SPDX-License-Identifier: BSD-3-Clause
// Calls that read like MPI's against MPI's own: the same memory afterwards, byte for byte.
#include "nuice/mpi/alltoallv.hpp"

#include <array>
#include <complex>
#include <functional>
#include <numeric>

#include "mpi/mpi_support.hpp"
#include "mpi/neighbourhoods.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

using mpi::alltoallv_init;
using mpi::Exchange;
using mpi::in_place;
using mpi::neighbor_alltoallv_init;
using mpi::ReceiveBlocks;
using mpi::SendBlocks;

const std::array all_options = {"scheduler=auto",
                                "scheduler=auto shared_memory=true",
                                "scheduler=rs_n",
                                "scheduler=bruck",
                                "scheduler=kpbs executor=async async.max_sends=2",
                                "scheduler=slices executor=async",
                                "scheduler=coloring combine=true"};

mpi::PlanOptions parsed(const char* options) { return mpi::PlanOptions::parse(options); }

/// Counts that both ends know, with zeros; and the first element of each block, with a gap in front.
struct Counts {
  std::vector<int> counts;
  std::vector<int> displs;

  Counts(int n, const std::function<int(int)>& count_with) {
    int at = 3;
    for (int i = 0; i < n; ++i) {
      counts.push_back(count_with(i));
      displs.push_back(at);
      at += counts.back() + i % 2;
    }
    size = static_cast<std::size_t>(at);
  }
  std::size_t size = 0;
};

int count_of(Rank src, Rank dst) { return (src + 3 * dst) % 4 == 1 ? 0 : 5 * ((3 * src + dst) % 7); }

std::vector<double> numbers(std::size_t size, double first) {
  std::vector<double> made(size);
  std::iota(made.begin(), made.end(), first);
  return made;
}

/// Three times, with other contents each time.
template <typename Fill, typename Reference>
void expect_as_mpi(Exchange exchange, Fill&& fill, Reference&& reference, std::vector<double>& received) {
  for (int round = 0; round < 3; ++round) {
    fill(round);
    exchange.start();
    exchange.wait();
    const std::vector<double> here = received;
    fill(round);
    reference();
    EXPECT_EQ(here, received) << "round " << round;
  }
  exchange.free();
}

TEST(Alltoallv, RangesAsMpi) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  const Counts out(n, [&](int i) { return count_of(me, i); });
  const Counts in(n, [&](int i) { return count_of(i, me); });
  for (const char* const options : all_options) {
    SCOPED_TRACE(options);
    std::vector<double> sent;
    std::vector<double> received(in.size);
    sent = numbers(out.size, 0);
    expect_as_mpi(
        alltoallv_init(MPI_COMM_WORLD, sent, out.counts, out.displs, received, in.counts, in.displs,
                       parsed(options)),
        [&](int round) {
          std::iota(sent.begin(), sent.end(), 1000.0 * me + 0.5 * round);
          std::ranges::fill(received, -1.0);
        },
        [&] {
          MPI_Alltoallv(sent.data(), out.counts.data(), out.displs.data(), MPI_DOUBLE, received.data(),
                        in.counts.data(), in.displs.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        },
        received);
  }
}

/// Counts of 64 bits, elements that MPI has no type for, and the default options.
TEST(Alltoallv, WideCountsAndAnyElements) {
  struct Cell {
    std::array<char, 3> name;
    float value;
    bool operator==(const Cell&) const = default;
  };
  const auto n = static_cast<std::size_t>(test::world_size());
  const std::vector<std::int64_t> ones(n, 1);
  std::vector<std::size_t> places(n);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<Cell> sent(n);
  std::vector<Cell> received(n);
  for (std::size_t i = 0; i < n; ++i)
    sent[i] = {{'a', 'b', static_cast<char>('c' + i)}, static_cast<float>(test::world_rank())};
  Exchange exchange = alltoallv_init(MPI_COMM_WORLD, sent, ones, places, received, ones, places);
  exchange.start();
  exchange.wait();
  const auto last = static_cast<char>('c' + test::world_rank());
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(received[i], (Cell{{'a', 'b', last}, static_cast<float>(i)}));
}

TEST(Alltoallv, InPlaceAsMpi) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  const Counts both(n, [&](int i) { return count_of(std::min(i, me), std::max(i, me)); });
  for (const char* const options : all_options) {
    SCOPED_TRACE(options);
    std::vector<double> data(both.size);
    expect_as_mpi(
        alltoallv_init(MPI_COMM_WORLD, in_place, data, both.counts, both.displs, parsed(options)),
        [&](int round) { std::iota(data.begin(), data.end(), 1000.0 * me + 0.5 * round); },
        [&] {
          MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, data.data(), both.counts.data(),
                        both.displs.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        },
        data);
  }
}

/// Columns of a matrix are sent as one element each, and arrive as rows of doubles: other counts and types at both ends.
TEST(Alltoallv, OtherTypesAtBothEnds) {
  constexpr int rows = 4;
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Datatype next_to = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, n * 2, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &next_to);
  MPI_Type_commit(&next_to);
  const std::vector<int> two(static_cast<std::size_t>(n), 2);
  const std::vector<int> elements(static_cast<std::size_t>(n), 2 * rows);
  std::vector<int> columns(static_cast<std::size_t>(n));
  std::vector<int> places(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    columns[static_cast<std::size_t>(i)] = 2 * i;
    places[static_cast<std::size_t>(i)] = 2 * rows * (n - 1 - i);
  }
  std::vector<double> matrix(static_cast<std::size_t>(2 * rows * n));
  std::vector<double> received(matrix.size());
  const std::array types = {next_to};
  const std::array doubles = {MPI_DOUBLE};
  for (const char* const options : all_options) {
    SCOPED_TRACE(options);
    expect_as_mpi(
        alltoallv_init(MPI_COMM_WORLD,
                       SendBlocks{.data = matrix.data(),
                                  .counts = {two.data(), two.size()},
                                  .displs = {columns.data(), columns.size()},
                                  .types = types},
                       ReceiveBlocks{.data = received.data(),
                                     .counts = {elements.data(), elements.size()},
                                     .displs = {places.data(), places.size()},
                                     .types = doubles},
                       parsed(options)),
        [&](int round) {
          std::iota(matrix.begin(), matrix.end(), 1000.0 * me + 0.5 * round);
          std::ranges::fill(received, -1.0);
        },
        [&] {
          MPI_Alltoallv(matrix.data(), two.data(), columns.data(), next_to, received.data(), elements.data(),
                        places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        },
        received);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&next_to);
}

/// In place with a type that has gaps, which stay as they are.
TEST(Alltoallv, InPlaceWithGaps) {
  const Rank n = test::world_size();
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &every_second);
  MPI_Type_commit(&every_second);
  const std::vector<int> counts(static_cast<std::size_t>(n), 3);
  std::vector<int> places(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) places[static_cast<std::size_t>(i)] = 3 * i;
  std::vector<double> data(static_cast<std::size_t>(6 * n));
  const std::array types = {every_second};
  for (const char* const options : all_options) {
    SCOPED_TRACE(options);
    expect_as_mpi(
        alltoallv_init(MPI_COMM_WORLD, in_place,
                       ReceiveBlocks{.data = data.data(),
                                     .counts = {counts.data(), counts.size()},
                                     .displs = {places.data(), places.size()},
                                     .types = types},
                       parsed(options)),
        [&](int round) { std::iota(data.begin(), data.end(), 100.0 * test::world_rank() + round); },
        [&] {
          MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, data.data(), counts.data(),
                        places.data(), every_second, MPI_COMM_WORLD);
        },
        data);
  }
  MPI_Type_free(&every_second);
}

/// A type for each block, places in bytes.
TEST(Alltoallv, Alltoallw) {
  const auto n = static_cast<std::size_t>(test::world_size());
  const Rank me = test::world_rank();
  std::vector<int> out_counts(n);
  std::vector<int> in_counts(n);
  std::vector<int> places(n);
  std::vector<MPI_Datatype> out_types(n);
  std::vector<MPI_Datatype> in_types(n);
  const auto type_of = [](std::size_t src, std::size_t dst) {
    return (src + dst) % 2 == 0 ? MPI_FLOAT : MPI_DOUBLE;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const auto mine = static_cast<std::size_t>(me);
    out_counts[i] = in_counts[i] = 2 + static_cast<int>((mine + i) % 3);
    out_types[i] = in_types[i] = type_of(mine, i);
    places[i] = static_cast<int>(40 * i);
  }
  std::vector<double> sent(5 * n);
  std::vector<double> received(5 * n);
  for (const char* const options : all_options) {
    SCOPED_TRACE(options);
    expect_as_mpi(
        alltoallv_init(MPI_COMM_WORLD,
                       SendBlocks{.data = sent.data(),
                                  .counts = {out_counts.data(), n},
                                  .displs = {places.data(), n},
                                  .types = out_types,
                                  .each_has_a_type = true},
                       ReceiveBlocks{.data = received.data(),
                                     .counts = {in_counts.data(), n},
                                     .displs = {places.data(), n},
                                     .types = in_types,
                                     .each_has_a_type = true},
                       parsed(options)),
        [&](int round) {
          std::iota(sent.begin(), sent.end(), 1000.0 * me + 0.5 * round);
          std::ranges::fill(received, -1.0);
        },
        [&] {
          MPI_Alltoallw(sent.data(), out_counts.data(), places.data(), out_types.data(), received.data(),
                        in_counts.data(), places.data(), in_types.data(), MPI_COMM_WORLD);
        },
        received);
  }
}

void expect_neighbours_as_mpi(MPI_Comm comm, int num_in, int num_out) {
  // What one sends the other expects: as many elements in each message, the number of the edge in each of them.
  const Counts out(num_out, [](int) { return 4; });
  const Counts in(num_in, [](int) { return 4; });
  for (const char* const options : all_options) {
    SCOPED_TRACE(options);
    std::vector<double> sent(out.size);
    std::vector<double> received(in.size);
    expect_as_mpi(
        neighbor_alltoallv_init(comm, sent, out.counts, out.displs, received, in.counts, in.displs,
                                parsed(options)),
        [&](int round) {
          std::iota(sent.begin(), sent.end(), 1000.0 * test::world_rank() + 0.5 * round);
          std::ranges::fill(received, -1.0);
        },
        [&] {
          MPI_Neighbor_alltoallv(sent.data(), out.counts.data(), out.displs.data(), MPI_DOUBLE,
                                 received.data(), in.counts.data(), in.displs.data(), MPI_DOUBLE, comm);
        },
        received);
  }
}

TEST(NeighborAlltoallv, GridsAndGraphsAsMpi) { test::with_neighbours(expect_neighbours_as_mpi); }

/// Arrivals have the numbers of the blocks.
TEST(Alltoallv, ArrivalsAreNumberedAsBlocks) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  const Counts out(n, [&](int i) { return count_of(me, i); });
  const Counts in(n, [&](int i) { return count_of(i, me); });
  const std::vector<double> sent = numbers(out.size, 0);
  std::vector<double> received(in.size);
  Exchange exchange =
      alltoallv_init(MPI_COMM_WORLD, sent, out.counts, out.displs, received, in.counts, in.displs);
  exchange.start();
  std::vector<std::size_t> landed;
  while (const auto arrival = exchange.next()) {
    EXPECT_EQ(static_cast<Rank>(arrival->index), arrival->source.rank);
    landed.push_back(arrival->index);
  }
  std::ranges::sort(landed);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < in.counts.size(); ++i)
    if (in.counts[i] > 0) expected.push_back(i);
  EXPECT_EQ(landed, expected);
}

TEST(Alltoallv, WrongArgumentsAreErrorsOfAllRanks) {
  const auto n = static_cast<std::size_t>(test::world_size());
  const Rank last = test::world_size() - 1;
  const bool is_last = test::world_rank() == last;
  const std::string who = "rank " + std::to_string(last) + ": ";
  const std::vector<int> ones(n, 1);
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  std::vector<double> sent(n);
  std::vector<double> received(n);
  const auto expect_refused = [&](ErrorCode code, const std::string& text, const std::vector<int>& sc,
                                  const std::vector<int>& sd, const std::vector<int>& rc,
                                  const std::vector<int>& rd) {
    test::expect_same_error(code, text,
                            [&] { alltoallv_init(MPI_COMM_WORLD, sent, sc, sd, received, rc, rd); });
  };
  std::vector<int> negative = ones;
  if (is_last) negative[0] = -2;
  expect_refused(ErrorCode::invalid_argument, who + "send: block 0, to rank 0, has -2 elements", negative,
                 places, ones, places);
  std::vector<int> outside = places;
  if (is_last) outside[0] = test::world_size();
  expect_refused(ErrorCode::invalid_argument, who + "receive: block 0, from rank 0, takes bytes ", ones,
                 places, ones, outside);
  std::vector<int> few = ones;
  if (is_last) few.pop_back();
  expect_refused(ErrorCode::invalid_argument, who + "receive: " + std::to_string(n - 1) + " counts for ",
                 ones, places, few, places);
  if (n == 1) return;
  std::vector<int> overlapping = places;
  if (is_last) overlapping[0] = overlapping[1];
  expect_refused(ErrorCode::invalid_argument, "bytes 8 to 15, overlap", ones, places, ones, overlapping);
  std::vector<int> other = ones;
  if (is_last) other[0] = 0;
  expect_refused(ErrorCode::mismatch,
                 "rank 0 -> rank " + std::to_string(last) + ": 8 bytes are sent, 0 are expected", ones,
                 places, other, places);
  expect_refused(ErrorCode::mismatch,
                 "rank " + std::to_string(last) + " -> rank 0: 0 bytes are sent, 8 are expected", other,
                 places, ones, places);
}

TEST(Alltoallv, WrongCommunicators) {
  const std::vector<int> none;
  std::vector<double> memory;
  for (const MPI_Comm comm : {MPI_COMM_NULL, MPI_COMM_WORLD})
    test::expect_error(ErrorCode::invalid_argument,
                       comm == MPI_COMM_NULL ? "MPI_COMM_NULL" : "the communicator has no topology",
                       [&] { neighbor_alltoallv_init(comm, memory, none, none, memory, none, none); });
}

}  // namespace
}  // namespace nuice
