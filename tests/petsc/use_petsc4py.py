# SPDX-License-Identifier: BSD-3-Clause
"""A Poisson problem on a grid by petsc4py, with whatever -sf_type says.

Every rank prints the type that star forests have, the iterations and a digest of its values. test_petsc.py
starts it with Debian's Python, whose petsc4py it is.
"""

import hashlib
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  after init()

width, height = 40, 30
forest = PETSc.SF().create()
forest.setFromOptions()
matrix = PETSc.Mat().createAIJ(width * height, nnz=5)
for row in range(*matrix.getOwnershipRange()):
    i, j = row % width, row // width
    matrix.setValue(row, row, 4)
    for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        if 0 <= i + di < width and 0 <= j + dj < height:
            matrix.setValue(row, row + di + width * dj, -1)
matrix.assemble()
x, b = matrix.createVecs()
b.setArray([1 + row % 7 for row in range(*b.getOwnershipRange())])
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setFromOptions()
solver.solve(b, x)
da = PETSc.DMDA().create([width, height], dof=2, stencil_width=1)
values, local = da.createGlobalVec(), da.createLocalVec()
values.setArray([row % 13 for row in range(*values.getOwnershipRange())])
da.globalToLocal(values, local)
digest = hashlib.sha256(x.getArray().tobytes() + local.getArray().tobytes()).hexdigest()
PETSc.Sys.syncPrint(forest.getType(), solver.getIterationNumber(), digest)
PETSc.Sys.syncFlush()
