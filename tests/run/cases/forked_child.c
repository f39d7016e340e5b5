// SPDX-License-Identifier: BSD-3-Clause
// A forked child that ends by exit() after its parent has, and does not call MPI.
#include <sys/wait.h>

#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  prime(MPI_COMM_WORLD);
  fflush(stdout);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    char c;
    close(ends[1]);
    (void)!read(ends[0], &c, 1);  // until the parent has ended its part
    exit(0);
  }
  prime(MPI_COMM_WORLD);
  MPI_Finalize();
  close(ends[1]);
  waitpid(child, NULL, 0);
}
