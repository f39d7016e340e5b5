// SPDX-License-Identifier: BSD-3-Clause
#include "device/aware_mpi.hpp"

#include <mpi.h>

#include <atomic>

#include "device/fake_driver.hpp"

namespace {

std::atomic<bool> is_aware = false;
std::atomic<long> num_calls = 0;

template <typename Pointer>
Pointer translated(Pointer pointer) {
  if (pointer == MPI_BOTTOM || !nuice::test::is_fake_gpu()) return pointer;
  auto* const inside = static_cast<Pointer>(fake_gpu_inside(pointer));
  if (inside != pointer) ++num_calls;
  return inside;
}

}  // namespace

namespace nuice::test {

void set_gpu_aware(bool aware) { is_aware = aware; }
long num_device_calls() { return num_calls; }

}  // namespace nuice::test

extern "C" {

int MPIX_Query_cuda_support(void) { return is_aware ? 1 : 0; }

int MPI_Isend(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Isend(translated(at), count, type, to, tag, comm, request);
}
int MPI_Issend(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return PMPI_Issend(translated(at), count, type, to, tag, comm, request);
}
int MPI_Irecv(void* at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Irecv(translated(at), count, type, from, tag, comm, request);
}
int MPI_Send_init(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return PMPI_Send_init(translated(at), count, type, to, tag, comm, request);
}
int MPI_Ssend_init(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return PMPI_Ssend_init(translated(at), count, type, to, tag, comm, request);
}
int MPI_Recv_init(void* at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return PMPI_Recv_init(translated(at), count, type, from, tag, comm, request);
}
int MPI_Sendrecv(const void* at, int count, MPI_Datatype type, int to, int tag, void* into, int into_count,
                 MPI_Datatype into_type, int from, int from_tag, MPI_Comm comm, MPI_Status* status) {
  return PMPI_Sendrecv(translated(at), count, type, to, tag, translated(into), into_count, into_type, from,
                       from_tag, comm, status);
}
}
