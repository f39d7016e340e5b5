// SPDX-License-Identifier: BSD-3-Clause
// A two-dimensional Fourier transform of an array distributed by rows (001 s.3.5):
//
//   forward   transform this rank's rows; complete exchange; transform the columns that it has now
//   inverse   the same backwards, divided by the number of elements
//
// The result is distributed by columns. Cost: the cost of FFTW, two passes over the data to pack and unpack,
// and one complete exchange of rows x columns / ranks^2 elements per pair of ranks.
#pragma once

#include <fftw3.h>

#include <algorithm>
#include <memory>

#include "fft2d/exchange.hpp"
#include "kit/errors.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::fft2d {

/// Returns the begins of the blocks of `lines` x other.count(r) elements for the ranks r.
inline std::vector<std::size_t> block_begins(std::int64_t lines, const Ranges& other) {
  std::vector<std::size_t> begins;
  for (Rank rank = 0; rank <= other.num_ranks; ++rank)
    begins.push_back(static_cast<std::size_t>(lines * other.begin(rank)));
  return begins;
}

inline fftw_complex* fftw(std::vector<Complex>& values) {
  return reinterpret_cast<fftw_complex*>(values.data());
}

class Transform {
 public:
  /// Sends nothing. But every rank must call it, because it asks MPI for the ranks.
  explicit Transform(const Shape& shape)
      : shape_(shape),
        row_ranges_{shape.rows, mpi::world_size()},
        column_ranges_{shape.columns, mpi::world_size()},
        rank_(mpi::world_rank()),
        rows_(static_cast<std::size_t>(row_ranges_.count(rank_) * shape.columns)),
        columns_(static_cast<std::size_t>(column_ranges_.count(rank_) * shape.rows)),
        sides_{Blocks(block_begins(row_ranges_.count(rank_), column_ranges_)),
               Blocks(block_begins(column_ranges_.count(rank_), row_ranges_))},
        rows_forward_(make_fft(rows_, row_ranges_.count(rank_), shape.columns, FFTW_FORWARD)),
        rows_inverse_(make_fft(rows_, row_ranges_.count(rank_), shape.columns, FFTW_BACKWARD)),
        columns_forward_(make_fft(columns_, column_ranges_.count(rank_), shape.rows, FFTW_FORWARD)),
        columns_inverse_(make_fft(columns_, column_ranges_.count(rank_), shape.rows, FFTW_BACKWARD)) {}

  /// rows()[i * columns + c]: this rank's row i. Input of forward(), output of inverse().
  std::vector<Complex>& rows() { return rows_; }
  /// columns()[c * rows + i]: this rank's column c. Output of forward(), input of inverse().
  std::vector<Complex>& columns() { return columns_; }
  /// Returns the blocks for which an exchange is made.
  Sides& sides() { return sides_; }

  /// Collective. Transforms rows() into columns(), and overwrites rows().
  void forward(CompleteExchange& exchange) {
    if (rows_forward_) fftw_execute(rows_forward_.get());
    for_each_row_element([](const Complex& in_row, Complex& in_block) { in_block = in_row; });
    exchange.forward();
    for_each_piece_of_column([](auto column, auto block, auto count) { std::copy_n(block, count, column); });
    if (columns_forward_) fftw_execute(columns_forward_.get());
  }

  /// Collective. Transforms columns() into rows(), and overwrites columns().
  void inverse(CompleteExchange& exchange) {
    if (columns_inverse_) fftw_execute(columns_inverse_.get());
    for_each_piece_of_column([](auto column, auto block, auto count) { std::copy_n(column, count, block); });
    exchange.backward();
    const double scale = 1.0 / static_cast<double>(shape_.rows * shape_.columns);
    for_each_row_element([scale](Complex& in_row, const Complex& in_block) { in_row = scale * in_block; });
    if (rows_inverse_) fftw_execute(rows_inverse_.get());
  }

 private:
  struct PlanDeleter {
    void operator()(fftw_plan_s* plan) const { fftw_destroy_plan(plan); }
  };
  using Fft = std::unique_ptr<fftw_plan_s, PlanDeleter>;
  static Fft make_fft(std::vector<Complex>& lines, std::int64_t count, std::int64_t length, int sign) {
    if (count == 0) return nullptr;
    const int n = static_cast<int>(length);
    Fft plan(fftw_plan_many_dft(1, &n, static_cast<int>(count), fftw(lines), nullptr, 1, n, fftw(lines),
                                nullptr, 1, n, sign, FFTW_ESTIMATE));
    if (!plan) kit::fail(ErrorCode::limit, "FFTW makes no plan for lines of {} elements", n);
    return plan;
  }

  /// Returns the row-side block for a rank. For this rank itself this is the column-side block, which is not
  /// sent.
  std::span<Complex> row_block(Rank rank) {
    return rank == rank_ ? sides_.column_side.block(rank) : sides_.row_side.block(rank);
  }

  // A block stores its elements column by column: [c][i] for column c of the receiver and row i of the
  // sender.

  /// Calls visit(element, its place in a block).
  template <typename Visit>
  void for_each_row_element(Visit&& visit) {
    for (Rank rank = 0; rank < row_ranges_.num_ranks; ++rank) {
      auto in_block = row_block(rank).begin();
      for (std::int64_t c = column_ranges_.begin(rank); c < column_ranges_.begin(rank + 1); ++c)
        for (std::int64_t i = 0; i < row_ranges_.count(rank_); ++i)
          visit(rows_[static_cast<std::size_t>(i * shape_.columns + c)], *in_block++);
    }
  }

  /// Calls visit(piece, its place in a block, its length).
  template <typename Visit>
  void for_each_piece_of_column(Visit&& visit) {
    for (Rank rank = 0; rank < row_ranges_.num_ranks; ++rank) {
      auto in_block = sides_.column_side.block(rank).begin();
      for (std::int64_t c = 0; c < column_ranges_.count(rank_); ++c, in_block += row_ranges_.count(rank))
        visit(columns_.begin() + c * shape_.rows + row_ranges_.begin(rank), in_block,
              row_ranges_.count(rank));
    }
  }

  Shape shape_;
  Ranges row_ranges_;
  Ranges column_ranges_;
  Rank rank_;
  std::vector<Complex> rows_;
  std::vector<Complex> columns_;
  Sides sides_;
  Fft rows_forward_, rows_inverse_, columns_forward_, columns_inverse_;
};

/// Returns the transform of the whole array by FFTW's two-dimensional plan, row by row, as the reference.
inline std::vector<Complex> transform_alone(std::vector<Complex> array, const Shape& shape) {
  fftw_plan_s* const plan = fftw_plan_dft_2d(static_cast<int>(shape.rows), static_cast<int>(shape.columns),
                                             fftw(array), fftw(array), FFTW_FORWARD, FFTW_ESTIMATE);
  if (plan == nullptr) throw Error(ErrorCode::limit, "FFTW makes no plan for the whole array");
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return array;
}

}  // namespace nuice::fft2d
