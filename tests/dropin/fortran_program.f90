! SPDX-License-Identifier: BSD-3-Clause
! Replaced calls by mpi_f08, no error asked for: all to all, and a ring as a periodic grid. Prints "done".
program exchanges
  use mpi_f08
  implicit none
  integer, parameter :: m = 2000
  integer :: me, n, i, j
  integer :: dims(1)
  logical :: periods(1)
  type(MPI_Comm) :: grid
  integer, allocatable :: a(:,:), b(:,:), c(:), d(:)
  integer(kind=MPI_ADDRESS_KIND) :: at(2)
  integer :: before, after
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  allocate(c(m*n), d(m*n))
  do i = 1, n
    c((i-1)*m+1:i*m) = 1000*me + i
  end do
  call MPI_Alltoall(c, m, MPI_INTEGER, d, m, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, n
    if (any(d((i-1)*m+1:i*m) /= 1000*(i-1) + me + 1)) print *, 'wrong alltoall'
  end do
  dims(1) = n; periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid)
  call MPI_Cart_shift(grid, 0, 1, before, after)
  allocate(a(m,2), b(m,2))
  a(:,1) = 10*me + 1; a(:,2) = 10*me + 2; b = -1
  call MPI_Neighbor_alltoall(a, m, MPI_INTEGER, b, m, MPI_INTEGER, grid)
  if (any(b(:,1) /= 10*before + 2) .or. any(b(:,2) /= 10*after + 1)) print *, 'wrong neighbour'
  at(1) = 0; at(2) = 4*m; b = -1
  call MPI_Neighbor_alltoallw(a, [m,m], at, [MPI_INTEGER,MPI_INTEGER], b, [m,m], at, [MPI_INTEGER,MPI_INTEGER], grid)
  if (any(b(:,1) /= 10*before + 2) .or. any(b(:,2) /= 10*after + 1)) print *, 'wrong neighbour w'
  b = -1
  call MPI_Neighbor_alltoallv(a, [m,m], [0,m], MPI_INTEGER, b, [m,m], [0,m], MPI_INTEGER, grid)
  if (any(b(:,1) /= 10*before + 2) .or. any(b(:,2) /= 10*after + 1)) print *, 'wrong neighbour v'
  call MPI_Comm_free(grid)
  if (me == 0) print *, 'done'
  call MPI_Finalize()
end program
