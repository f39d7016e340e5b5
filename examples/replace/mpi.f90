! SPDX-License-Identifier: BSD-3-Clause
! Every step a rank sends each other one some numbers, and works with what it got.
program replace
  use mpi_f08
  implicit none
  integer, parameter :: each = 8, steps = 50
  integer, allocatable :: sc(:), sd(:), rc(:), rd(:)
  real(8), allocatable, asynchronous :: s(:), r(:)
  real(8) :: mine, total
  integer :: rank, n, i, k, step
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  sc = [(1 + mod(rank + 2 * i, each), i = 0, n - 1)]
  rc = [(1 + mod(i + 2 * rank, each), i = 0, n - 1)]
  sd = [(each * i, i = 0, n - 1)]
  rd = sd
  s = [(rank + 0.01d0 * k, k = 0, each * n - 1)]
  r = 0 * s
  do step = 1, steps
    call MPI_Alltoallv(s, sc, sd, MPI_REAL8, r, rc, rd, MPI_REAL8, MPI_COMM_WORLD)
    s = 0.75d0 * s + 0.25d0 * r
  end do
  mine = sum(s)
  call MPI_Reduce(mine, total, 1, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,f0.9)', 'sum after ', steps, ' steps: ', total
  call MPI_Finalize()
end program
