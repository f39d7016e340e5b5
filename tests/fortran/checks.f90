! SPDX-License-Identifier: BSD-3-Clause
module checks
  use nuice
  implicit none
  integer :: num_failed = 0, my_rank = 0, num_ranks = 1
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    num_failed = num_failed + 1
    print '(a,i0,3a)', 'rank ', my_rank, ': not true: ', what, ' (last error: ' // nuice_error_text() // ')'
  end subroutine

  !> A call that must have failed with this status and this text.
  subroutine failed(stat, expected, errmsg, part)
    integer, intent(in) :: stat, expected
    character(*), intent(in) :: errmsg, part
    call check(stat == expected .and. index(errmsg, part) > 0, &
      nuice_status_name(expected) // ' with "' // part // '", but it is ' // nuice_status_name(stat) // &
      ': ' // trim(errmsg))
  end subroutine
end module
