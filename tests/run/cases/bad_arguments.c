// SPDX-License-Identifier: BSD-3-Clause
// Arguments that MPI refuses, on all ranks; then a good call. mode
#include "case.h"
int main(int argc, char** argv) {
  const int mode = atoi(argv[1]);
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  struct Blocks v = blocks_of(MPI_COMM_WORLD, 30000);
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Request q = MPI_REQUEST_NULL;
  MPI_Datatype types[64], raw;
  int code = 0, flag = 0;
  for (int i = 0; i < 64; ++i) types[i] = MPI_BYTE;
  MPI_Type_contiguous(4, MPI_BYTE, &raw);
  switch (mode) {
    case 0:
      code = MPI_Alltoallv(v.send, NULL, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w);
      break;
    case 1:
      v.out[1] = -5,
      code = MPI_Alltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w);
      break;
    case 2:
      code = MPI_Alltoallv(v.send, v.out, v.out_at, MPI_DATATYPE_NULL, v.receive, v.in, v.in_at, MPI_BYTE, w);
      break;
    case 4:
      code =
          MPI_Alltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, MPI_COMM_NULL);
      break;
    case 5:
      code = MPI_Alltoall(v.send, -1, MPI_BYTE, v.receive, -1, MPI_BYTE, w);
      break;
    case 6:
      code = MPI_Alltoall(v.send, 5000, raw, v.receive, 5000, raw, w);
      break;
    case 7:
      code = MPI_Ialltoallv(v.send, NULL, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w, &q);
      break;
    case 8:
      code = MPI_Ialltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w, NULL);
      break;
    case 9:
      code = MPI_Wait(NULL, MPI_STATUS_IGNORE);
      break;
    case 10:
      code = MPI_Request_free(NULL);
      break;
    case 11:
      code = MPI_Request_free(&q);
      break;
    case 12:
      code = MPI_Waitall(3, NULL, MPI_STATUSES_IGNORE);
      break;
    case 13:
      code = MPI_Start(NULL);
      break;
    case 15:
      code = MPI_Alltoallw(v.send, v.out, v.out_at, NULL, v.receive, v.in, v.in_at, NULL, w);
      break;
    case 16:
      types[1] = MPI_DATATYPE_NULL,
      code = MPI_Alltoallw(v.send, v.out, v.out_at, types, v.receive, v.in, v.in_at, types, w);
      break;
    case 17:
      code = MPI_Alltoall(MPI_IN_PLACE, 1, MPI_BYTE, MPI_IN_PLACE, 20000, MPI_BYTE, w);
      break;
    case 18:
      code = MPI_Startall(-1, NULL);
      break;
    case 19:
      code = MPI_Waitall(-1, &q, MPI_STATUSES_IGNORE);
      break;
    case 21:
      code = MPI_Waitsome(2, NULL, &flag, NULL, MPI_STATUSES_IGNORE);
      break;
    case 22:
      code = MPI_Alltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, NULL, NULL, MPI_BYTE, w);
      break;
    case 23:
      code = MPI_Test(NULL, &flag, MPI_STATUS_IGNORE);
      break;
    case 31:
      MPI_Ialltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, w, &q);
      code = MPI_Request_free(&q);
      break;
  }
  int class = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  printf("%d mode %d class %d\n", rank_, mode, class);
  fflush(stdout);
  MPI_Barrier(w);
  prime(w);
  MPI_Finalize();
}
