! SPDX-License-Identifier: BSD-3-Clause
! NUICE from Fortran. The procedures have the names of nuice/nuice.h, which also describes each procedure, its
! errors and which ranks must call it. docs/how-to/languages.md compares the languages.
!
!   use nuice
!   type(nuice_plan) :: plan
!   type(nuice_exchange) :: x
!   real(real64), asynchronous :: send(512), receive(512)
!   call nuice_plan_create(MPI_COMM_WORLD, [3, 5], [4096_int64, 1024_int64], plan, options="scheduler=auto")
!   call nuice_plan_bind_array(plan, send, receive, x)
!   do step = 1, steps
!     call nuice_exchange_start(x)
!     ! ... work that needs no new data ...
!     call nuice_exchange_wait(x)
!   end do
!   call nuice_exchange_free(x)
!   call nuice_plan_free(plan)
!
! stat= and errmsg= work as in the Fortran standard. Without stat, an error is printed and ends the program on
! all ranks. Communicators, datatypes and operations are those of mpif.h, module mpi or module mpi_f08. Ranks,
! offsets and global indices count from 0, as in MPI and in C. Sizes are integer(int64). Bound arrays may have
! any type and number of dimensions. They must be contiguous, and asynchronous or target, as for MPI_Isend.
! This file is installed as source, because a .mod file can be read by one compiler only.
module nuice
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real64
  use nuice_c
  implicit none
  private

  type, public :: nuice_plan
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: nuice_exchange
    type(c_ptr) :: handle = c_null_ptr
  end type
  !> The messages that nuice_sparse_alltoallv received.
  type, public :: nuice_received
    type(c_ptr) :: handle = c_null_ptr
  end type
  !> The request that nuice_alltoallv_init() and the other procedures with MPI's arguments return. All
  !> procedures with a nuice_exchange argument accept it too.
  type, public, extends(nuice_exchange) :: nuice_request
  end type
  type, public :: nuice_halo
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: nuice_matrix
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: nuice_schedule
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: nuice_advice
    type(c_ptr) :: handle = c_null_ptr
  end type

  integer, parameter, public :: NUICE_OK = 0, NUICE_ERR_INVALID_ARGUMENT = 1, NUICE_ERR_PARSE = 2, &
    NUICE_ERR_IO = 3, NUICE_ERR_NOT_APPLICABLE = 4, NUICE_ERR_LIMIT = 5, NUICE_ERR_MISMATCH = 6, &
    NUICE_ERR_STATE = 7, NUICE_ERR_MPI = 8, NUICE_ERR_TIMEOUT = 9, NUICE_ERR_DEVICE = 10
  integer, parameter, public :: NUICE_FORWARDS = 0, NUICE_BACKWARDS = 1
  integer, parameter, public :: NUICE_WIRE_AS_IS = 0, NUICE_WIRE_FLOAT32 = 1, NUICE_WIRE_BFLOAT16 = 2

  interface nuice_start
    module procedure nuice_exchange_start
  end interface
  interface nuice_test
    module procedure nuice_exchange_test
  end interface
  interface nuice_wait
    module procedure nuice_exchange_wait
  end interface
  interface nuice_free
    module procedure nuice_exchange_free
  end interface

  public :: nuice_alltoallv, nuice_alltoallw, nuice_neighbor_alltoallv, nuice_neighbor_alltoallw, &
    nuice_ready, nuice_arrived
  public :: nuice_alltoallv_init, nuice_alltoallw_init, nuice_neighbor_alltoallv_init, &
    nuice_neighbor_alltoallw_init, nuice_start, nuice_test, nuice_wait, nuice_free, nuice_waitall, nuice_waitany, &
    nuice_testsome, nuice_waitall_mpi, nuice_sparse_alltoallv, nuice_received_size, nuice_received_message, &
    nuice_received_free
  public :: nuice_plan_create, nuice_plan_create_from_schedule, nuice_plan_follow, nuice_plan_follow_on, nuice_plan_num_partners, &
    nuice_plan_destinations, nuice_plan_sources, nuice_plan_figure, nuice_plan_text, nuice_plan_free, &
    nuice_plan_bind, nuice_plan_bind_array, nuice_plan_bind_fields
  public :: nuice_exchange_start_on, nuice_exchange_wait_on
  public :: nuice_exchange_start, nuice_exchange_test, nuice_exchange_wait, nuice_exchange_next, &
    nuice_exchange_poll, nuice_exchange_is_under_way, nuice_exchange_text, nuice_exchange_free
  public :: nuice_halo_create_ranges, nuice_halo_create_owners, nuice_halo_create_list, &
    nuice_halo_num_entries, nuice_halo_ghosts, nuice_halo_local_indices, nuice_halo_bind_gather, &
    nuice_halo_bind_scatter, nuice_halo_free
  public :: nuice_matrix_create, nuice_matrix_load, nuice_matrix_save, nuice_matrix_size, &
    nuice_matrix_messages, nuice_matrix_free
  public :: nuice_schedule_create, nuice_schedule_load, nuice_schedule_save, nuice_schedule_check, &
    nuice_schedule_size, nuice_schedule_pieces, nuice_schedule_free
  public :: nuice_advice_create, nuice_advice_text, nuice_advice_free
  public :: nuice_version, nuice_mpi_name, nuice_status_name, nuice_error_text, nuice_table_row

contains

  ! ---- plans ----------------------------------------------------------------------------------------------------------

  !> ranks, bytes: the ranks to which this rank sends, and the bytes for each of them; arrays of equal length.
  subroutine nuice_plan_create(comm, ranks, bytes, plan, options, stat, errmsg)
    type(*), intent(in) :: comm
    integer, intent(in) :: ranks(:)
    integer(int64), intent(in) :: bytes(:)
    type(nuice_plan), intent(out) :: plan
    character(*), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: count
    count = size(ranks)
    if (size(bytes) /= count) count = -1  ! all ranks refuse it
    call finish(c_plan_create_f(mpi_handle(comm), count, ranks, bytes, c_text(options), plan%handle), stat, errmsg)
  end subroutine

  subroutine nuice_plan_create_from_schedule(comm, matrix, schedule, plan, options, stat, errmsg)
    type(*), intent(in) :: comm
    type(nuice_matrix), intent(in) :: matrix
    type(nuice_schedule), intent(in) :: schedule
    type(nuice_plan), intent(out) :: plan
    character(*), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_plan_create_from_schedule_f(mpi_handle(comm), matrix%handle, schedule%handle, c_text(options), &
      plan%handle), stat, errmsg)
  end subroutine

  !> ranks, bytes: all messages of the new plan, as for nuice_plan_create. plan does not change.
  subroutine nuice_plan_follow(plan, ranks, bytes, followed, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    integer, intent(in) :: ranks(:)
    integer(int64), intent(in) :: bytes(:)
    type(nuice_plan), intent(out) :: followed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: count
    count = size(ranks)
    if (size(bytes) /= count) count = -1  ! all ranks refuse it
    call finish(c_plan_follow(plan%handle, count, ranks, bytes, followed%handle), stat, errmsg)
  end subroutine

  !> comm: a communicator of the plan's ranks that remain. plan does not change.
  subroutine nuice_plan_follow_on(plan, comm, followed, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    type(*), intent(in) :: comm
    type(nuice_plan), intent(out) :: followed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_plan_follow_on_f(plan%handle, mpi_handle(comm), followed%handle), stat, errmsg)
  end subroutine

  subroutine nuice_plan_num_partners(plan, num_destinations, num_sources, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    integer, intent(out) :: num_destinations, num_sources
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_plan_num_partners(plan%handle, num_destinations, num_sources), stat, errmsg)
  end subroutine

  !> Allocates ranks and bytes.
  subroutine nuice_plan_destinations(plan, ranks, bytes, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    integer, allocatable, intent(out) :: ranks(:)
    integer(int64), allocatable, intent(out) :: bytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: count, other, status
    count = 0
    status = c_plan_num_partners(plan%handle, count, other)
    allocate (ranks(count), bytes(count))
    if (status == NUICE_OK) status = c_plan_destinations(plan%handle, ranks, bytes)
    call finish(status, stat, errmsg)
  end subroutine

  !> Allocates ranks and bytes.
  subroutine nuice_plan_sources(plan, ranks, bytes, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    integer, allocatable, intent(out) :: ranks(:)
    integer(int64), allocatable, intent(out) :: bytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: count, other, status
    count = 0
    status = c_plan_num_partners(plan%handle, other, count)
    allocate (ranks(count), bytes(count))
    if (status == NUICE_OK) status = c_plan_sources(plan%handle, ranks, bytes)
    call finish(status, stat, errmsg)
  end subroutine

  subroutine nuice_plan_figure(plan, name, value, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    character(*), intent(in) :: name
    real(real64), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    value = 0
    call finish(c_plan_figure(plan%handle, c_text(name), value), stat, errmsg)
  end subroutine

  subroutine nuice_plan_text(plan, name, text, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: at
    call take_text(c_plan_text(plan%handle, c_text(name), at), at, text, stat, errmsg)
  end subroutine

  subroutine nuice_plan_free(plan, stat, errmsg)
    type(nuice_plan), intent(inout) :: plan
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_plan_free(plan%handle), stat, errmsg)
  end subroutine

  ! ---- binding --------------------------------------------------------------------------------------------------------

  !> send, receive: addresses by c_loc(), one for each partner. All ranks refuse the call if there are too
  !> few.
  subroutine nuice_plan_bind(plan, send, receive, exchange, direction, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    type(c_ptr), intent(in) :: send(:), receive(:)
    type(nuice_exchange), intent(out) :: exchange
    integer, intent(in), optional :: direction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: num_send, num_receive, status
    call count_partners(plan, direction, num_send, num_receive)
    if (size(send) >= num_send .and. size(receive) >= num_receive) then
      status = c_plan_bind(plan%handle, send, receive, way(direction), exchange%handle)
    else
      status = c_plan_bind(plan%handle, direction=way(direction), exchange=exchange%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine

  !> send, receive: one array that holds all data to send, and one for all data to receive. Offsets are in
  !> bytes, one for each partner.
  subroutine nuice_plan_bind_array(plan, send, receive, exchange, send_offsets, receive_offsets, direction, stat, &
    errmsg)
    type(nuice_plan), intent(in) :: plan
    class(*), dimension(..), intent(in), target, asynchronous :: send
    class(*), dimension(..), intent(inout), target, asynchronous :: receive
    type(nuice_exchange), intent(out) :: exchange
    integer(int64), intent(in), optional :: send_offsets(:), receive_offsets(:)
    integer, intent(in), optional :: direction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: num_send, num_receive, status
    logical :: are_enough
    call count_partners(plan, direction, num_send, num_receive)
    are_enough = .true.
    if (present(send_offsets)) are_enough = size(send_offsets) >= num_send
    if (present(receive_offsets)) are_enough = are_enough .and. size(receive_offsets) >= num_receive
    if (are_enough) then
      status = c_plan_bind_array(plan%handle, address(send), bytes_of(send), send_offsets, address(receive), &
        bytes_of(receive), receive_offsets, way(direction), exchange%handle)
    else
      status = c_plan_bind_array(plan%handle, c_null_ptr, 0_int64, receive=c_null_ptr, receive_bytes=0_int64, &
        direction=way(direction), exchange=exchange%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine

  !> For each field f: the address send(f) by c_loc(), the type send_types(f), and for each partner i the
  !> send_counts(i, f) elements from element send_offsets(i, f) on.
  subroutine nuice_plan_bind_fields(plan, send, send_types, send_counts, receive, receive_types, receive_counts, exchange, &
    send_offsets, receive_offsets, direction, stat, errmsg)
    type(nuice_plan), intent(in) :: plan
    type(c_ptr), intent(in) :: send(:), receive(:)
    type(*), contiguous, intent(in) :: send_types(:), receive_types(:)
    integer(int64), intent(in) :: send_counts(:, :), receive_counts(:, :)
    type(nuice_exchange), intent(out) :: exchange
    integer(int64), intent(in), optional :: send_offsets(:, :), receive_offsets(:, :)
    integer, intent(in), optional :: direction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: num_fields, num_send, num_receive
    call count_partners(plan, direction, num_send, num_receive)
    num_fields = size(send)
    if (size(receive) /= num_fields .or. size(send_types) /= num_fields .or. size(receive_types) /= num_fields &
      .or. any(shape(send_counts) /= [num_send, num_fields]) .or. any(shape(receive_counts) /= [num_receive, num_fields])) &
      num_fields = -1  ! all ranks refuse it
    if (present(send_offsets)) then
      if (any(shape(send_offsets) /= shape(send_counts))) num_fields = -1
    end if
    if (present(receive_offsets)) then
      if (any(shape(receive_offsets) /= shape(receive_counts))) num_fields = -1
    end if
    call finish(c_plan_bind_fields_f(plan%handle, num_fields, send, mpi_handles(send_types), send_counts, &
      send_offsets, receive, mpi_handles(receive_types), receive_counts, receive_offsets, way(direction), &
      exchange%handle), stat, errmsg)
  end subroutine

  ! ---- exchanges ------------------------------------------------------------------------------------------------------

  subroutine nuice_exchange_start(exchange, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_exchange_start(exchange%handle), stat, errmsg)
  end subroutine

  !> stream: a cudaStream_t or hipStream_t.
  subroutine nuice_exchange_start_on(exchange, stream, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_exchange_start_on(exchange%handle, stream), stat, errmsg)
  end subroutine

  !> stream: a cudaStream_t or hipStream_t.
  subroutine nuice_exchange_wait_on(exchange, stream, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_exchange_wait_on(exchange%handle, stream), stat, errmsg)
  end subroutine

  subroutine nuice_exchange_test(exchange, done, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    logical, intent(out) :: done
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: flag
    flag = 0
    call finish(c_exchange_test(exchange%handle, flag), stat, errmsg)
    done = flag /= 0
  end subroutine

  subroutine nuice_exchange_wait(exchange, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_exchange_wait(exchange%handle), stat, errmsg)
  end subroutine

  !> partner: the index of a partner whose message has arrived, which counts from 0; -1: all have arrived.
  subroutine nuice_exchange_next(exchange, partner, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    integer, intent(out) :: partner
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    partner = -1
    call finish(c_exchange_next(exchange%handle, partner), stat, errmsg)
  end subroutine

  !> partner: as in nuice_exchange_next, but -1 also if no message has arrived yet.
  subroutine nuice_exchange_poll(exchange, partner, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    integer, intent(out) :: partner
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    partner = -1
    call finish(c_exchange_poll(exchange%handle, partner), stat, errmsg)
  end subroutine

  subroutine nuice_exchange_is_under_way(exchange, under_way, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    logical, intent(out) :: under_way
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: flag
    flag = 0
    call finish(c_exchange_is_under_way(exchange%handle, flag), stat, errmsg)
    under_way = flag /= 0
  end subroutine

  subroutine nuice_exchange_text(exchange, name, text, stat, errmsg)
    class(nuice_exchange), intent(in) :: exchange
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: at
    call take_text(c_exchange_text(exchange%handle, c_text(name), at), at, text, stat, errmsg)
  end subroutine

  subroutine nuice_exchange_free(exchange, stat, errmsg)
    class(nuice_exchange), intent(inout) :: exchange
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_exchange_free(exchange%handle), stat, errmsg)
  end subroutine

  ! ---- halos ----------------------------------------------------------------------------------------------------------

  subroutine nuice_halo_create_ranges(comm, begins, needed, halo, entry_bytes, options, stat, errmsg)
    type(*), intent(in) :: comm
    integer(int64), intent(in) :: begins(:), needed(:)
    type(nuice_halo), intent(out) :: halo
    integer(int64), intent(in), optional :: entry_bytes
    character(*), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_halo_create_ranges_f(mpi_handle(comm), begins, size(needed, kind=int64), needed, entry(entry_bytes), &
      c_text(options), halo%handle), stat, errmsg)
  end subroutine

  subroutine nuice_halo_create_owners(comm, owners, needed, halo, entry_bytes, options, stat, errmsg)
    type(*), intent(in) :: comm
    integer, intent(in) :: owners(:)
    integer(int64), intent(in) :: needed(:)
    type(nuice_halo), intent(out) :: halo
    integer(int64), intent(in), optional :: entry_bytes
    character(*), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_halo_create_owners_f(mpi_handle(comm), size(owners, kind=int64), owners, size(needed, kind=int64), needed, &
      entry(entry_bytes), c_text(options), halo%handle), stat, errmsg)
  end subroutine

  subroutine nuice_halo_create_list(comm, owned, needed, halo, entry_bytes, options, stat, errmsg)
    type(*), intent(in) :: comm
    integer(int64), intent(in) :: owned(:), needed(:)
    type(nuice_halo), intent(out) :: halo
    integer(int64), intent(in), optional :: entry_bytes
    character(*), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_halo_create_list_f(mpi_handle(comm), size(owned, kind=int64), owned, size(needed, kind=int64), needed, &
      entry(entry_bytes), c_text(options), halo%handle), stat, errmsg)
  end subroutine

  subroutine nuice_halo_num_entries(halo, num_owned, num_ghosts, stat, errmsg)
    type(nuice_halo), intent(in) :: halo
    integer(int64), intent(out) :: num_owned, num_ghosts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_halo_num_entries(halo%handle, num_owned, num_ghosts), stat, errmsg)
  end subroutine

  !> Allocates ghosts.
  subroutine nuice_halo_ghosts(halo, ghosts, stat, errmsg)
    type(nuice_halo), intent(in) :: halo
    integer(int64), allocatable, intent(out) :: ghosts(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: num_owned, num_ghosts
    integer :: status
    num_ghosts = 0
    status = c_halo_num_entries(halo%handle, num_owned, num_ghosts)
    allocate (ghosts(num_ghosts))
    if (status == NUICE_OK) status = c_halo_ghosts(halo%handle, ghosts)
    call finish(status, stat, errmsg)
  end subroutine

  !> locals has the length of globals; local indices count from 0.
  subroutine nuice_halo_local_indices(halo, globals, locals, stat, errmsg)
    type(nuice_halo), intent(in) :: halo
    integer(int64), intent(in) :: globals(:)
    integer(int64), intent(out) :: locals(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: count
    count = size(globals, kind=int64)
    if (size(locals, kind=int64) < count) count = -1
    call finish(c_halo_local_indices(halo%handle, count, globals, locals), stat, errmsg)
  end subroutine

  !> components: the number of array elements per entry, 1 if absent. wire: the format in which doubles are
  !> sent, NUICE_WIRE_AS_IS if absent.
  subroutine nuice_halo_bind_gather(halo, owned, ghosts, exchange, components, stat, errmsg, wire)
    type(nuice_halo), intent(in) :: halo
    class(*), dimension(..), intent(in), target, asynchronous :: owned
    class(*), dimension(..), intent(inout), target, asynchronous :: ghosts
    type(nuice_exchange), intent(out) :: exchange
    integer, intent(in), optional :: components
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: wire
    integer(int64) :: entry_bytes(1), num_owned, num_ghosts
    type(c_ptr) :: from(1), to(1)
    integer :: status
    entry_bytes = storage_size(owned, kind=int64) / 8 * width(components)
    num_owned = 0
    num_ghosts = 0
    status = c_halo_num_entries(halo%handle, num_owned, num_ghosts)
    if (status == NUICE_OK) status = set_wire(halo, wire)
    from = room_for(owned, num_owned * entry_bytes(1))
    to = room_for(ghosts, num_ghosts * entry_bytes(1))
    if (status == NUICE_OK) status = c_halo_bind_gather(halo%handle, 1, from, to, entry_bytes, exchange%handle)
    call finish(status, stat, errmsg)
  end subroutine

  !> type, op: a datatype and an operation of MPI. components: the number of values per entry, 1 if absent.
  subroutine nuice_halo_bind_scatter(halo, ghosts, owned, type, op, exchange, components, stat, errmsg, wire)
    type(nuice_halo), intent(in) :: halo
    class(*), dimension(..), intent(in), target, asynchronous :: ghosts
    class(*), dimension(..), intent(inout), target, asynchronous :: owned
    type(*), intent(in) :: type, op
    type(nuice_exchange), intent(out) :: exchange
    integer, intent(in), optional :: components
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: wire
    integer(int64) :: entry_bytes, num_owned, num_ghosts
    type(c_ptr) :: from(1), to(1)
    integer :: status
    entry_bytes = storage_size(ghosts, kind=int64) / 8 * width(components)
    num_owned = 0
    num_ghosts = 0
    status = c_halo_num_entries(halo%handle, num_owned, num_ghosts)
    if (status == NUICE_OK) status = set_wire(halo, wire)
    from = room_for(ghosts, num_ghosts * entry_bytes)
    to = room_for(owned, num_owned * entry_bytes)
    if (status == NUICE_OK) status = c_halo_bind_scatter_f(halo%handle, 1, from, to, [width(components)], &
      [mpi_handle(type)], mpi_handle(op), exchange%handle)
    call finish(status, stat, errmsg)
  end subroutine

  !> Sets the format in which the field that is bound next is sent.
  integer function set_wire(halo, wire)
    type(nuice_halo), intent(in) :: halo
    integer, intent(in), optional :: wire
    integer :: wires(1)
    wires = NUICE_WIRE_AS_IS
    if (present(wire)) wires = wire
    set_wire = c_halo_set_wires(halo%handle, 1, wires)
  end function

  subroutine nuice_halo_free(halo, stat, errmsg)
    type(nuice_halo), intent(inout) :: halo
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_halo_free(halo%handle), stat, errmsg)
  end subroutine

#include "nuice_alltoallv.inc"
#include "nuice_once.inc"
#include "nuice_planner.inc"

  ! ---- procedures that the above share --------------------------------------------------------------------------------

  !> Returns the status in stat. Without stat an error ends the program.
  subroutine finish(status, stat, errmsg)
    integer, intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = status
    if (status == NUICE_OK) return
    if (present(errmsg)) errmsg = nuice_error_text()
    if (present(stat)) return
    write (error_unit, '(a)') 'nuice: ' // nuice_error_text()
    error stop 1
  end subroutine

  subroutine take_text(status, at, text, stat, errmsg)
    integer, intent(in) :: status
    type(c_ptr), intent(in) :: at
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    text = ''
    if (status == NUICE_OK) text = f_text(at)
    call finish(status, stat, errmsg)
  end subroutine

  pure function c_text(text)
    character(*), intent(in), optional :: text
    character(:), allocatable :: c_text
    c_text = c_null_char
    if (present(text)) c_text = trim(text) // c_null_char
  end function

  function f_text(at)
    type(c_ptr), intent(in) :: at
    character(:), allocatable :: f_text
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i
    length = 0
    if (c_associated(at)) then
      call c_f_pointer(at, characters, [huge(1)])
      do while (characters(length + 1) /= c_null_char)
        length = length + 1
      end do
    end if
    allocate (character(length) :: f_text)
    do i = 1, length
      f_text(i:i) = characters(i)
    end do
  end function

  !> Counts the partners to which a plan sends in this direction and from which it receives. A freed plan has
  !> no partners.
  subroutine count_partners(plan, direction, num_send, num_receive)
    type(nuice_plan), intent(in) :: plan
    integer, intent(in), optional :: direction
    integer, intent(out) :: num_send, num_receive
    integer :: num_destinations, num_sources, status
    num_destinations = 0
    num_sources = 0
    status = c_plan_num_partners(plan%handle, num_destinations, num_sources)
    num_send = merge(num_sources, num_destinations, way(direction) == NUICE_BACKWARDS)
    num_receive = num_destinations + num_sources - num_send
  end subroutine

  pure integer function way(direction)
    integer, intent(in), optional :: direction
    way = NUICE_FORWARDS
    if (present(direction)) way = direction
  end function

  pure integer function width(components)
    integer, intent(in), optional :: components
    width = 1
    if (present(components)) width = components
  end function

  pure integer(int64) function entry(entry_bytes)
    integer(int64), intent(in), optional :: entry_bytes
    entry = 8
    if (present(entry_bytes)) entry = entry_bytes
  end function

  !> Returns MPI's integer handle: the argument itself with mpif.h and module mpi, or the only component of a
  !> type of module mpi_f08.
  function mpi_handle(handle)
    type(*), intent(in), target :: handle
    integer, pointer :: mpi_handle
    type(c_ptr) :: at
    at = c_loc(handle)
    call c_f_pointer(at, mpi_handle)
  end function

  function mpi_handles(handles)
    type(*), contiguous, intent(in), target :: handles(:)
    integer, pointer :: mpi_handles(:)
    type(c_ptr) :: at
    at = c_loc(handles)
    call c_f_pointer(at, mpi_handles, [size(handles)])
  end function

  !> Returns NULL for an array with gaps, which all ranks then refuse: a compiler's contiguous copy would be
  !> gone when the exchange runs.
  function address(array)
    type(*), dimension(..), intent(in), target, asynchronous :: array
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(array, kind=int64) > 0 .and. is_contiguous(array)) address = c_loc(array)
  end function

  pure integer(int64) function bytes_of(array)
    class(*), dimension(..), intent(in) :: array
    bytes_of = storage_size(array) / 8 * size(array, kind=int64)
  end function

  !> Returns the address of an array, or NULL if it has gaps or is smaller than this number of bytes.
  function room_for(array, bytes)
    class(*), dimension(..), intent(in), target, asynchronous :: array
    integer(int64), intent(in) :: bytes
    type(c_ptr) :: room_for
    room_for = c_null_ptr
    if (bytes_of(array) >= bytes) room_for = address(array)
  end function

end module nuice
