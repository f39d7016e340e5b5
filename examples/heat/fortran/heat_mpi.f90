! SPDX-License-Identifier: BSD-3-Clause
! The twin of heat.f90 with MPI alone.
program heat_mpi
  use mpi_f08
  use grid
  implicit none
  integer :: rank, num_ranks, dims(2) = 0, step, p, at
  real(real64) :: total, all
  type(MPI_Request) :: requests(8)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks)
  call MPI_Dims_create(num_ranks, 2, dims)
  call make_grid(rank, dims)

  at = 1
  do p = 1, num_partners
    call MPI_Recv_init(receive(at), length(p), MPI_DOUBLE_PRECISION, ranks(p), 0, MPI_COMM_WORLD, &
      requests(2 * p - 1))
    call MPI_Send_init(send(at), length(p), MPI_DOUBLE_PRECISION, ranks(p), 0, MPI_COMM_WORLD, &
      requests(2 * p))
    at = at + length(p)
  end do

  do step = 1, steps
    call pack_edges()
    call MPI_Startall(2 * num_partners, requests)
    call update(rim=.false.)
    call MPI_Waitall(2 * num_partners, requests, MPI_STATUSES_IGNORE)
    call unpack_edges()
    call update(rim=.true.)
    call swap()
  end do
  do p = 1, 2 * num_partners
    call MPI_Request_free(requests(p))
  end do

  total = sum(u(1:nx, 1:ny))
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,f0.6)', 'sum after ', steps, ' steps: ', all
  call MPI_Finalize()
end program
