! SPDX-License-Identifier: BSD-3-Clause
! mpi_f08: short halos, an exchange in place, a persistent send.
program modern
  use mpi_f08
  implicit none
  integer :: r, n, step, bad, left, right
  integer, parameter :: k = 20000
  integer, allocatable, asynchronous :: b(:)
  integer, asynchronous :: s(4), g(4)
  type(MPI_Request) :: q(2), kept
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, r)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  left = mod(r + n - 1, n)
  right = mod(r + 1, n)
  allocate (b(k*n))
  bad = 0
  s = r
  call MPI_Send_init(s, 4, MPI_INTEGER, right, 1, MPI_COMM_WORLD, kept)
  do step = 1, 10
    call MPI_Irecv(g, 4, MPI_INTEGER, left, 0, MPI_COMM_WORLD, q(1))
    call MPI_Isend(s, 4, MPI_INTEGER, right, 0, MPI_COMM_WORLD, q(2))
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
    if (any(g /= left)) bad = bad + 1
    call MPI_Irecv(g, 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, q(1))
    call MPI_Start(kept)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE)
    call MPI_Wait(kept, MPI_STATUS_IGNORE)
    b = r
    call MPI_Alltoall(MPI_IN_PLACE, k, MPI_INTEGER, b, k, MPI_INTEGER, MPI_COMM_WORLD)
    if (any(b(1:k) /= 0) .or. any(b((n-1)*k+1:) /= n - 1)) bad = bad + 1
  end do
  call MPI_Request_free(kept)
  print '(i0,a,i0)', r, ' wrong: ', bad
  call MPI_Finalize()
end program
