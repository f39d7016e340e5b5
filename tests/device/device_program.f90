! SPDX-License-Identifier: BSD-3-Clause
! A program in Fortran whose arrays lie on a (fake) device, as cudaMalloc() and c_f_pointer() give them.
program device_program
  use checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  interface
    integer(c_int) function mem_alloc(memory, bytes) bind(c, name='cuMemAlloc_v2')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(out) :: memory
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function memcpy_async(to, from, bytes, stream) bind(c, name='cuMemcpyAsync')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function stream_synchronize(stream) bind(c, name='cuStreamSynchronize')
      import :: c_int, c_ptr
      type(c_ptr), value :: stream
    end function
    subroutine start_mpi(world, real_type, add, rank, num_ranks) bind(c)
      import :: c_int
      integer(c_int), intent(out) :: world, real_type, add, rank, num_ranks
    end subroutine
    subroutine end_mpi(failed) bind(c)
      import :: c_int
      integer(c_int), intent(inout) :: failed
    end subroutine
  end interface
  integer, parameter :: num_values = 3000
  real(real64), target :: values(num_values), come(num_values)
  real(real64), pointer, contiguous :: send(:), receive(:)
  type(c_ptr) :: at
  type(nuice_plan) :: plan
  type(nuice_exchange) :: x
  character(:), allocatable :: text
  integer(c_int) :: world, real_type, add
  integer :: round, left

  call start_mpi(world, real_type, add, my_rank, num_ranks)
  left = mod(my_rank + num_ranks - 1, num_ranks)
  call check(mem_alloc(at, 8_c_size_t * num_values) == 0, 'memory')
  call c_f_pointer(at, send, [num_values])
  call check(mem_alloc(at, 8_c_size_t * num_values) == 0, 'memory')
  call c_f_pointer(at, receive, [num_values])
  call nuice_plan_create(world, [mod(my_rank + 1, num_ranks)], [8_int64 * num_values], plan)
  call nuice_plan_bind_array(plan, send, receive, x)
  do round = 1, 3
    values = my_rank + 0.5_real64 * round
    call copy(c_loc(send), c_loc(values))
    call nuice_exchange_start(x)
    call nuice_exchange_wait(x)
    call copy(c_loc(come), c_loc(receive))
    call check(all(come == left + 0.5_real64 * round), 'an array landed')
  end do
  call nuice_exchange_text(x, 'device', text)
  call check(index(text, 'staged: ') == 1, text)
  call nuice_exchange_free(x)
  call nuice_plan_free(plan)
  call end_mpi(num_failed)
  if (num_failed > 0) error stop 1
contains
  subroutine copy(to, from)
    type(c_ptr), intent(in) :: to, from
    call check(memcpy_async(to, from, 8_c_size_t * num_values, c_null_ptr) == 0, 'a copy')
    call check(stream_synchronize(c_null_ptr) == 0, 'its end')
  end subroutine
end program
