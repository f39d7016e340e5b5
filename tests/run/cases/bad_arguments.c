// SPDX-License-Identifier: BSD-3-Clause
// Arguments that MPI refuses, on all ranks, while a request is on its way; then a good call.
#include "case.h"
static void tell(const char* call, int code) {
  int class = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  printf("%d %s: class %d\n", rank_, call, class);
}
#define TRY(Call, ...) tell(#Call, MPI_##Call(__VA_ARGS__))
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  struct Blocks v = blocks_of(w, 30000);
  MPI_Request pending, q = MPI_REQUEST_NULL;
  int byte = 0, flag = 0;
  MPI_Irecv(&byte, 1, MPI_BYTE, left(), 1, w, &pending);
  TRY(Alltoall, v.send, -1, MPI_BYTE, v.receive, -1, MPI_BYTE, w);
  TRY(Alltoallv, v.send, NULL, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w);
  TRY(Alltoallv, v.send, v.out, v.out_at, MPI_DATATYPE_NULL, v.receive, v.in, v.in_at, MPI_BYTE, w);
  TRY(Alltoallv, v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, MPI_COMM_NULL);
  TRY(Alltoallw, v.send, v.out, v.out_at, NULL, v.receive, v.in, v.in_at, NULL, w);
  TRY(Ialltoallv, v.send, NULL, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w, &q);
  TRY(Start, NULL);
  TRY(Startall, -1, NULL);
  TRY(Wait, NULL, MPI_STATUS_IGNORE);
  TRY(Waitall, 3, NULL, MPI_STATUSES_IGNORE);
  TRY(Waitall, -1, &q, MPI_STATUSES_IGNORE);
  TRY(Waitsome, 2, NULL, &flag, NULL, MPI_STATUSES_IGNORE);
  TRY(Test, NULL, &flag, MPI_STATUS_IGNORE);
  TRY(Request_free, NULL);
  TRY(Request_free, &q);
  MPI_Send(&rank_, 1, MPI_BYTE, right(), 1, w);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  prime(w);
  MPI_Ialltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w, &q);
  TRY(Request_free, &q);
  MPI_Barrier(w);
  prime(w);
  MPI_Finalize();
}
