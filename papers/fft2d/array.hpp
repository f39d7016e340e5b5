// SPDX-License-Identifier: BSD-3-Clause
// The distributed array, and how it is read, gathered and written.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <complex>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "kit/errors.hpp"
#include "kit/files.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"
#include "nuice/core/types.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::fft2d {

using Complex = std::complex<double>;

/// Divides lines 0 .. size - 1 into ranges over the ranks, as evenly as possible. If there are few lines,
/// some ranks have no line.
struct Ranges {
  std::int64_t size;
  Rank num_ranks;

  std::int64_t begin(Rank rank) const { return size * rank / num_ranks; }
  std::int64_t count(Rank rank) const { return begin(rank + 1) - begin(rank); }
};

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
};

/// A datatype for a whole row, because MPI counts with an int.
class RowType {
 public:
  explicit RowType(std::int64_t columns) {
    MPI_Type_contiguous(static_cast<int>(columns), MPI_CXX_DOUBLE_COMPLEX, &type_);
    MPI_Type_commit(&type_);
  }
  RowType(const RowType&) = delete;
  RowType& operator=(const RowType&) = delete;
  ~RowType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Returns element (row, column) of the input if there is no file: both parts are uniform in [-1, 1).
inline Complex element(std::int64_t row, std::int64_t column, std::uint64_t seed) {
  Random random(mix64(seed) ^
                mix64(static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(column)));
  const double real = 2 * random.unit() - 1;
  return {real, 2 * random.unit() - 1};
}

/// Collective. Returns this rank's rows of the array in the file: rows x columns numbers of two doubles in
/// the machine's byte order, row by row (numpy's complex128, tofile()). Throws Error io on all ranks if the
/// file cannot be read or has another length.
inline std::vector<Complex> read_rows(const std::string& path, const Shape& shape) {
  const Ranges rows{shape.rows, mpi::world_size()};
  const Rank rank = mpi::world_rank();
  std::vector<Complex> mine(static_cast<std::size_t>(rows.count(rank) * shape.columns));
  mpi::all_or_none(MPI_COMM_WORLD, [&] {
    const auto row_bytes = shape.columns * static_cast<std::int64_t>(sizeof(Complex));
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw Error(ErrorCode::io, path + ": cannot be opened");
    const std::int64_t bytes = in.tellg();
    if (bytes != shape.rows * row_bytes)
      kit::fail(ErrorCode::io, "{} has {} bytes, {} x {} complex numbers have {}", path, bytes, shape.rows,
                shape.columns, shape.rows * row_bytes);
    in.seekg(rows.begin(rank) * row_bytes);
    in.read(reinterpret_cast<char*>(mine.data()), rows.count(rank) * row_bytes);
    if (!in) throw Error(ErrorCode::io, path + ": cannot be read");
  });
  return mine;
}

/// Collective. Gathers every rank's rows. Returns the whole array on rank 0, and an empty one elsewhere.
inline std::vector<Complex> gather_rows(const std::vector<Complex>& mine, const Shape& shape) {
  const Ranges rows{shape.rows, mpi::world_size()};
  std::vector<int> counts;
  std::vector<int> begins;
  for (Rank rank = 0; rank < rows.num_ranks; ++rank) {
    counts.push_back(static_cast<int>(rows.count(rank)));
    begins.push_back(static_cast<int>(rows.begin(rank)));
  }
  std::vector<Complex> all;
  mpi::on_rank_0(MPI_COMM_WORLD, [&] { all.resize(static_cast<std::size_t>(shape.rows * shape.columns)); });
  const RowType row(shape.columns);
  MPI_Gatherv(mine.data(), counts[static_cast<std::size_t>(mpi::world_rank())], row.get(), all.data(),
              counts.data(), begins.data(), row.get(), 0, MPI_COMM_WORLD);
  return all;
}

/// Writes the array. Called on rank 0 only.
inline void write_array(const std::string& path, const std::vector<Complex>& array) {
  kit::write_file(path, std::as_bytes(std::span(array)));
}

}  // namespace nuice::fft2d
