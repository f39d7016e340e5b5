! SPDX-License-Identifier: BSD-3-Clause
! The module under MPI, built for each way in which Fortran has it: -DUSE_MPIF_H, -DUSE_MPI, -DUSE_MPI_F08; without any of them
! MPI is C's (from_c.c), for an MPI that has no Fortran.
module ways
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  implicit none
#if defined(USE_MPIF_H)
  include 'mpif.h'
#endif
#if defined(USE_MPI_F08)
  type(MPI_Comm) :: world
  type(MPI_Datatype) :: real_type
  type(MPI_Op) :: add
#else
  integer :: world, real_type, add
#endif
#if !defined(USE_MPI_F08) && !defined(USE_MPI) && !defined(USE_MPIF_H)
  interface
    subroutine start_mpi(world, real_type, add, rank, num_ranks) bind(c)
      import :: c_int
      integer(c_int), intent(out) :: world, real_type, add, rank, num_ranks
    end subroutine
    subroutine end_mpi(failed) bind(c)
      import :: c_int
      integer(c_int), intent(inout) :: failed
    end subroutine
  end interface
#endif
contains
  subroutine begin()
#if defined(USE_MPI_F08) || defined(USE_MPI) || defined(USE_MPIF_H)
    integer :: error
    call MPI_Init(error)
    world = MPI_COMM_WORLD
    real_type = MPI_DOUBLE_PRECISION
    add = MPI_SUM
    call MPI_Comm_rank(world, my_rank, error)
    call MPI_Comm_size(world, num_ranks, error)
#else
    call start_mpi(world, real_type, add, my_rank, num_ranks)
#endif
  end subroutine

  subroutine finish()
#if defined(USE_MPI_F08) || defined(USE_MPI) || defined(USE_MPIF_H)
    integer :: error, all_failed
    call MPI_Allreduce(num_failed, all_failed, 1, MPI_INTEGER, MPI_SUM, world, error)
    num_failed = all_failed
    call MPI_Finalize(error)
#else
    call end_mpi(num_failed)
#endif
    if (my_rank == 0) print '(i0,a)', num_failed, ' checks failed'
    if (num_failed > 0) error stop 1
  end subroutine

  subroutine ring(num_values, plan, options)
    integer, intent(in) :: num_values
    type(nuice_plan), intent(out) :: plan
    character(*), intent(in) :: options
    call nuice_plan_create(world, [mod(my_rank + 1, num_ranks)], [8_int64 * num_values], plan, options=options)
  end subroutine

  !> In every way to bind and to wait.
  subroutine test_exchanges()
    type(nuice_plan) :: plan
    call ring(10, plan, 'executor=pairwise')
    call exchange_arrays(plan, NUICE_FORWARDS)
    call exchange_arrays(plan, NUICE_BACKWARDS)
    call exchange_buffers(plan)
    call exchange_fields(plan)
    call nuice_plan_free(plan)
  end subroutine

  subroutine exchange_arrays(plan, direction)
    type(nuice_plan), intent(in) :: plan
    integer, intent(in) :: direction
    real(real64), asynchronous :: send(2, 5), receive(10)
    type(nuice_exchange) :: x
    integer :: round, source, partner
    logical :: done
    character(:), allocatable :: text
    source = mod(my_rank + num_ranks - 1, num_ranks)
    if (direction == NUICE_BACKWARDS) source = mod(my_rank + 1, num_ranks)
    call nuice_plan_bind_array(plan, send, receive, x, receive_offsets=[0_int64], direction=direction)
    do round = 1, 4
      send = my_rank + 0.5_real64 * round
      receive = -1
      call nuice_exchange_start(x)
      select case (round)
      case (1)
        call nuice_exchange_wait(x)
      case (2)
        done = .false.
        do while (.not. done)
          call nuice_exchange_test(x, done)
        end do
      case (3)
        call nuice_exchange_next(x, partner)
        call check(partner == 0, 'the message')
        call nuice_exchange_next(x, partner)
        call check(partner == -1, 'no message more')
      case (4)
        done = .true.
        do while (done)
          call nuice_exchange_poll(x, partner)
          call nuice_exchange_is_under_way(x, done)
        end do
      end select
      call check(all(receive == source + 0.5_real64 * round), 'an array landed')
    end do
    call nuice_exchange_text(x, 'executor', text)
    call check(len(text) > 0, 'the executor')
    call nuice_exchange_free(x)
  end subroutine

  subroutine exchange_buffers(plan)
    type(nuice_plan), intent(in) :: plan
    real(real64), target, asynchronous :: send(10), receive(10)
    type(nuice_exchange) :: x
    send = my_rank
    receive = -1
    call nuice_plan_bind(plan, [c_loc(send)], [c_loc(receive)], x)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(receive == mod(my_rank + num_ranks - 1, num_ranks)), 'a buffer landed')
    receive = -1
    call nuice_exchange_start_on(x, c_null_ptr)  ! host memory: as without a stream
    call nuice_exchange_wait_on(x, c_null_ptr)
    call check(all(receive == mod(my_rank + num_ranks - 1, num_ranks)), 'a buffer landed')
    call nuice_exchange_free(x)
  end subroutine

  subroutine exchange_fields(plan)
    type(nuice_plan), intent(in) :: plan
    real(real64), target, asynchronous :: send(10), receive(10)
    type(nuice_exchange) :: x
    integer(int64) :: counts(1, 1)
    counts = 5
    send = my_rank
    receive = -1
    call nuice_plan_bind_fields(plan, [c_loc(send)], [real_type], counts, [c_loc(receive)], [real_type], counts, x, &
      receive_offsets=reshape([5_int64], [1, 1]))
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(receive(6:) == mod(my_rank + num_ranks - 1, num_ranks)) .and. all(receive(:5) == -1), 'a field landed')
    call nuice_exchange_free(x)
  end subroutine

  !> The five lines of docs/how-to/replace-alltoallv.md.
  subroutine as_printed(s, sc, sd, r, rc, rd, comm, steps)
    real(real64), asynchronous :: s(:), r(:)
    integer :: sc(:), sd(:), rc(:), rd(:), steps, i
#if defined(USE_MPI_F08)
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: MPI_REAL8
#else
    integer :: comm, MPI_REAL8
#endif
    type(nuice_request) :: x
    MPI_REAL8 = real_type
    call nuice_alltoallv_init(s, sc, sd, MPI_REAL8, r, rc, rd, MPI_REAL8, comm, x)
    do i = 1, steps
      call nuice_start(x); call nuice_wait(x)
    end do; call nuice_free(x)
  end subroutine

  !> Without init; in the first call on a communicator all ranks hear of an error, and it stays good.
  subroutine test_once(s, sc, sd, r, rc, rd)
    real(real64), intent(in) :: s(:)
    real(real64), intent(inout) :: r(:)
    integer, intent(in) :: sc(:), sd(:), rc(:), rd(:)
    real(real64) :: expected(size(r)), spread(2 * size(r))
    integer :: i, stat
    character(200) :: errmsg
    call nuice_alltoallv(s, sc, [(0.5, i = 1, num_ranks)], real_type, r, rc, rd, real_type, world, stat, errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'integers of 32 or 64 bits')
    call nuice_alltoallv(s, sc, sd, real_type, r, rc(2:), rd, real_type, world, stat, errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'counts for')
    expected = [(real(i / (my_rank + 1), real64), i = 0, size(r) - 1)]
    do i = 1, 3
      r = -1
      call nuice_alltoallv(s, sc, sd, real_type, r, rc, int(rd, int64), real_type, world)
      call check(all(r == expected), 'alltoallv without init')
      spread = -1
      call nuice_alltoallw(s, sc, 8 * sd, [(real_type, i = 1, num_ranks)], spread(1::2), rc, 16 * rd, &
        [(real_type, i = 1, num_ranks)], world)
      call check(all(spread(1::2) == expected) .and. all(spread(2::2) == -1), 'every second number, by types')
    end do
  end subroutine

  !> Rank i sends j + 1 numbers to rank j.
  subroutine test_alltoallv()
    integer, allocatable :: sc(:), sd(:), rc(:), rd(:)
    integer(int64), allocatable :: wide(:)
    real(real64), allocatable, asynchronous :: s(:), r(:), spread(:)
    type(nuice_request) :: x
    integer :: i, total, stat
    logical :: done
    character(200) :: errmsg
    allocate (sc(num_ranks), sd(num_ranks), rc(num_ranks), rd(num_ranks), wide(num_ranks))
    sc = [(i + 1, i = 0, num_ranks - 1)]
    sd = [(i * (i + 1) / 2, i = 0, num_ranks - 1)]
    rc = [(my_rank + 1, i = 0, num_ranks - 1)]
    rd = [((my_rank + 1) * i, i = 0, num_ranks - 1)]
    total = num_ranks * (my_rank + 1)
    allocate (s(sum(sc)), r(total), spread(2 * total))
    s = my_rank
    r = -1
    call as_printed(s, sc, sd, r, rc, rd, world, 2)
    call check(all(r == [(real(i / (my_rank + 1), real64), i = 0, total - 1)]), 'alltoallv')
    wide = rd
    spread = -1
    call nuice_alltoallv_init(s, sc, sd, real_type, spread(1::2), rc, wide, real_type, world, x, options='scheduler=lp')
    call nuice_start(x)
    done = .false.
    do while (.not. done)
      call nuice_test(x, done)
    end do
    call check(all(spread(1::2) == r) .and. all(spread(2::2) == -1), 'every second number')
    call nuice_free(x)
    call test_once(s, sc, sd, r, rc, rd)
    call nuice_alltoallv_init(s, sc, sd, real_type, r, rc, rd, real_type, world, x, options='parts=true')
    r = -1
    call nuice_start(x)
    do i = 0, num_ranks - 1
      call nuice_ready(x, i)
    end do
    done = .false.
    do while (.not. done)
      call nuice_arrived(x, 0, done)
    end do
    call check(all(r(:my_rank + 1) == 0), 'the first has arrived')
    call nuice_wait(x)
    call check(all(r == [(real(i / (my_rank + 1), real64), i = 0, total - 1)]), 'ready one by one')
    call nuice_free(x)
    call test_several()
    call test_sparse()
    r = -1
    call nuice_alltoallw_init(s, sc, 8 * sd, [(real_type, i = 1, num_ranks)], r, rc, 8 * rd, &
      [(real_type, i = 1, num_ranks)], world, x)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(r == spread(1::2)), 'alltoallw')
    call nuice_free(x)
    call nuice_alltoallv_init(s, sc, sd, real_type, r, rc(2:), rd, real_type, world, x, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'counts for')
    call nuice_alltoallv_init(s, sc, [(0.5, i = 1, num_ranks)], real_type, r, rc, rd, real_type, world, x, stat=stat, &
      errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'integers of 32 or 64 bits')
    call nuice_neighbor_alltoallv_init(s, sc, sd, real_type, r, rc, rd, real_type, world, x, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'no topology')
#if defined(USE_MPI_F08) || defined(USE_MPI) || defined(USE_MPIF_H)
    call test_with_mpi()
  end subroutine

  !> In place, and a ring of neighbours.
  subroutine test_with_mpi()
    real(real64), asynchronous :: r(num_ranks), two(2), got(2)
    integer :: ones(num_ranks), places(num_ranks), i, error
    type(nuice_request) :: x
#if defined(USE_MPI_F08)
    type(MPI_Comm) :: ring
#else
    integer :: ring
#endif
    ones = 1
    places = [(i, i = 0, num_ranks - 1)]
    r = [(100 * my_rank + real(i, real64), i = 0, num_ranks - 1)]
    call nuice_alltoallv_init(MPI_IN_PLACE, ones, places, real_type, r, ones, places, real_type, world, x)
    call nuice_start(x)
    call nuice_wait(x)
    call check(all(r == [(100 * i + real(my_rank, real64), i = 0, num_ranks - 1)]), 'in place')
    call nuice_free(x)
    call nuice_alltoallv(MPI_IN_PLACE, ones, places, real_type, r, ones, places, real_type, world)
    call check(all(r == [(100 * my_rank + real(i, real64), i = 0, num_ranks - 1)]), 'in place, and back without init')
    call MPI_Cart_create(world, 1, [num_ranks], [.true.], .false., ring, error)
    two = [my_rank, my_rank + 1000]
    call nuice_neighbor_alltoallv_init(two, [1, 1], [0, 1], real_type, got, [1, 1], [0, 1], real_type, ring, x)
    call nuice_start(x)
    call nuice_wait(x)
    call check(all(nint(got) == [modulo(my_rank - 1, num_ranks) + 1000, modulo(my_rank + 1, num_ranks)]), 'neighbours')
    call nuice_free(x)
    got = -1
    call nuice_neighbor_alltoallv(two, [1, 1], [0, 1], real_type, got, [1, 1], [0, 1], real_type, ring)
    call check(all(nint(got) == [modulo(my_rank - 1, num_ranks) + 1000, modulo(my_rank + 1, num_ranks)]), 'neighbours once')
    got = -1
    call nuice_neighbor_alltoallw(two, [1, 1], [0, 8], [real_type, real_type], got, [1, 1], [0_int64, 8_int64], &
      [real_type, real_type], ring)
    call check(all(nint(got) == [modulo(my_rank - 1, num_ranks) + 1000, modulo(my_rank + 1, num_ranks)]), 'and by types')
    call MPI_Comm_free(ring, error)
#endif
  end subroutine

  subroutine test_several()
    type(nuice_request) :: x(2)
    real(real64), asynchronous :: s(num_ranks, 2), r(num_ranks, 2)
    integer :: ones(num_ranks), places(num_ranks), i, first, second, num_done, indices(2)
    ones = 1
    places = [(i, i = 0, num_ranks - 1)]
    do i = 1, 2
      call nuice_alltoallv_init(s(:, i), ones, places, real_type, r(:, i), ones, places, real_type, world, x(i))
    end do
    do i = 1, 3
      s = my_rank + 10 * i
      r = -1
      call nuice_start(x(1))
      call nuice_start(x(2))
      if (i == 1) call nuice_waitall(x)
      if (i == 2) then
        call nuice_waitany(x, first)
        call nuice_waitany(x, second)
        call check(first + second == 3, 'both')
        call nuice_waitany(x, first)
        call check(first == 0, 'none is active')
      else if (i == 3) then
        num_done = 0
        first = 0
        do while (first < 2)
          call nuice_testsome(x, num_done, indices)
          first = first + num_done
        end do
      end if
      call check(all(nint(r(:, 1)) == places + 10 * i) .and. all(r(:, 1) == r(:, 2)), 'two at once')
    end do
#if defined(USE_MPI_F08) || defined(USE_MPI) || defined(USE_MPIF_H)
    call with_requests(x)
#endif
    call nuice_free(x(1))
    call nuice_free(x(2))
  end subroutine

#if defined(USE_MPI_F08) || defined(USE_MPI) || defined(USE_MPIF_H)
  subroutine with_requests(x)
    type(nuice_request), intent(in) :: x(2)
    real(real64), asynchronous :: mine, other
    integer :: error
#if defined(USE_MPI_F08)
    type(MPI_Request) :: requests(2)
#else
    integer :: requests(2)
#endif
    mine = my_rank
    other = -1
    call MPI_Irecv(other, 1, real_type, mod(my_rank + num_ranks - 1, num_ranks), 3, world, requests(1), error)
    call MPI_Isend(mine, 1, real_type, mod(my_rank + 1, num_ranks), 3, world, requests(2), error)
    call nuice_start(x(1))
    call nuice_waitall_mpi(x, requests)
    call check(nint(other) == mod(my_rank + num_ranks - 1, num_ranks), 'a request of MPI')
  end subroutine
#endif

  !> To the next rank, which does not expect it.
  subroutine test_sparse()
    real(real64), target :: numbers(4)
    real(real64), pointer :: came(:)
    type(nuice_received) :: received
    type(c_ptr) :: data
    integer :: num_messages, rank, stat
    integer(int64) :: bytes
    character(200) :: errmsg
    numbers = [0.5_real64, real(my_rank, real64), 7.0_real64, 0.25_real64]
    call nuice_sparse_alltoallv(numbers, [mod(my_rank + 1, num_ranks)], [2], [1], real_type, world, received)
    call nuice_received_size(received, num_messages)
    call check(num_messages == 1, 'one message')
    call nuice_received_message(received, 0, rank, bytes, data)
    call c_f_pointer(data, came, [2])
    call check(rank == mod(my_rank + num_ranks - 1, num_ranks) .and. bytes == 16, 'from the rank before')
    call check(nint(came(1)) == rank .and. nint(came(2)) == 7, 'its numbers')
    call nuice_received_free(received)
    call nuice_sparse_alltoallv(numbers, [0], [2, 2], [1], real_type, world, received, stat, errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, '')
  end subroutine

  subroutine test_properties()
    type(nuice_plan) :: plan, followed
    type(nuice_matrix) :: matrix
    type(nuice_schedule) :: schedule
    integer, allocatable :: ranks(:)
    integer(int64), allocatable :: bytes(:)
    integer :: r, num_destinations, num_sources
    real(real64) :: phases
    character(:), allocatable :: text
    call ring(3, plan, 'scheduler=lp')
    call nuice_plan_num_partners(plan, num_destinations, num_sources)
    call check(num_destinations == 1 .and. num_sources == 1, 'partners')
    call nuice_plan_destinations(plan, ranks, bytes)
    call check(ranks(1) == mod(my_rank + 1, num_ranks) .and. bytes(1) == 24, 'destinations')
    call nuice_plan_sources(plan, ranks, bytes)
    call check(ranks(1) == mod(my_rank + num_ranks - 1, num_ranks) .and. bytes(1) == 24, 'sources')
    call nuice_plan_figure(plan, 'phases', phases)
    call check(phases >= merge(1, 0, num_ranks > 1), 'phases')
    call nuice_plan_text(plan, 'scheduler', text)
    call check(text == 'lp', 'the scheduler')
    call nuice_plan_follow(plan, [integer ::], [integer(int64) ::], followed)
    call nuice_plan_num_partners(followed, num_destinations, num_sources)
    call check(num_destinations == 0 .and. num_sources == 0, 'followed')
    call nuice_plan_free(followed)
    call nuice_plan_follow_on(plan, world, followed)
    call nuice_plan_num_partners(followed, num_destinations, num_sources)
    call check(num_destinations == 1 .and. num_sources == 1, 'followed on')
    call nuice_plan_free(followed)
    call nuice_plan_free(plan)
    call nuice_matrix_create(num_ranks, [(r, r = 0, num_ranks - 1)], [(mod(r + 1, num_ranks), r = 0, num_ranks - 1)], &
      [(80_int64, r = 1, num_ranks)], matrix)
    call nuice_schedule_create(matrix, schedule)
    call nuice_plan_create_from_schedule(world, matrix, schedule, plan, options='executor=async')
    if (num_ranks > 1) call exchange_arrays(plan, NUICE_FORWARDS)
    call nuice_plan_free(plan)
    call nuice_schedule_free(schedule)
    call nuice_matrix_free(matrix)
  end subroutine

  !> Three entries on each rank of a ring; each needs one on either side.
  subroutine test_halo()
    integer(int64) :: begins(0:num_ranks), mine(3), needed(2), num_owned, num_ghosts, locals(2), total
    integer(int64), allocatable :: ghosts(:)
    integer :: owners(0:3 * num_ranks - 1), kind, i
    type(nuice_halo) :: halo
    total = 3 * num_ranks
    begins = [(3_int64 * i, i = 0, num_ranks)]
    owners = [(i / 3, i = 0, 3 * num_ranks - 1)]
    mine = 3_int64 * my_rank + [0, 1, 2]
    needed = [modulo(mine(1) - 1, total), modulo(mine(3) + 1, total)]
    do kind = 1, 3
      if (kind == 1) call nuice_halo_create_ranges(world, begins, needed, halo, options='scheduler=coloring')
      if (kind == 2) call nuice_halo_create_owners(world, owners, needed, halo, entry_bytes=16_int64)
      if (kind == 3) call nuice_halo_create_list(world, mine, needed, halo)
      call nuice_halo_num_entries(halo, num_owned, num_ghosts)
      call check(num_owned == 3 .and. num_ghosts == merge(2, 0, num_ranks > 1), 'entries')
      call nuice_halo_ghosts(halo, ghosts)
      call nuice_halo_local_indices(halo, needed, locals)
      if (num_ranks > 1) call check(all(ghosts(locals - 2) == needed), 'local indices')
      call gather_and_scatter(halo, mine, ghosts)
      call nuice_halo_free(halo)
    end do
  end subroutine

  subroutine gather_and_scatter(halo, mine, ghosts)
    type(nuice_halo), intent(in) :: halo
    integer(int64), intent(in) :: mine(:), ghosts(:)
    real(real32), asynchronous :: owned(2, 3), fetched(2, size(ghosts))
    real(real64), asynchronous :: sums(3), tens(size(ghosts))
    type(nuice_exchange) :: x
    real(real64) :: more
    owned(1, :) = real(mine)
    owned(2, :) = -real(mine)
    call nuice_halo_bind_gather(halo, owned, fetched, x, components=2)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(fetched(1, :) == real(ghosts)) .and. all(fetched(2, :) == -real(ghosts)), 'a gather')
    call nuice_exchange_free(x)
    sums = 1
    tens = 10
    more = merge(10, 0, num_ranks > 1)
    call nuice_halo_bind_scatter(halo, tens, sums, real_type, add, x)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(sums == [1 + more, real(1, real64), 1 + more]), 'a scatter')
    call nuice_exchange_free(x)
    sums = 256 + real(mine, real64) / 1024
    call nuice_halo_bind_gather(halo, sums, tens, x, wire=NUICE_WIRE_BFLOAT16)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(tens == 256), 'doubles that travel as bfloat16')
    call nuice_exchange_free(x)
    call nuice_halo_bind_gather(halo, sums, tens, x)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(tens == 256 + real(ghosts, real64) / 1024), 'a gather after it')
    call nuice_exchange_free(x)
    sums = 0.25
    more = merge(256, 0, num_ranks > 1)
    call nuice_halo_bind_scatter(halo, tens, sums, real_type, add, x, wire=NUICE_WIRE_BFLOAT16)
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call check(all(sums == 0.25 + [more, 0.0_real64, more]), 'a scatter of doubles that travel as bfloat16')
    call nuice_exchange_free(x)
  end subroutine

  subroutine test_errors()
    type(nuice_plan) :: plan
    type(nuice_exchange) :: x
    real(real64), asynchronous :: send(20), receive(20)
    integer :: stat
    character(200) :: errmsg
    call nuice_plan_create(world, [0], [8_int64], plan, 'colour=red', stat, errmsg)
    call failed(stat, NUICE_ERR_PARSE, errmsg, 'colour')
    call nuice_plan_create(world, [0, 1], [8_int64], plan, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'entries')
    call ring(10, plan, '')
    if (num_ranks > 1) then
      ! An array with gaps on one rank is an error of all; so is one that is too small.
      if (my_rank == 0) call nuice_plan_bind_array(plan, send(1:20:2), receive, x, stat=stat, errmsg=errmsg)
      if (my_rank /= 0) call nuice_plan_bind_array(plan, send(1:10), receive, x, stat=stat, errmsg=errmsg)
      call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'rank 0')
    end if
    call nuice_plan_bind_array(plan, send(1:9), receive, x, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'not inside the array of 72 bytes')
    call nuice_exchange_start(x, stat, errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'exchange is NULL')
    call test_too_few(plan)
    call nuice_plan_free(plan)
  end subroutine

  !> Arrays that know their length are not read behind their end.
  subroutine test_too_few(plan)
    type(nuice_plan), intent(in) :: plan
    type(nuice_exchange) :: x
    real(real64), target, asynchronous :: buffer(10), other(10)
    integer(int8), allocatable, target, asynchronous :: large(:)
    integer(int64) :: counts(2, 1), one(1, 1), nowhere(0)
    type(c_ptr) :: at(0)
    integer :: stat
    character(200) :: errmsg
    counts = 5
    one = 10
    call nuice_plan_bind(plan, at, [c_loc(other)], x, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'null')
    call nuice_plan_bind(plan, [c_loc(buffer)], at, x, NUICE_BACKWARDS, stat, errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'null')
    call nuice_plan_bind_array(plan, buffer, other, x, send_offsets=nowhere, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'not inside the array')
    call nuice_plan_bind_fields(plan, [c_loc(buffer)], [real_type], counts, [c_loc(other)], [real_type], one, x, stat=stat, &
      errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'fields')
    call nuice_plan_bind_fields(plan, [c_loc(buffer)], [real_type], one, [c_loc(other)], [real_type], one, x, &
      receive_offsets=counts, stat=stat, errmsg=errmsg)
    call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'fields')
    allocate (large(2_int64**31))  ! never touched but where the message lies; its length is no default integer
    call nuice_plan_bind_array(plan, large, other, x, stat=stat, errmsg=errmsg)
    call check(stat == NUICE_OK, 'an array of 2 GiB')
    call nuice_exchange_free(x)
  end subroutine

  !> 2^29 + 1 components of 8 bytes are not one.
  subroutine test_many_components()
    type(nuice_halo) :: halo
    type(nuice_exchange) :: x
    real(real64), asynchronous :: owned(1), ghosts(1)
    integer :: i, stat
    character(200) :: errmsg
    call nuice_halo_create_ranges(world, [(int(i, int64), i = 0, num_ranks)], [mod(my_rank + 1_int64, int(num_ranks, int64))], &
      halo)
    call nuice_halo_bind_gather(halo, owned, ghosts, x, components=2**29 + 1, stat=stat, errmsg=errmsg)
    call check(stat /= NUICE_OK, 'more components than there is room for')
    call nuice_halo_bind_scatter(halo, ghosts, owned, real_type, add, x, components=2**29 + 1, stat=stat, errmsg=errmsg)
    call check(stat /= NUICE_OK, 'more components to scatter than there is room for')
    call nuice_halo_free(halo)
  end subroutine
end module

program exchanges
  use ways
  implicit none
  call begin()
  call test_exchanges()
  call test_alltoallv()
  call test_properties()
  call test_halo()
  call test_errors()
  call test_many_components()
  if (my_rank == 0) call test_planner('.')
  call finish()
end program
