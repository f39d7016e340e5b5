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

/// What is passed for one side: a block for each partner, with a gap in front and some in between.
struct Side {
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<MPI_Datatype> types = {MPI_DOUBLE};
  std::size_t size = 0;  // of the memory, in doubles

  Side() = default;
  Side(int n, const std::function<int(int)>& count_with) {
    int at = 3;
    for (int i = 0; i < n; ++i) {
      counts.push_back(count_with(i));
      displs.push_back(at);
      at += counts.back() + i % 2;
    }
    size = static_cast<std::size_t>(at);
  }
  template <typename Blocks, typename Data>
  Blocks blocks(Data* data, bool each_has_a_type) const {
    return {.data = data,
            .counts = {counts.data(), counts.size()},
            .displs = {displs.data(), displs.size()},
            .types = types,
            .each_has_a_type = each_has_a_type};
  }
};

struct Call {
  Side out;  // unless in place
  Side in;
  bool is_in_place = false;
  bool each_has_a_type = false;
  MPI_Comm neighbours = MPI_COMM_NULL;
};

Exchange init(const Call& call, const double* sent, double* received, const mpi::PlanOptions& options) {
  const auto send = call.out.blocks<SendBlocks>(sent, call.each_has_a_type);
  const auto receive = call.in.blocks<ReceiveBlocks>(received, call.each_has_a_type);
  if (call.is_in_place) return alltoallv_init(MPI_COMM_WORLD, in_place, receive, options);
  if (call.neighbours != MPI_COMM_NULL)
    return neighbor_alltoallv_init(call.neighbours, send, receive, options);
  return alltoallv_init(MPI_COMM_WORLD, send, receive, options);
}

void call_mpi(const Call& call, const double* sent, double* received) {
  const auto& [sc, sd, st, send_size] = call.out;
  const auto& [rc, rd, rt, receive_size] = call.in;
  if (call.is_in_place)
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, received, rc.data(), rd.data(), rt[0],
                  MPI_COMM_WORLD);
  else if (call.neighbours != MPI_COMM_NULL)
    MPI_Neighbor_alltoallv(sent, sc.data(), sd.data(), st[0], received, rc.data(), rd.data(), rt[0],
                           call.neighbours);
  else if (call.each_has_a_type)
    MPI_Alltoallw(sent, sc.data(), sd.data(), st.data(), received, rc.data(), rd.data(), rt.data(),
                  MPI_COMM_WORLD);
  else
    MPI_Alltoallv(sent, sc.data(), sd.data(), st[0], received, rc.data(), rd.data(), rt[0], MPI_COMM_WORLD);
}

/// With many options, each exchange three times, with other contents each time.
void expect_as_mpi(const Call& call) {
  for (const char* const options : {"scheduler=auto", "scheduler=auto shared_memory=true", "scheduler=rs_n",
                                    "scheduler=bruck", "scheduler=kpbs executor=async async.max_sends=2",
                                    "scheduler=slices executor=async", "scheduler=coloring combine=true"}) {
    SCOPED_TRACE(options);
    std::vector<double> sent(call.out.size);
    std::vector<double> received(call.in.size);
    const auto fill = [&](int round) {
      std::iota(sent.begin(), sent.end(), 1000.0 * test::world_rank() + 0.5 * round);
      std::iota(received.begin(), received.end(),
                call.is_in_place ? 100.0 * test::world_rank() + round : -1e6);
    };
    Exchange exchange = init(call, sent.data(), received.data(), mpi::PlanOptions::parse(options));
    for (int round = 0; round < 3; ++round) {
      fill(round);
      exchange.start();
      exchange.wait();
      const std::vector<double> here = received;
      fill(round);
      call_mpi(call, sent.data(), received.data());
      EXPECT_EQ(here, received) << "round " << round;
    }
    exchange.free();
  }
}

/// Both ends know it; some are 0.
int count_of(Rank src, Rank dst) { return (src + 3 * dst) % 4 == 1 ? 0 : 5 * ((3 * src + dst) % 7); }
Side outgoing() {
  return {test::world_size(), [](int i) { return count_of(test::world_rank(), i); }};
}
Side incoming() {
  return {test::world_size(), [](int i) { return count_of(i, test::world_rank()); }};
}

TEST(Alltoallv, RangesAsMpi) { expect_as_mpi({.out = outgoing(), .in = incoming()}); }

TEST(Alltoallv, InPlaceAsMpi) {
  const Rank me = test::world_rank();
  expect_as_mpi(
      {.out = {},
       .in = {test::world_size(), [&](int i) { return count_of(std::min(i, me), std::max(i, me)); }},
       .is_in_place = true});
}

/// A type, freed with this, with another extent.
struct Resized {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Resized(MPI_Datatype of, MPI_Aint extent) {
    MPI_Type_create_resized(of, 0, extent, &type);
    MPI_Type_commit(&type);
  }
  Resized(const Resized&) = delete;
  Resized& operator=(const Resized&) = delete;
  ~Resized() { MPI_Type_free(&type); }
};

/// Columns of a matrix are sent as one element each, and arrive as rows of doubles:
/// other counts and types at both ends.
TEST(Alltoallv, OtherTypesAtBothEnds) {
  constexpr int rows = 4;
  const Rank n = test::world_size();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, n * 2, MPI_DOUBLE, &column);
  const Resized next_to(column, sizeof(double));
  MPI_Type_free(&column);
  Call call;
  for (int i = 0; i < n; ++i) {
    call.out.counts.push_back(2);
    call.out.displs.push_back(2 * i);
    call.in.counts.push_back(2 * rows);
    call.in.displs.push_back(2 * rows * (n - 1 - i));
  }
  call.out.types = {next_to.type};
  call.out.size = call.in.size = static_cast<std::size_t>(2 * rows * n);
  expect_as_mpi(call);
}

/// In place with a type that has gaps, which stay as they are.
TEST(Alltoallv, InPlaceWithGaps) {
  const Resized every_second(MPI_DOUBLE, 2 * sizeof(double));
  Call call{.out = {}, .in = {test::world_size(), [](int) { return 3; }}, .is_in_place = true};
  call.in.types = {every_second.type};
  call.in.size *= 2;
  expect_as_mpi(call);
}

/// A type for each block, places in bytes.
TEST(Alltoallv, Alltoallw) {
  Call call{.out = outgoing(), .in = incoming(), .each_has_a_type = true};
  for (Side* const side : {&call.out, &call.in}) {
    side->types.clear();
    for (Rank i = 0; i < test::world_size(); ++i)
      side->types.push_back((test::world_rank() + i) % 2 == 0 ? MPI_FLOAT : MPI_DOUBLE);
    for (int& displ : side->displs) displ *= static_cast<int>(sizeof(double));
  }
  expect_as_mpi(call);
}

TEST(NeighborAlltoallv, GridsAndGraphsAsMpi) {
  test::with_neighbours([](MPI_Comm comm, int num_in, int num_out) {
    const auto four = [](int) {
      return 4;
    };  // elements of each message; the number of the edge in each of them
    expect_as_mpi({.out = {num_out, four}, .in = {num_in, four}, .neighbours = comm});
  });
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

/// Arrivals have the numbers of the blocks.
TEST(Alltoallv, ArrivalsAreNumberedAsBlocks) {
  const Side out = outgoing();
  const Side in = incoming();
  const std::vector<double> sent(out.size);
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
