# SPDX-License-Identifier: BSD-3-Clause
"""The Taylor-Green vortex by Fourier transforms of mpi4py-fft, whose MPI_Alltoallw exchanges subarrays.

usage: mpiexec -n N python3 spectral.py [POINTS a direction] [STEPS]
"""

import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

NU, DT = 1 / 1600, 0.01


def wave_numbers(fft, points):
    lines = [np.fft.fftfreq(points, 1 / points)] * 2 + [np.fft.rfftfreq(points, 1 / points)]
    own = [line[part] for line, part in zip(lines, fft.local_slice(True), strict=True)]
    return np.array(np.meshgrid(*own, indexing="ij"))


def curl(k, u_hat):
    return 1j * np.cross(k, u_hat, axis=0)


class Flow:
    def __init__(self, points):
        self.fft = PFFT(MPI.COMM_WORLD, [points] * 3, dtype=float, slab=True)
        self.k = wave_numbers(self.fft, points)
        squares = (self.k**2).sum(axis=0)
        self.k2, self.over = squares, self.k / np.where(squares == 0, 1, squares)
        self.kept = (np.abs(self.k) < points / 3).all(axis=0)
        self.u, self.w = newDistArray(self.fft, False, rank=1), newDistArray(self.fft, False, rank=1)
        self.hat = newDistArray(self.fft, True, rank=1)
        x, y, z = self.mesh(points)
        self.u[:] = [np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * z]
        self.u_hat = np.array([self.fft.forward(self.u[i], self.hat[i].copy()) for i in range(3)])

    def mesh(self, points):
        lines = [2 * np.pi / points * np.arange(points)[part] for part in self.fft.local_slice(False)]
        return np.meshgrid(*lines, indexing="ij")

    def rate(self, u_hat):
        w_hat = curl(self.k, u_hat)
        for i in range(3):
            self.fft.backward(u_hat[i], self.u[i])
            self.fft.backward(w_hat[i], self.w[i])
        forces = np.cross(self.u, self.w, axis=0)
        rate = np.array(
            [self.fft.forward(force, hat).copy() for force, hat in zip(forces, self.hat, strict=True)]
        )
        rate *= self.kept
        return rate - self.over * (self.k * rate).sum(axis=0) - NU * self.k2 * u_hat

    def step(self):
        middle = self.u_hat + DT / 2 * self.rate(self.u_hat)
        self.u_hat = self.u_hat + DT * self.rate(middle)

    def energy(self):
        for i in range(3):
            self.fft.backward(self.u_hat[i], self.u[i])
        return MPI.COMM_WORLD.allreduce(float((self.u**2).sum())) / 2


def main():
    points, steps = (int(word) for word in (sys.argv[1:] + ["64", "8"][len(sys.argv) - 1 :]))
    flow = Flow(points)
    MPI.COMM_WORLD.Barrier()
    begin = MPI.Wtime()
    for _ in range(steps):
        flow.step()
    energy = flow.energy()
    took = MPI.Wtime() - begin
    if MPI.COMM_WORLD.Get_rank() == 0:
        print(f"steps took {took:.4f} s")
        print(f"energy {energy / points**3:.12e}")


if __name__ == "__main__":
    main()
