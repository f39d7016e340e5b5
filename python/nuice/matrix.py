# SPDX-License-Identifier: BSD-3-Clause
"""Communication matrices from and to NumPy and SciPy: row = sender, column = receiver, value = bytes.

Sizes are never rounded. If an entry is negative, fractional, not finite or above 2**62, an error names this
entry. NumPy is imported inside functions, because the command `nuice` then starts in half the time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import _core
from ._core import MAX_BYTES, CommMatrix
from .errors import Error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import coo_array

MAX_RANKS = 2**31 - 1
Function = TypeVar("Function", bound=Callable[..., Any])


def from_dense(array: ArrayLike) -> CommMatrix:
    """Makes the matrix with COM(i, j) = array[i, j]. O(ranks**2)."""
    import numpy as np

    if hasattr(array, "tocoo"):
        raise Error(f"from_dense() takes an array, this is a {_kind(array)}: use from_scipy()")
    dense = np.asarray(array)
    if dense.ndim != 2:
        raise Error(f"a communication matrix has 2 dimensions, this array has {dense.ndim}")
    rows, columns = np.nonzero(dense)
    return _from_entries(dense.shape, rows, columns, dense[rows, columns])


def from_scipy(array: Any) -> CommMatrix:
    """Makes the matrix with COM(i, j) = array[i, j], from any scipy.sparse array or matrix.

    Explicit zeros are dropped. A pair stored twice is refused, not summed.
    """
    if not hasattr(array, "tocoo"):
        hint = (
            "from_dense()"
            if hasattr(array, "__array__") or isinstance(array, (list, tuple))
            else "scipy.sparse"
        )
        raise Error(
            f"from_scipy() takes a scipy.sparse array or matrix, this is a {_kind(array)}: use {hint}"
        )
    coo = array.tocoo()
    return _from_entries(coo.shape, coo.row, coo.col, coo.data)


def to_scipy(matrix: CommMatrix) -> coo_array:
    """Returns an int64 scipy.sparse.coo_array sorted by (row, column). It includes messages of ranks to
    themselves.
    """
    require_matrix(matrix)
    from scipy.sparse import coo_array

    src, dst, size = matrix.entries()
    return coo_array((size, (src, dst)), shape=(matrix.num_ranks, matrix.num_ranks))


def to_dense(matrix: CommMatrix) -> NDArray[np.int64]:
    """Returns an int64 array of num_ranks x num_ranks."""
    require_matrix(matrix)
    import numpy as np

    src, dst, size = matrix.entries()
    dense = np.zeros((matrix.num_ranks, matrix.num_ranks), dtype=np.int64)
    dense[src, dst] = size
    return dense


def require_matrix(given: Any) -> None:
    """Raises nuice.Error if `given` is not a CommMatrix; the error says how to make one."""
    if isinstance(given, CommMatrix):
        return
    if hasattr(given, "tocoo"):
        hint = "nuice.from_scipy(...)"
    elif isinstance(given, (str, PathLike)):
        hint = "nuice.load_matrix_market(...)"
    else:
        hint = "nuice.from_dense(...)"
    raise Error(f"a CommMatrix is needed, this is a {_kind(given)}: make one by {hint}")


def _asks_for_matrix(function: Function, position: int = 0) -> Function:
    """Returns a function of the library that first calls require_matrix() for its argument `matrix`."""

    @functools.wraps(function)
    def asking(*args: Any, **named: Any) -> Any:
        if len(args) > position:
            require_matrix(args[position])
        elif "matrix" in named:
            require_matrix(named["matrix"])
        return function(*args, **named)

    return cast(Function, asking)


check = _asks_for_matrix(_core.check)
link_bound_s = _asks_for_matrix(_core.link_bound_s)
link_bounds = _asks_for_matrix(_core.link_bounds)
load_schedule = _asks_for_matrix(_core.load_schedule, 1)
lower_bounds = _asks_for_matrix(_core.lower_bounds)
make_schedule = _asks_for_matrix(_core.make_schedule)
planning_cost_s = _asks_for_matrix(_core.planning_cost_s)
port_bound_s = _asks_for_matrix(_core.port_bound_s)
save_matrix_market = _asks_for_matrix(_core.save_matrix_market, 1)
save_schedule = _asks_for_matrix(_core.save_schedule, 2)
slice = _asks_for_matrix(_core.slice)
slice_all = _asks_for_matrix(_core.slice_all)
whole_message_bytes = _asks_for_matrix(_core.whole_message_bytes)


def _kind(value: Any) -> str:
    return type(value).__name__


def _from_entries(shape: tuple[int, ...], rows: Any, columns: Any, values: NDArray[Any]) -> CommMatrix:
    import numpy as np

    if shape[0] != shape[1]:
        raise Error(f"a communication matrix is square, this one has {shape[0]} rows and {shape[1]} columns")
    if shape[0] > MAX_RANKS:
        raise Error(f"{shape[0]} ranks are more than {MAX_RANKS}", "limit")
    src = np.ascontiguousarray(rows, dtype=np.int64)
    dst = np.ascontiguousarray(columns, dtype=np.int64)
    return CommMatrix.from_arrays(shape[0], src, dst, _whole_bytes(np.asarray(values), src, dst))


def _whole_bytes(values: NDArray[Any], rows: Any, columns: Any) -> NDArray[np.int64]:
    """Returns the values, unchanged, as int64. If this is impossible, raises an error that names the first
    such entry.
    """
    import numpy as np

    if values.dtype.kind not in "biuf":
        raise Error(f"entries of type {values.dtype} are not sizes in bytes: give integers or whole floats")
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        values = values.astype(np.result_type(values.dtype, np.float64))  # float16 does not reach 2**62
        _refuse(~np.isfinite(values), values, rows, columns, "is not a finite number")
        _refuse(values != np.floor(values), values, rows, columns, "is not a whole number of bytes")
    _refuse(values < 0, values, rows, columns, "is negative")
    _refuse(values > MAX_BYTES, values, rows, columns, f"is above {MAX_BYTES} bytes", "limit")
    return np.ascontiguousarray(values, dtype=np.int64)


def _refuse(bad: Any, values: Any, rows: Any, columns: Any, why: str, code: str = "invalid_argument") -> None:
    if bad.any():
        first = int(bad.argmax())
        raise Error(f"entry ({rows[first]}, {columns[first]}) = {values[first]} {why}", code)
