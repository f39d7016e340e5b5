// SPDX-License-Identifier: BSD-3-Clause
// FFTW's own distributed transform, for bench/run.py peers. The numbers are those of nuice-fft2d, and the
// result is also distributed by columns (FFTW_MPI_TRANSPOSED_OUT).
//
//   mpiexec -n N fftw_mpi ROWS COLUMNS INPUT OUTPUT REPS
//
// Reads and writes complex128, row by row. Prints one JSON object: the median seconds of a forward transform.
#include <fftw3-mpi.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "in_turn.hpp"
#include "kit/timing.hpp"

namespace {

using Complex = std::complex<double>;

/// Reads this rank's rows from the file.
std::vector<Complex> read_rows(const std::string& path, std::ptrdiff_t begin, std::ptrdiff_t count,
                               std::ptrdiff_t columns) {
  std::vector<Complex> rows(static_cast<std::size_t>(count * columns));
  std::ifstream in(path, std::ios::binary);
  in.seekg(begin * columns * static_cast<std::ptrdiff_t>(sizeof(Complex)));
  in.read(reinterpret_cast<char*>(rows.data()), static_cast<std::streamsize>(rows.size() * sizeof(Complex)));
  if (!in) MPI_Abort(MPI_COMM_WORLD, 2);
  return rows;
}

/// Writes column c of the result into its places in the file; ranks write one after the other.
void write_columns(const std::string& path, const fftw_complex* columns, std::ptrdiff_t begin,
                   std::ptrdiff_t count, std::ptrdiff_t num_rows, std::ptrdiff_t num_columns) {
  in_turn([&] {
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    for (std::ptrdiff_t row = 0; row < num_rows; ++row) {
      std::vector<Complex> part;
      for (std::ptrdiff_t c = 0; c < count; ++c)
        part.emplace_back(columns[c * num_rows + row][0], columns[c * num_rows + row][1]);
      out.seekp((row * num_columns + begin) * static_cast<std::ptrdiff_t>(sizeof(Complex)));
      out.write(reinterpret_cast<const char*>(part.data()),
                static_cast<std::streamsize>(part.size() * sizeof(Complex)));
    }
    if (!out.flush()) MPI_Abort(MPI_COMM_WORLD, 2);
  });
}

void run(char** argv) {
  const std::ptrdiff_t rows = std::atol(argv[1]);
  const std::ptrdiff_t columns = std::atol(argv[2]);
  const int reps = std::atoi(argv[5]);
  std::ptrdiff_t row_count, row_begin, column_count, column_begin;
  const std::ptrdiff_t local = fftw_mpi_local_size_2d_transposed(rows, columns, MPI_COMM_WORLD, &row_count,
                                                                 &row_begin, &column_count, &column_begin);
  fftw_complex* const data = fftw_alloc_complex(static_cast<std::size_t>(local));
  fftw_plan const plan = fftw_mpi_plan_dft_2d(rows, columns, data, data, MPI_COMM_WORLD, FFTW_FORWARD,
                                              FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
  const std::vector<Complex> input = read_rows(argv[3], row_begin, row_count, columns);
  const auto transform = [&] {
    std::ranges::copy(input, reinterpret_cast<Complex*>(data));
    fftw_execute(plan);
  };
  transform();
  write_columns(argv[4], data, column_begin, column_count, rows, columns);
  const double seconds = nuice::kit::time_in_turns({{"fftw_mpi", transform}}, reps).front();
  if (nuice::mpi::world_rank() == 0) std::printf("{\"transform_seconds_median\": %.9g}\n", seconds);
  fftw_destroy_plan(plan);
  fftw_free(data);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  run(argv);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
