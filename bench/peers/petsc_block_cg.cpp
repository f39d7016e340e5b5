// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with Jacobi on a 3-D Poisson problem with PetscSF of several types, for bench/run.py
// petsc_sf. Several right-hand sides at once make the halos large.
//
//   mpiexec -n N petsc_block_cg POINTS SIDES RTOL REPS TYPE ...
//
// POINTS: points of the grid in each direction. SIDES: number of right-hand sides. The solutions of all types
// are timed alternately. Prints one JSON object per type: iterations, the median seconds of a solution, its
// median ratio to the first type's in the same round, the seconds of exchanges and reductions (PETSc's own
// log; mean over the ranks, median over the solutions), and the difference of the solution from the first
// type's.
#include <petscdmda.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kit/timing.hpp"
#include "nuice/mpi/agree.hpp"
#include "petsc.hpp"

/// The numbers of PETSc's log events, which PETSc exports; not all can be found by name.
PETSC_EXTERN PetscLogEvent VEC_ScatterBegin, VEC_ScatterEnd, VEC_TDot, VEC_Norm;

namespace {

// After this number of exchanges type nuice has compared itself with basic, and uses basic if basic is
// faster.
constexpr PetscInt num_warm = 160;

/// Returns the seven-point Laplacian on a grid that is divided into boxes.
Mat laplacian(PetscInt points) {
  DM grid;
  Mat matrix;
  must(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                    points, points, points, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr,
                    nullptr, &grid));
  must(DMSetUp(grid));
  must(DMSetMatType(grid, MATAIJ));
  must(DMCreateMatrix(grid, &matrix));
  PetscInt first[3], count[3];
  must(DMDAGetCorners(grid, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  for (PetscInt k = first[2]; k < first[2] + count[2]; ++k)
    for (PetscInt j = first[1]; j < first[1] + count[1]; ++j)
      for (PetscInt i = first[0]; i < first[0] + count[0]; ++i) {
        const MatStencil row = {k, j, i, 0};
        const MatStencil columns[] = {row,
                                      {k, j, i == 0 ? -1 : i - 1, 0},
                                      {k, j, i + 1 == points ? -1 : i + 1, 0},
                                      {k, j == 0 ? -1 : j - 1, i, 0},
                                      {k, j + 1 == points ? -1 : j + 1, i, 0},
                                      {k == 0 ? -1 : k - 1, j, i, 0},
                                      {k + 1 == points ? -1 : k + 1, j, i, 0}};
        const PetscScalar values[] = {6, -1, -1, -1, -1, -1, -1};
        must(MatSetValuesStencil(matrix, 1, &row, 7, columns, values, INSERT_VALUES));
      }
  must(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  must(DMDestroy(&grid));
  return matrix;
}

/// Applies Jacobi: the diagonal is 6 everywhere, and a MAIJ does not return it.
PetscErrorCode divide_by_diagonal(PC, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(VecAXPBY(y, 1.0 / 6, 0, x));
  PetscFunctionReturn(0);
}

/// Returns the seconds that PETSc has logged on this rank so far.
double logged_s(const std::vector<PetscLogEvent>& events) {
  double sum_s = 0;
  for (const PetscLogEvent event : events) {
    PetscEventPerfInfo info;
    must(PetscLogEventGetPerfInfo(0, event, &info));
    sum_s += info.time;
  }
  return sum_s;
}

double mean_over_ranks(double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / nuice::mpi::world_size();
}

struct Part {
  std::vector<PetscLogEvent> events;
  std::vector<double> seconds{};  // of every solution

  void add(double since_s) { seconds.push_back(mean_over_ranks(logged_s(events) - since_s)); }
};

class Solver {
 public:
  Solver(Mat laplacian, PetscInt sides, double rtol, const std::string& type) : type_(type) {
    must(PetscOptionsSetValue(nullptr, "-sf_type", type.c_str()));
    must(MatCreateMAIJ(laplacian, sides, &matrix_));
    must(MatCreateVecs(matrix_, &x, &b_));
    PetscRandom random;
    must(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    must(VecSetRandom(b_, random));
    must(PetscRandomDestroy(&random));
    PC preconditioner;
    solver_ = make_conjugate_gradients(matrix_, PCSHELL, rtol, preconditioner);
    must(PCShellSetApply(preconditioner, divide_by_diagonal));
    for (PetscInt done = 0; done < num_warm; done += iterations_) {
      solve();
      must(KSPGetIterationNumber(solver_, &iterations_));
    }
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  ~Solver() {
    must(KSPDestroy(&solver_));
    must(VecDestroy(&x));
    must(VecDestroy(&b_));
    must(MatDestroy(&matrix_));
  }

  void solve() { must(KSPSolve(solver_, b_, x)); }

  void time() {
    const double exchanges_s = logged_s(exchanges_.events), reductions_s = logged_s(reductions_.events);
    seconds_.push_back(nuice::kit::time_batch([this] { solve(); }));
    exchanges_.add(exchanges_s);
    reductions_.add(reductions_s);
  }

  void print(const Solver& first) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < seconds_.size(); ++i) ratios.push_back(seconds_[i] / first.seconds_[i]);
    Vec difference;
    PetscReal norm;
    must(VecDuplicate(x, &difference));
    must(VecWAXPY(difference, -1, x, first.x));
    must(VecNorm(difference, NORM_INFINITY, &norm));
    must(VecDestroy(&difference));
    must(PetscPrintf(PETSC_COMM_WORLD,
                     "{\"type\": \"%s\", \"iterations\": %d, \"solve_seconds_median\": %.9g, "
                     "\"ratio_to_first\": %.9g, \"exchanges_seconds_median\": %.9g, "
                     "\"reductions_seconds_median\": %.9g, \"difference\": %.9g}\n",
                     type_.c_str(), static_cast<int>(iterations_), nuice::kit::median(seconds_),
                     nuice::kit::median(ratios), nuice::kit::median(exchanges_.seconds),
                     nuice::kit::median(reductions_.seconds), static_cast<double>(norm)));
  }

  Vec x = nullptr;

 private:
  std::string type_;
  Mat matrix_ = nullptr;
  Vec b_ = nullptr;
  KSP solver_ = nullptr;
  PetscInt iterations_ = 0;
  std::vector<double> seconds_;
  Part exchanges_{{VEC_ScatterBegin, VEC_ScatterEnd}};
  Part reductions_{{VEC_TDot, VEC_Norm}};
};

void run(int argc, char** argv) {
  Mat matrix = laplacian(std::atoi(argv[1]));
  std::vector<std::unique_ptr<Solver>> solvers;
  for (int i = 5; i < argc; ++i)
    solvers.push_back(std::make_unique<Solver>(matrix, std::atoi(argv[2]), std::atof(argv[3]), argv[i]));
  nuice::kit::in_turns(std::atoi(argv[4]), solvers.size(), [&](int, std::size_t i) { solvers[i]->time(); });
  for (const auto& solver : solvers) solver->print(*solvers.front());
  solvers.clear();
  must(MatDestroy(&matrix));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 2);
  PetscCall(PetscInitializeNoArguments());
  PetscCall(PetscLogDefaultBegin());
  run(argc, argv);
  PetscCall(PetscFinalize());
  MPI_Finalize();
  return 0;
}
