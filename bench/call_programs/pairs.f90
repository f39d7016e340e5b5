! SPDX-License-Identifier: BSD-3-Clause
! The loop of call_cost in Fortran.
subroutine fortran_pairs(request, count) bind(c)
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_ptr
  use nuice
  type(c_ptr), value :: request
  integer(c_int64_t), value :: count
  type(nuice_request) :: x
  integer(c_int64_t) :: i
  x%handle = request
  do i = 1, count
    call nuice_start(x)
    call nuice_wait(x)
  end do
end subroutine
