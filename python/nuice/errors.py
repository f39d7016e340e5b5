# SPDX-License-Identifier: BSD-3-Clause
"""The exception class of the package. Errors of the C++ library are raised as this exception too."""


class Error(Exception):
    """Bad input or a failing environment. `str(error)` is one sentence that names what is wrong and where.

    `code` is one of: invalid_argument, parse, io, not_applicable, limit, mismatch, state, mpi,
    timeout, device.
    """

    def __init__(self, message: str, code: str = "invalid_argument") -> None:
        super().__init__(message)
        self.code = code
