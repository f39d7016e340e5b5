// SPDX-License-Identifier: BSD-3-Clause
// hypre's conjugate gradients, for bench/run.py peers. Matrix and distribution of rows are those of nuice-cg.
// b is all ones, x = 0 at first, without preconditioner, until |r| <= rtol |b|.
//
//   mpiexec -n N hypre_cg MATRIX ROWS_FILE SOLUTION RTOL REPS
//
// MATRIX is in PETSc's binary form; ROWS_FILE has the number of rows of each rank. Writes x, one number per
// line. Prints one JSON object: iterations, the median seconds of a solution, and those of the exchange of
// ghosts alone.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_mv.h>
#include <byteswap.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "in_turn.hpp"
#include "kit/timing.hpp"

namespace {

void must(HYPRE_Int code) {
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
}

std::vector<int> read_ints(std::ifstream& in, std::size_t count) {
  std::vector<int> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(4 * count));
  for (int& value : values) value = static_cast<int>(bswap_32(static_cast<std::uint32_t>(value)));
  return values;
}

std::vector<double> read_doubles(std::ifstream& in, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  in.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(8 * count));
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = bswap_64(words[i]);
    std::memcpy(&values[i], &words[i], 8);
  }
  return values;
}

/// Reads the whole matrix on every rank, which keeps its rows, first to last - 1.
HYPRE_IJMatrix load(const char* path, int first, int last) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<int> head = read_ints(in, 4);  // kind, rows, columns, nonzeros
  std::vector<int> lengths = read_ints(in, static_cast<std::size_t>(head[1]));
  std::vector<int> columns = read_ints(in, static_cast<std::size_t>(head[3]));
  const std::vector<double> values = read_doubles(in, static_cast<std::size_t>(head[3]));
  HYPRE_IJMatrix matrix;
  must(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last - 1, first, last - 1, &matrix));
  must(HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR));
  must(HYPRE_IJMatrixInitialize(matrix));
  int at = std::accumulate(lengths.begin(), lengths.begin() + first, 0);
  for (HYPRE_BigInt row = first; row < last; ++row) {
    must(HYPRE_IJMatrixSetValues(matrix, 1, &lengths[static_cast<std::size_t>(row)], &row,
                                 &columns[static_cast<std::size_t>(at)],
                                 &values[static_cast<std::size_t>(at)]));
    at += lengths[static_cast<std::size_t>(row)];
  }
  must(HYPRE_IJMatrixAssemble(matrix));
  return matrix;
}

struct Vector {
  HYPRE_IJVector ij = nullptr;
  HYPRE_ParVector par = nullptr;

  Vector(int first, int last, double value) {
    must(HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last - 1, &ij));
    must(HYPRE_IJVectorSetObjectType(ij, HYPRE_PARCSR));
    must(HYPRE_IJVectorInitialize(ij));
    must(HYPRE_IJVectorAssemble(ij));
    must(HYPRE_IJVectorGetObject(ij, reinterpret_cast<void**>(&par)));
    set(value);
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() { HYPRE_IJVectorDestroy(ij); }
  void set(double value) { must(HYPRE_ParVectorSetConstantValues(par, value)); }
  double* values() {
    return hypre_VectorData(hypre_ParVectorLocalVector(reinterpret_cast<hypre_ParVector*>(par)));
  }
};

/// The exchange of ghosts that hypre makes in every product.
class Ghosts {
 public:
  Ghosts(hypre_ParCSRMatrix* matrix, double* x) : x_(x) {
    if (hypre_ParCSRMatrixCommPkg(matrix) == nullptr) hypre_MatvecCommPkgCreate(matrix);
    pkg_ = hypre_ParCSRMatrixCommPkg(matrix);
    sent_.resize(static_cast<std::size_t>(pkg_->num_sends == 0 ? 0 : pkg_->send_map_starts[pkg_->num_sends]));
    got_.resize(static_cast<std::size_t>(hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(matrix))));
  }
  void exchange() {
    for (std::size_t i = 0; i < sent_.size(); ++i) sent_[i] = x_[pkg_->send_map_elmts[i]];
    must(hypre_ParCSRCommHandleDestroy(hypre_ParCSRCommHandleCreate(1, pkg_, sent_.data(), got_.data())));
  }

 private:
  double* x_;
  hypre_ParCSRCommPkg* pkg_;
  std::vector<double> sent_, got_;
};

void run(char** argv) {
  std::ifstream rows(argv[2]);
  int first = 0, last = 0;
  for (int rank = 0, count; rank <= nuice::mpi::world_rank() && rows >> count; ++rank)
    first = last, last += count;
  HYPRE_IJMatrix ij = load(argv[1], first, last);
  HYPRE_ParCSRMatrix matrix;
  must(HYPRE_IJMatrixGetObject(ij, reinterpret_cast<void**>(&matrix)));
  Vector b(first, last, 1), x(first, last, 0);
  HYPRE_Solver solver;
  must(HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver));
  must(HYPRE_PCGSetTol(solver, std::atof(argv[4])));
  must(HYPRE_PCGSetTwoNorm(solver, 1));
  must(HYPRE_PCGSetMaxIter(solver, 100000));
  must(HYPRE_ParCSRPCGSetup(solver, matrix, b.par, x.par));
  const auto solve = [&] {
    x.set(0);
    must(HYPRE_ParCSRPCGSolve(solver, matrix, b.par, x.par));
  };
  Ghosts ghosts(reinterpret_cast<hypre_ParCSRMatrix*>(matrix), x.values());
  solve();
  HYPRE_Int iterations = 0;
  must(HYPRE_PCGGetNumIterations(solver, &iterations));
  write_lines(argv[3], x.values(), last - first);
  const double solve_s = nuice::kit::time_in_turns({{"solve", solve}}, 5).front();
  const auto exchange = [&] { ghosts.exchange(); };
  const double exchange_s = nuice::kit::time_in_turns({{"exchange", exchange}}, std::atoi(argv[5])).front();
  if (nuice::mpi::world_rank() == 0)
    std::printf(
        "{\"iterations\": %d, \"converged\": %s, \"solve_seconds\": %.9g, "
        "\"exchange_seconds_median\": %.9g}\n",
        iterations, iterations < 100000 ? "true" : "false", solve_s, exchange_s);
  must(HYPRE_ParCSRPCGDestroy(solver));
  must(HYPRE_IJMatrixDestroy(ij));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  HYPRE_Init();
  run(argv);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
