! SPDX-License-Identifier: BSD-3-Clause
! Interfaces of the C functions of nuice/nuice.h, for module nuice. Programs use module nuice.
! Handles are C pointers, strings end with a null character, and MPI's handles are integers (in functions
! whose names end in _f). An absent array is NULL.
module nuice_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> The struct nuice_blocks_f.
  type, bind(c) :: c_blocks
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: bytes = 0, stride = 0, num_blocks = 0
    type(c_ptr) :: counts = c_null_ptr, displs = c_null_ptr
    integer(c_int) :: count_bytes = 4, displ_bytes = 4
    integer(c_int64_t) :: num_types = 0
    type(c_ptr) :: types = c_null_ptr
  end type

  interface
    integer(c_int) function c_waitall(count, requests) bind(c, name="nuice_waitall")
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: requests(*)
    end function
    integer(c_int) function c_waitall_mpi_f(count, requests, mpi_count, mpi_requests) &
      bind(c, name="nuice_waitall_mpi_f")
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: requests(*)
      integer(c_int), value :: mpi_count
      integer(c_int), intent(inout) :: mpi_requests(*)
    end function
    integer(c_int) function c_sparse_alltoallv_f(num_messages, ranks, addresses, counts, types, comm, &
      received) &
      bind(c, name="nuice_sparse_alltoallv_f")
      import
      integer(c_int), value :: num_messages
      integer(c_int), intent(in) :: ranks(*)
      type(c_ptr), intent(in) :: addresses(*)
      integer(c_int64_t), intent(in) :: counts(*)
      integer(c_int), intent(in) :: types(*)
      integer(c_int), value :: comm
      type(c_ptr), intent(inout) :: received
    end function
    integer(c_int) function c_received_size(received, num_messages) bind(c, name="nuice_received_size")
      import
      type(c_ptr), value :: received
      integer(c_int), intent(out) :: num_messages
    end function
    integer(c_int) function c_received_message(received, i, rank, bytes, data) &
      bind(c, name="nuice_received_message")
      import
      type(c_ptr), value :: received
      integer(c_int), value :: i
      integer(c_int), intent(out) :: rank
      integer(c_int64_t), intent(out) :: bytes
      type(c_ptr), intent(out) :: data
    end function
    integer(c_int) function c_received_free(received) bind(c, name="nuice_received_free")
      import
      type(c_ptr), intent(inout) :: received
    end function
    integer(c_int) function c_waitany(count, requests, index) bind(c, name="nuice_waitany")
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: requests(*)
      integer(c_int), intent(out) :: index
    end function
    integer(c_int) function c_testsome(count, requests, num_done, indices) bind(c, name="nuice_testsome")
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: requests(*)
      integer(c_int), intent(out) :: num_done
      integer(c_int), intent(inout) :: indices(*)
    end function
    integer(c_int) function c_alltoallv_init_f(call, send, receive, comm, options, fault, request) &
      bind(c, name="nuice_alltoallv_init_f")
      import
      integer(c_int), value :: call
      type(c_blocks), intent(in) :: send, receive
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: options(*), fault(*)
      type(c_ptr), intent(inout) :: request
    end function
    integer(c_int) function c_ready(request, i) bind(c, name="nuice_ready")
      import
      type(c_ptr), value :: request
      integer(c_int), value :: i
    end function
    integer(c_int) function c_arrived(request, i, arrived) bind(c, name="nuice_arrived")
      import
      type(c_ptr), value :: request
      integer(c_int), value :: i
      integer(c_int), intent(inout) :: arrived
    end function
    integer(c_int) function c_alltoallv_f(call, send, receive, comm, fault) bind(c, name="nuice_alltoallv_f")
      import
      integer(c_int), value :: call
      type(c_blocks), intent(in) :: send, receive
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: fault(*)
    end function
    type(c_ptr) function c_error_text() bind(c, name="nuice_error_text")
      import
    end function
    integer(c_int) function c_plan_create_f(comm, num_destinations, ranks, bytes, options, plan) &
      bind(c, name="nuice_plan_create_f")
      import
      integer(c_int), value :: comm, num_destinations
      integer(c_int), intent(in), optional :: ranks(*)
      integer(c_int64_t), intent(in), optional :: bytes(*)
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_plan_create_from_schedule_f(comm, matrix, schedule, options, plan) &
      bind(c, name="nuice_plan_create_from_schedule_f")
      import
      integer(c_int), value :: comm
      type(c_ptr), value :: matrix, schedule
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_plan_follow(plan, num_destinations, ranks, bytes, followed) &
      bind(c, name="nuice_plan_follow")
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: num_destinations
      integer(c_int), intent(in), optional :: ranks(*)
      integer(c_int64_t), intent(in), optional :: bytes(*)
      type(c_ptr), intent(inout) :: followed
    end function
    integer(c_int) function c_plan_follow_on_f(plan, comm, followed) bind(c, name="nuice_plan_follow_on_f")
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: comm
      type(c_ptr), intent(inout) :: followed
    end function
    integer(c_int) function c_plan_num_partners(plan, num_destinations, num_sources) &
      bind(c, name="nuice_plan_num_partners")
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out) :: num_destinations, num_sources
    end function
    integer(c_int) function c_plan_destinations(plan, ranks, bytes) bind(c, name="nuice_plan_destinations")
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out), optional :: ranks(*)
      integer(c_int64_t), intent(out), optional :: bytes(*)
    end function
    integer(c_int) function c_plan_sources(plan, ranks, bytes) bind(c, name="nuice_plan_sources")
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out), optional :: ranks(*)
      integer(c_int64_t), intent(out), optional :: bytes(*)
    end function
    integer(c_int) function c_plan_figure(plan, name, value) bind(c, name="nuice_plan_figure")
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
    end function
    integer(c_int) function c_plan_text(plan, name, text) bind(c, name="nuice_plan_text")
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
    end function
    integer(c_int) function c_plan_free(plan) bind(c, name="nuice_plan_free")
      import
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_plan_bind(plan, send, receive, direction, exchange) &
      bind(c, name="nuice_plan_bind")
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(in), optional :: send(*), receive(*)
      integer(c_int), value :: direction
      type(c_ptr), intent(inout) :: exchange
    end function
    integer(c_int) function c_plan_bind_array(plan, send, send_bytes, send_offsets, receive, &
      receive_bytes, receive_offsets, direction, exchange) &
      bind(c, name="nuice_plan_bind_array")
      import
      type(c_ptr), value :: plan, send
      integer(c_int64_t), value :: send_bytes
      integer(c_int64_t), intent(in), optional :: send_offsets(*)
      type(c_ptr), value :: receive
      integer(c_int64_t), value :: receive_bytes
      integer(c_int64_t), intent(in), optional :: receive_offsets(*)
      integer(c_int), value :: direction
      type(c_ptr), intent(inout) :: exchange
    end function
    integer(c_int) function c_plan_bind_fields_f(plan, num_fields, send, send_types, send_counts, &
      send_offsets, receive, receive_types, receive_counts, receive_offsets, direction, exchange) &
      bind(c, name="nuice_plan_bind_fields_f")
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: num_fields
      type(c_ptr), intent(in), optional :: send(*)
      integer(c_int), intent(in), optional :: send_types(*)
      integer(c_int64_t), intent(in), optional :: send_counts(*), send_offsets(*)
      type(c_ptr), intent(in), optional :: receive(*)
      integer(c_int), intent(in), optional :: receive_types(*)
      integer(c_int64_t), intent(in), optional :: receive_counts(*), receive_offsets(*)
      integer(c_int), value :: direction
      type(c_ptr), intent(inout) :: exchange
    end function
    integer(c_int) function c_exchange_start(exchange) bind(c, name="nuice_exchange_start")
      import
      type(c_ptr), value :: exchange
    end function
    integer(c_int) function c_exchange_start_on(exchange, stream) bind(c, name="nuice_exchange_start_on")
      import
      type(c_ptr), value :: exchange, stream
    end function
    integer(c_int) function c_exchange_wait_on(exchange, stream) bind(c, name="nuice_exchange_wait_on")
      import
      type(c_ptr), value :: exchange, stream
    end function
    integer(c_int) function c_exchange_test(exchange, done) bind(c, name="nuice_exchange_test")
      import
      type(c_ptr), value :: exchange
      integer(c_int), intent(out) :: done
    end function
    integer(c_int) function c_exchange_wait(exchange) bind(c, name="nuice_exchange_wait")
      import
      type(c_ptr), value :: exchange
    end function
    integer(c_int) function c_exchange_next(exchange, partner) bind(c, name="nuice_exchange_next")
      import
      type(c_ptr), value :: exchange
      integer(c_int), intent(out) :: partner
    end function
    integer(c_int) function c_exchange_poll(exchange, partner) bind(c, name="nuice_exchange_poll")
      import
      type(c_ptr), value :: exchange
      integer(c_int), intent(out) :: partner
    end function
    integer(c_int) function c_exchange_is_under_way(exchange, under_way) &
      bind(c, name="nuice_exchange_is_under_way")
      import
      type(c_ptr), value :: exchange
      integer(c_int), intent(out) :: under_way
    end function
    integer(c_int) function c_exchange_text(exchange, name, text) bind(c, name="nuice_exchange_text")
      import
      type(c_ptr), value :: exchange
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
    end function
    integer(c_int) function c_exchange_free(exchange) bind(c, name="nuice_exchange_free")
      import
      type(c_ptr), intent(inout) :: exchange
    end function
    integer(c_int) function c_halo_create_ranges_f(comm, begins, num_needed, needed, entry_bytes, &
      options, halo) &
      bind(c, name="nuice_halo_create_ranges_f")
      import
      integer(c_int), value :: comm
      integer(c_int64_t), intent(in), optional :: begins(*)
      integer(c_int64_t), value :: num_needed
      integer(c_int64_t), intent(in), optional :: needed(*)
      integer(c_int64_t), value :: entry_bytes
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: halo
    end function
    integer(c_int) function c_halo_create_owners_f(comm, num_indices, owners, num_needed, needed, &
      entry_bytes, options, halo) &
      bind(c, name="nuice_halo_create_owners_f")
      import
      integer(c_int), value :: comm
      integer(c_int64_t), value :: num_indices
      integer(c_int), intent(in), optional :: owners(*)
      integer(c_int64_t), value :: num_needed
      integer(c_int64_t), intent(in), optional :: needed(*)
      integer(c_int64_t), value :: entry_bytes
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: halo
    end function
    integer(c_int) function c_halo_create_list_f(comm, num_owned, owned, num_needed, needed, entry_bytes, &
      options, halo) &
      bind(c, name="nuice_halo_create_list_f")
      import
      integer(c_int), value :: comm
      integer(c_int64_t), value :: num_owned
      integer(c_int64_t), intent(in), optional :: owned(*)
      integer(c_int64_t), value :: num_needed
      integer(c_int64_t), intent(in), optional :: needed(*)
      integer(c_int64_t), value :: entry_bytes
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: halo
    end function
    integer(c_int) function c_halo_num_entries(halo, num_owned, num_ghosts) &
      bind(c, name="nuice_halo_num_entries")
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(out) :: num_owned, num_ghosts
    end function
    integer(c_int) function c_halo_ghosts(halo, ghosts) bind(c, name="nuice_halo_ghosts")
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(out), optional :: ghosts(*)
    end function
    integer(c_int) function c_halo_local_indices(halo, num_indices, globals, locals) &
      bind(c, name="nuice_halo_local_indices")
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), value :: num_indices
      integer(c_int64_t), intent(in), optional :: globals(*)
      integer(c_int64_t), intent(out), optional :: locals(*)
    end function
    integer(c_int) function c_halo_set_wires(halo, num_fields, wires) bind(c, name="nuice_halo_set_wires")
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: num_fields
      integer(c_int), intent(in), optional :: wires(*)
    end function
    integer(c_int) function c_halo_bind_gather(halo, num_fields, owned, ghosts, entry_bytes, exchange) &
      bind(c, name="nuice_halo_bind_gather")
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: num_fields
      type(c_ptr), intent(in), optional :: owned(*), ghosts(*)
      integer(c_int64_t), intent(in), optional :: entry_bytes(*)
      type(c_ptr), intent(inout) :: exchange
    end function
    integer(c_int) function c_halo_bind_scatter_f(halo, num_fields, ghosts, owned, components, types, op, &
      exchange) &
      bind(c, name="nuice_halo_bind_scatter_f")
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: num_fields
      type(c_ptr), intent(in), optional :: ghosts(*), owned(*)
      integer(c_int), intent(in), optional :: components(*), types(*)
      integer(c_int), value :: op
      type(c_ptr), intent(inout) :: exchange
    end function
    integer(c_int) function c_halo_free(halo) bind(c, name="nuice_halo_free")
      import
      type(c_ptr), intent(inout) :: halo
    end function
    integer(c_int) function c_matrix_create(num_ranks, num_messages, src, dst, bytes, matrix) &
      bind(c, name="nuice_matrix_create")
      import
      integer(c_int), value :: num_ranks
      integer(c_int64_t), value :: num_messages
      integer(c_int), intent(in), optional :: src(*), dst(*)
      integer(c_int64_t), intent(in), optional :: bytes(*)
      type(c_ptr), intent(inout) :: matrix
    end function
    integer(c_int) function c_matrix_load(path, matrix) bind(c, name="nuice_matrix_load")
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: matrix
    end function
    integer(c_int) function c_matrix_save(matrix, path) bind(c, name="nuice_matrix_save")
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_matrix_size(matrix, num_ranks, num_messages) bind(c, name="nuice_matrix_size")
      import
      type(c_ptr), value :: matrix
      integer(c_int), intent(out) :: num_ranks
      integer(c_int64_t), intent(out) :: num_messages
    end function
    integer(c_int) function c_matrix_messages(matrix, src, dst, bytes) bind(c, name="nuice_matrix_messages")
      import
      type(c_ptr), value :: matrix
      integer(c_int), intent(out), optional :: src(*), dst(*)
      integer(c_int64_t), intent(out), optional :: bytes(*)
    end function
    integer(c_int) function c_matrix_free(matrix) bind(c, name="nuice_matrix_free")
      import
      type(c_ptr), intent(inout) :: matrix
    end function
    integer(c_int) function c_schedule_create(matrix, options, schedule) bind(c, name="nuice_schedule_create")
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: schedule
    end function
    integer(c_int) function c_schedule_load(matrix, path, schedule) bind(c, name="nuice_schedule_load")
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: schedule
    end function
    integer(c_int) function c_schedule_save(schedule, matrix, path) bind(c, name="nuice_schedule_save")
      import
      type(c_ptr), value :: schedule, matrix
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_schedule_check(schedule, matrix) bind(c, name="nuice_schedule_check")
      import
      type(c_ptr), value :: schedule, matrix
    end function
    integer(c_int) function c_schedule_size(schedule, num_phases, num_pieces) &
      bind(c, name="nuice_schedule_size")
      import
      type(c_ptr), value :: schedule
      integer(c_int64_t), intent(out) :: num_phases, num_pieces
    end function
    integer(c_int) function c_schedule_pieces(schedule, phase, src, dst, message_src, message_dst, &
      offset, bytes) &
      bind(c, name="nuice_schedule_pieces")
      import
      type(c_ptr), value :: schedule
      integer(c_int64_t), intent(out), optional :: phase(*)
      integer(c_int), intent(out), optional :: src(*), dst(*), message_src(*), message_dst(*)
      integer(c_int64_t), intent(out), optional :: offset(*), bytes(*)
    end function
    integer(c_int) function c_schedule_free(schedule) bind(c, name="nuice_schedule_free")
      import
      type(c_ptr), intent(inout) :: schedule
    end function
    integer(c_int) function c_advice_create(matrix, options, advice) bind(c, name="nuice_advice_create")
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(inout) :: advice
    end function
    integer(c_int) function c_advice_text(advice, name, text) bind(c, name="nuice_advice_text")
      import
      type(c_ptr), value :: advice
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
    end function
    integer(c_int) function c_advice_free(advice) bind(c, name="nuice_advice_free")
      import
      type(c_ptr), intent(inout) :: advice
    end function
    type(c_ptr) function c_version() bind(c, name="nuice_version")
      import
    end function
    type(c_ptr) function c_mpi_name() bind(c, name="nuice_mpi_name")
      import
    end function
    type(c_ptr) function c_status_name(status) bind(c, name="nuice_status_name")
      import
      integer(c_int), value :: status
    end function
    integer(c_int) function c_table_row(table, index, name, summary) bind(c, name="nuice_table_row")
      import
      character(kind=c_char), intent(in) :: table(*)
      integer(c_int64_t), value :: index
      type(c_ptr), intent(out) :: name, summary
    end function
  end interface
end module nuice_c
