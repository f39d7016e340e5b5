! SPDX-License-Identifier: BSD-3-Clause
! mpi_abort with an active nonblocking exchange that no other rank joins.
program abort
  use mpi
  implicit none
  integer :: r, n, err, ring, q
  integer, parameter :: k = 200000
  character, allocatable, asynchronous :: s(:), g(:)
  call mpi_init(err)
  call mpi_comm_rank(MPI_COMM_WORLD, r, err)
  call mpi_comm_size(MPI_COMM_WORLD, n, err)
  call mpi_cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring, err)
  allocate (s(2*k), g(2*k))
  s = 'x'
  if (r == 0) then
    call mpi_ineighbor_alltoall(s, k, MPI_CHARACTER, g, k, MPI_CHARACTER, ring, q, err)
    call mpi_abort(MPI_COMM_WORLD, 7, err)
  end if
  call sleep(60)
  call mpi_finalize(err)
end program
