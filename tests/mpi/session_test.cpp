// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI_Init: plans, halos and calls with MPI's arguments on a
// communicator of a session. Has a main of its own.
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/alltoallv.hpp"
#include "nuice/mpi/exchanger.hpp"
#include "nuice/mpi/halo.hpp"

#if MPI_VERSION >= 4
namespace {

int num_failed = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  ++num_failed;
  std::printf("not true: %s\n", what);
}

void exchange_all(MPI_Comm comm, const nuice::mpi::PlanOptions& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto n = static_cast<std::size_t>(size);
  const std::vector<int> ones(n, 1);
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  const std::vector<double> sent(n, rank);
  std::vector<double> received(n);
  auto x = nuice::mpi::alltoallv_init(comm, sent, ones, places, received, ones, places, options);
  for (int step = 0; step < 3; ++step) x.start(), x.wait();
  for (std::size_t i = 0; i < n; ++i)
    check(received[i] == static_cast<double>(i), "what another rank has sent");
}

/// Every second number of an array, which is packed.
void exchange_with_gaps(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  const auto n = static_cast<std::size_t>(size);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2000, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  const std::vector<int> ones(n, 1);
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  std::vector<double> sent(4000 * n, 1.5);
  std::vector<double> received(4000 * n);
  auto x = nuice::mpi::alltoallv_init(
      comm,
      {.data = sent.data(), .counts = {ones.data(), n}, .displs = {places.data(), n}, .types = {&type, 1}},
      {.data = received.data(),
       .counts = {ones.data(), n},
       .displs = {places.data(), n},
       .types = {&type, 1}},
      nuice::mpi::PlanOptions::parse("scheduler=coloring executor=phased hosts=1"));
  x.start();
  x.wait();
  check(received[0] == 1.5 && received[1] == 0, "numbers with gaps between them");
  MPI_Type_free(&type);
}

void halo_of(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(size) + 1);
  std::iota(begins.begin(), begins.end(), 0);
  const std::vector<std::int64_t> needed = {rank, (rank + 1) % size};
  nuice::mpi::Halo halo(comm, nuice::mpi::Ownership::ranges(begins), needed);
  std::vector<double> values(halo.num_entries(), 10.0 * rank);
  auto gather = halo.bind_gather(values);
  gather.start();
  gather.wait();
  check(values.back() == 10.0 * ((rank + 1) % size), "a ghost");
}

}  // namespace

int main() {
  try {
    nuice::mpi::alltoallv_init(MPI_COMM_WORLD, nuice::mpi::SendBlocks{}, nuice::mpi::ReceiveBlocks{});
    check(false, "no MPI_COMM_WORLD without MPI_Init");
  } catch (const nuice::Error& error) {
    check(error.code() == nuice::ErrorCode::state, "the error is state");
  }
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "nuice.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  for (const char* const options :
       {"", "scheduler=coloring executor=async", "scheduler=rs_n", "watchdog=30s"})
    exchange_all(comm, nuice::mpi::PlanOptions::parse(options));
  exchange_with_gaps(comm);
  halo_of(comm);
  MPI_Allreduce(MPI_IN_PLACE, &num_failed, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return num_failed == 0 ? 0 : 1;
}
#else
int main() { return 0; }
#endif
