! SPDX-License-Identifier: BSD-3-Clause
! A 2-D heat equation with planned exchanges; heat_mpi.f90 does the same with MPI alone.
program heat
  use mpi_f08
  use nuice
  use grid
  implicit none
  integer :: rank, num_ranks, dims(2) = 0, step
  real(real64) :: total, all
  type(nuice_plan) :: plan
  type(nuice_exchange) :: halo
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks)
  call MPI_Dims_create(num_ranks, 2, dims)
  call make_grid(rank, dims)

  call nuice_plan_create(MPI_COMM_WORLD, ranks(:num_partners), 8_int64 * length(:num_partners), plan)
  call nuice_plan_bind_array(plan, send, receive, halo)

  do step = 1, steps
    call pack_edges()
    call nuice_exchange_start(halo)
    call update(rim=.false.)
    call nuice_exchange_wait(halo)
    call unpack_edges()
    call update(rim=.true.)
    call swap()
  end do
  call nuice_exchange_free(halo)
  call nuice_plan_free(plan)

  total = sum(u(1:nx, 1:ny))
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,f0.6)', 'sum after ', steps, ' steps: ', all
  call MPI_Finalize()
end program
