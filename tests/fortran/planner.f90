! SPDX-License-Identifier: BSD-3-Clause
! What needs no MPI.
subroutine test_planner(folder)
  use checks
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  character(*), intent(in) :: folder
  type(nuice_matrix) :: matrix, again
  type(nuice_schedule) :: schedule
  type(nuice_advice) :: advice
  integer, allocatable :: src(:), dst(:), from(:), to(:)
  integer(int64), allocatable :: bytes(:), phase(:), offset(:)
  integer(int64) :: num_messages, num_phases, num_pieces, row
  integer :: ranks, stat
  character(:), allocatable :: text, summary
  character(200) :: errmsg
  call nuice_matrix_create(3, [2, 0, 0, 1], [0, 1, 2, 2], [10_int64, 20_int64, 30_int64, 40_int64], matrix)
  call nuice_matrix_size(matrix, ranks, num_messages)
  call check(ranks == 3 .and. num_messages == 4, 'size of the matrix')
  call nuice_matrix_messages(matrix, src, dst, bytes)
  call check(all(src == [0, 0, 1, 2]) .and. all(dst == [1, 2, 2, 0]) .and. sum(bytes) == 100, 'its messages')
  call nuice_matrix_save(matrix, folder // '/fortran.mtx')
  call nuice_matrix_load(folder // '/fortran.mtx', again)
  call nuice_schedule_create(matrix, schedule, options='scheduler=coloring')
  call nuice_schedule_check(schedule, again)
  call nuice_schedule_save(schedule, matrix, folder // '/fortran.plan')
  call nuice_schedule_free(schedule)
  call nuice_schedule_load(again, folder // '/fortran.plan', schedule)
  call nuice_schedule_size(schedule, num_phases, num_pieces)
  call check(num_phases == 2 .and. num_pieces == 4, 'size of the schedule')
  call nuice_schedule_pieces(schedule, phase, src, dst, from, to, offset, bytes)
  call check(all(src == from) .and. all(dst == to) .and. all(offset == 0) .and. sum(bytes) == 100, &
    'its pieces')
  call check(minval(phase) == 0 .and. maxval(phase) == 1, 'its phases')
  call nuice_schedule_free(schedule)
  call nuice_advice_create(matrix, advice, options='machine=cm5-32')
  call nuice_advice_text(advice, 'json', text)
  call check(index(text, 'cm5-32') > 0, 'the advice')
  call nuice_advice_free(advice)
  call nuice_matrix_load('/nowhere/a.mtx', again, stat, errmsg)
  call failed(stat, NUICE_ERR_IO, errmsg, 'nowhere')
  call nuice_matrix_create(3, [0], [1, 2], [1_int64], again, stat, errmsg)
  call failed(stat, NUICE_ERR_INVALID_ARGUMENT, errmsg, 'entries')
  call nuice_matrix_free(matrix)

  call check(len(nuice_version()) >= 5, 'the version')
  call check(any(nuice_mpi_name() == [character(7) :: 'openmpi', 'mpich', 'mpi_abi']), 'the MPI')
  row = 0
  do
    call nuice_table_row('executors', row, text, summary)
    if (len(text) == 0) exit
    call check(len(summary) > 10, 'the summary of ' // text)
    row = row + 1
  end do
  call check(row >= 5, 'the executors')
end subroutine
