// SPDX-License-Identifier: BSD-3-Clause
// PETSc's conjugate gradients, for bench/run.py peers. Matrix and distribution of rows are those of nuice-cg.
// b is all ones, x = 0 at first, without preconditioner, until |r| <= rtol |b|.
//
//   mpiexec -n N petsc_cg MATRIX ROWS_FILE SOLUTION RTOL REPS
//
// MATRIX is in PETSc's binary form; ROWS_FILE has the number of rows of each rank. Writes x, one number per
// line. Prints one JSON object: iterations, the median seconds of a solution, and those of the exchange of
// ghosts alone.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "in_turn.hpp"
#include "kit/timing.hpp"
#include "petsc.hpp"

namespace {

Mat load(const std::string& path, PetscInt num_rows) {
  Mat matrix;
  PetscViewer viewer;
  must(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_READ, &viewer));
  must(MatCreate(PETSC_COMM_WORLD, &matrix));
  must(MatSetType(matrix, MATMPIAIJ));
  must(MatSetSizes(matrix, num_rows, num_rows, PETSC_DETERMINE, PETSC_DETERMINE));
  must(MatLoad(matrix, viewer));
  must(PetscViewerDestroy(&viewer));
  return matrix;
}

/// Makes a scatter like that of the matrix product.
VecScatter scatter_of(Mat matrix, Vec x, Vec& ghosts) {
  Mat diagonal, rest;
  const PetscInt* columns;  // global columns of the off-diagonal part
  PetscInt count;
  IS needed;
  VecScatter scatter;
  must(MatMPIAIJGetSeqAIJ(matrix, &diagonal, &rest, &columns));
  must(MatGetSize(rest, nullptr, &count));
  must(VecCreateSeq(PETSC_COMM_SELF, count, &ghosts));
  must(ISCreateGeneral(PETSC_COMM_SELF, count, columns, PETSC_COPY_VALUES, &needed));
  must(VecScatterCreate(x, needed, ghosts, nullptr, &scatter));
  must(ISDestroy(&needed));
  return scatter;
}

void write(const char* path, Vec x) {
  const PetscScalar* values;
  PetscInt count;
  must(VecGetArrayRead(x, &values));
  must(VecGetLocalSize(x, &count));
  write_lines(path, values, count);
  must(VecRestoreArrayRead(x, &values));
}

void run(char** argv) {
  std::ifstream rows(argv[2]);
  PetscInt num_rows = 0;
  for (int rank = 0; rank <= nuice::mpi::world_rank(); ++rank) rows >> num_rows;
  Mat matrix = load(argv[1], num_rows);
  PC preconditioner;
  KSP solver = make_conjugate_gradients(matrix, PCNONE, std::atof(argv[4]), preconditioner);
  must(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  Vec x, b, ghosts;
  must(MatCreateVecs(matrix, &x, &b));
  must(VecSet(b, 1));
  VecScatter scatter = scatter_of(matrix, x, ghosts);
  const auto solve = [&] { must(KSPSolve(solver, b, x)); };
  const auto exchange = [&] {
    must(VecScatterBegin(scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
    must(VecScatterEnd(scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  };
  solve();
  PetscInt iterations;
  KSPConvergedReason reason;
  must(KSPGetIterationNumber(solver, &iterations));
  must(KSPGetConvergedReason(solver, &reason));
  write(argv[3], x);
  const int reps = std::atoi(argv[5]);
  const double solve_s = nuice::kit::time_in_turns({{"solve", solve}}, 5).front();
  const double exchange_s = nuice::kit::time_in_turns({{"exchange", exchange}}, reps).front();
  must(PetscPrintf(PETSC_COMM_WORLD,
                   "{\"iterations\": %d, \"converged\": %s, \"solve_seconds\": %.9g, "
                   "\"exchange_seconds_median\": %.9g}\n",
                   static_cast<int>(iterations), reason > 0 ? "true" : "false", solve_s, exchange_s));
  must(VecScatterDestroy(&scatter));
  must(VecDestroy(&ghosts));
  must(KSPDestroy(&solver));
  must(VecDestroy(&x));
  must(VecDestroy(&b));
  must(MatDestroy(&matrix));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  PetscCall(PetscInitializeNoArguments());
  run(argv);
  PetscCall(PetscFinalize());
  MPI_Finalize();
  return 0;
}
