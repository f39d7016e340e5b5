! SPDX-License-Identifier: BSD-3-Clause
! A transposition in place by mpi_ialltoall, then by mpi_alltoall, with a reduction in each step.
program in_place
  use mpi
  implicit none
  integer :: r, n, err, p, q, step, bad
  integer, parameter :: k = 60000
  integer, allocatable, asynchronous :: b(:)
  call mpi_init(err)
  call mpi_comm_rank(MPI_COMM_WORLD, r, err)
  call mpi_comm_size(MPI_COMM_WORLD, n, err)
  allocate (b(k*n))
  bad = 0
  do step = 1, 24
    do p = 0, n - 1
      b(p*k+1:p*k+k) = r*1000 + p
    end do
    if (mod(step, 2) == 0) then
      call mpi_ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, k, MPI_INTEGER, MPI_COMM_WORLD, q, err)
      call mpi_wait(q, MPI_STATUS_IGNORE, err)
    else
      call mpi_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, k, MPI_INTEGER, MPI_COMM_WORLD, err)
    end if
    do p = 0, n - 1
      if (any(b(p*k+1:p*k+k) /= p*1000 + r)) bad = bad + 1
    end do
    call mpi_allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
  end do
  print '(i0,a,i0)', r, ' wrong: ', bad
  call mpi_finalize(err)
end program
