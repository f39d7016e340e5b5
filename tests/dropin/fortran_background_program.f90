! SPDX-License-Identifier: BSD-3-Clause
! Replaced calls that go on in the background, by mpi_f08 and by mpif.h's names: begun, and completed in several ways. Prints "done".
program background
  use mpi_f08
  implicit none
  integer, parameter :: m = 30000
  integer :: me, n, i, which, num_done
  integer :: dims(1)
  logical :: periods(1), flag
  type(MPI_Comm) :: grid
  type(MPI_Request) :: requests(3)
  type(MPI_Status) :: statuses(3)
  integer, allocatable, asynchronous :: a(:,:), b(:,:), c(:), d(:), e(:,:), f(:,:)
  integer :: counts(2), starts(2), old_request, number
  integer(kind=MPI_ADDRESS_KIND) :: at(2)
  type(MPI_Datatype) :: types(2)
  integer :: before, after
  external :: begin_by_old_name, wait_by_old_name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  dims(1) = n; periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid)
  call MPI_Cart_shift(grid, 0, 1, before, after)
  allocate(a(m,2), b(m,2), e(m,2), f(m,2), c(m*n), d(m*n))
  a(:,1) = 10*me + 1; a(:,2) = 10*me + 2; e = a + 1000
  counts = m; starts = [0, m]; at = [0, 4*m]; types = MPI_INTEGER
  do i = 1, n
    c((i-1)*m+1:i*m) = 1000*me + i
  end do
  call MPI_Alltoall(c, m, MPI_INTEGER, d, m, MPI_INTEGER, MPI_COMM_WORLD)

  ! By mpi_f08, and no error asked for.
  b = -1; f = -1; d = -1
  call MPI_Ineighbor_alltoallv(a, counts, starts, MPI_INTEGER, b, counts, starts, MPI_INTEGER, grid, requests(1))
  call MPI_Ineighbor_alltoallw(e, counts, at, types, f, counts, at, types, grid, requests(2))
  call MPI_Ialltoall(c, m, MPI_INTEGER, d, m, MPI_INTEGER, MPI_COMM_WORLD, requests(3))
  num_done = 0
  do while (num_done < 3)
    call MPI_Waitany(3, requests, which, statuses(1))
    if (which < 1 .or. which > 3) print *, 'wrong index'
    num_done = num_done + 1
  end do
  call look('v', b, 0)
  call look('w', f, 1000)
  do i = 1, n
    if (any(d((i-1)*m+1:i*m) /= 1000*(i-1) + me + 1)) print *, 'wrong alltoall'
  end do

  ! One rank blocks in between; the rest waits first.
  b = -1; f = -1
  call MPI_Ineighbor_alltoall(a, m, MPI_INTEGER, b, m, MPI_INTEGER, grid, requests(1))
  call MPI_Ineighbor_alltoallv(e, counts, starts, MPI_INTEGER, f, counts, starts, MPI_INTEGER, grid, requests(2))
  if (me == 0) call MPI_Recv(number, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Waitall(2, requests, statuses)
  if (me == 1) call MPI_Send(number, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD)
  call look('blocks', b, 0)
  call look('v again', f, 1000)

  b = -1; f = -1
  call MPI_Ineighbor_alltoallv(a, counts, starts, MPI_INTEGER, b, counts, starts, MPI_INTEGER, grid, requests(1))
  call begin_by_old_name(e, f, counts, starts, MPI_INTEGER%MPI_VAL, grid%MPI_VAL, old_request)
  if (me == 0) call MPI_Barrier(MPI_COMM_WORLD)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
  end do
  call wait_by_old_name(old_request)
  if (me /= 0) call MPI_Barrier(MPI_COMM_WORLD)
  call look('test', b, 0)
  call look('mpif.h', f, 1000)
  call MPI_Comm_free(grid)
  if (me == 0) print *, 'done'
  call MPI_Finalize()
contains
  subroutine look(what, came, more)
    character(len=*), intent(in) :: what
    integer, intent(in) :: came(:,:), more
    if (any(came(:,1) /= 10*before + 2 + more) .or. any(came(:,2) /= 10*after + 1 + more)) print *, 'wrong ', what
  end subroutine
end program

subroutine begin_by_old_name(out, in, counts, starts, type, comm, request)
  implicit none
  integer :: out(*), in(*), counts(*), starts(*), type, comm, request, ierr
  external :: mpi_ineighbor_alltoallv
  call mpi_ineighbor_alltoallv(out, counts, starts, type, in, counts, starts, type, comm, request, ierr)
  if (ierr /= 0) print *, 'wrong code'
end subroutine

subroutine wait_by_old_name(request)
  implicit none
  integer :: request, status(6), ierr
  external :: mpi_wait
  call mpi_wait(request, status, ierr)
  if (ierr /= 0) print *, 'wrong code'
end subroutine
