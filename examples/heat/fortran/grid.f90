! SPDX-License-Identifier: BSD-3-Clause
! One rank's block of a 2-D grid, for both programs: the values with a ring
! of ghosts around them, and packed edges.
module grid
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: cells = 96, steps = 200
  integer :: nx, ny                                  ! cells of this rank
  integer :: num_partners = 0, ranks(4)              ! ascending
  logical :: along_x(4)                              ! whether the edge to that partner runs along x
  integer :: inside(4), outside(4), length(4)        ! its row or column, that of its ghosts, its cells
  real(real64), allocatable :: u(:, :), next(:, :)
  real(real64), allocatable, target, asynchronous :: send(:), receive(:)

contains

  subroutine add_partner(there, rank, is_along_x, at)
    logical, intent(in) :: there, is_along_x
    integer, intent(in) :: rank, at
    if (.not. there) return
    num_partners = num_partners + 1
    ranks(num_partners) = rank
    along_x(num_partners) = is_along_x
    inside(num_partners) = at
    outside(num_partners) = merge(0, at + 1, at == 1)
    length(num_partners) = merge(nx, ny, is_along_x)
  end subroutine

  !> dims: blocks along x and y; rank = x * dims(2) + y.
  subroutine make_grid(rank, dims)
    integer, intent(in) :: rank, dims(2)
    integer :: px, py, x0, y0, i, j
    px = rank / dims(2)
    py = mod(rank, dims(2))
    x0 = cells * px / dims(1)
    y0 = cells * py / dims(2)
    nx = cells * (px + 1) / dims(1) - x0
    ny = cells * (py + 1) / dims(2) - y0
    call add_partner(px > 0, rank - dims(2), .false., 1)
    call add_partner(py > 0, rank - 1, .true., 1)
    call add_partner(py < dims(2) - 1, rank + 1, .true., ny)
    call add_partner(px < dims(1) - 1, rank + dims(2), .false., nx)
    allocate (u(0:nx + 1, 0:ny + 1), next(0:nx + 1, 0:ny + 1), source=0.0_real64)
    allocate (send(sum(length(:num_partners))), receive(sum(length(:num_partners))))
    do j = 1, ny
      do i = 1, nx
        u(i, j) = mod((x0 + i) * 7 + (y0 + j) * 3, 11)
      end do
    end do
  end subroutine

  subroutine pack_edges()
    integer :: p, at
    at = 0
    do p = 1, num_partners
      if (along_x(p)) then
        send(at + 1:at + nx) = u(1:nx, inside(p))
      else
        send(at + 1:at + ny) = u(inside(p), 1:ny)
      end if
      at = at + length(p)
    end do
  end subroutine

  subroutine unpack_edges()
    integer :: p, at
    at = 0
    do p = 1, num_partners
      if (along_x(p)) then
        u(1:nx, outside(p)) = receive(at + 1:at + nx)
      else
        u(outside(p), 1:ny) = receive(at + 1:at + ny)
      end if
      at = at + length(p)
    end do
  end subroutine

  !> The inner cells need no ghosts; those at the rim do.
  subroutine update(rim)
    logical, intent(in) :: rim
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        if ((i == 1 .or. i == nx .or. j == 1 .or. j == ny) .neqv. rim) cycle
        next(i, j) = u(i, j) + 0.1_real64 * &
          (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j))
      end do
    end do
  end subroutine

  subroutine swap()
    real(real64), allocatable :: other(:, :)
    call move_alloc(u, other)
    call move_alloc(next, u)
    call move_alloc(other, next)
  end subroutine

end module
