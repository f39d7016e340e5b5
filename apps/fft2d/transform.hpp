// SPDX-License-Identifier: BSD-3-Clause
// A two-dimensional Fourier transform of an array distributed by rows (001 s.3.5):
//
//   forward   transform this rank's rows; complete exchange; transform the columns that it has now
//   inverse   the same backwards, divided by the number of elements
//
// The result is distributed by columns. Cost: FFTW's, two passes over the data to pack and unpack, one complete
// exchange of rows x columns / ranks^2 elements per pair.
#pragma once

#include <fftw3.h>

#include <memory>

#include "fft2d/exchange.hpp"

namespace nuice::fft2d {

class Transform {
 public:
  /// Every rank must call it, as MPI must know the ranks; nothing is sent.
  explicit Transform(const Shape& shape);

  /// rows()[i * columns + c]: this rank's row i. Input of forward(), output of inverse().
  std::vector<Complex>& rows() { return rows_; }
  /// columns()[c * rows + i]: this rank's column c. Output of forward(), input of inverse().
  std::vector<Complex>& columns() { return columns_; }
  /// What an exchange is made for.
  Sides& sides() { return sides_; }

  /// Collective. rows() is used up.
  void forward(CompleteExchange& exchange);
  /// Collective. columns() is used up.
  void inverse(CompleteExchange& exchange);

 private:
  struct PlanDeleter {
    void operator()(fftw_plan_s* plan) const { fftw_destroy_plan(plan); }
  };
  using Fft = std::unique_ptr<fftw_plan_s, PlanDeleter>;
  static Fft make_fft(std::vector<Complex>& lines, std::int64_t count, std::int64_t length, int sign);
  /// Row-side block of a rank, or column-side: for itself always the latter, which is not sent.
  std::span<Complex> row_block(Rank rank);
  /// Calls visit(element, its place in a block), visit(piece, its place in a block, its length).
  template <typename Visit>
  void for_each_row_element(Visit&& visit);
  template <typename Visit>
  void for_each_piece_of_column(Visit&& visit);

  Shape shape_;
  Ranges row_ranges_;
  Ranges column_ranges_;
  Rank rank_;
  std::vector<Complex> rows_;
  std::vector<Complex> columns_;
  Sides sides_;
  Fft rows_forward_, rows_inverse_, columns_forward_, columns_inverse_;
};

/// The transform of the whole array by FFTW's two-dimensional plan, row by row: the reference.
std::vector<Complex> transform_alone(std::vector<Complex> array, const Shape& shape);

}  // namespace nuice::fft2d
