// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients (Hestenes, Stiefel 1952) without preconditioner, and the product of a distributed
// matrix and a vector, with any method of exchanging the halo of the vector.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "cg/distribute.hpp"
#include "common/exact_sum.hpp"
#include "common/halos.hpp"
#include "kit/errors.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::cg {

class Product {
 public:
  virtual ~Product() = default;
  /// Returns this rank's part of x, which the caller fills before multiply(): row by row, the values of all
  /// right-hand sides.
  virtual std::span<double> x() = 0;
  /// Collective. Computes y = A x on this rank's rows.
  virtual void multiply(std::span<double> y) = 0;
};

inline apps::Entries entries_of(const LocalRows& rows, int num_rhs) {
  const std::vector<std::int64_t>& begins = rows.row_begins;
  apps::Entries entries{
      .owned = std::vector<std::int64_t>(rows.num_rows()),
      .owner =
          [&begins](std::int64_t row) {
            return static_cast<Rank>(std::ranges::upper_bound(begins, row) - begins.begin()) - 1;
          },
      .needed = rows.columns,
      .components = num_rhs};
  std::iota(entries.owned.begin(), entries.owned.end(), begins[static_cast<std::size_t>(mpi::world_rank())]);
  return entries;
}

class HaloProduct : public Product {
 public:
  /// Collective.
  HaloProduct(const LocalRows& rows, int num_rhs, const apps::HaloWay& way, const mpi::PlanOptions& options)
      : name_(way.name),
        num_rhs_(static_cast<std::size_t>(num_rhs)),
        rows_(rows),
        halos_(way.make(entries_of(rows, num_rhs), options)),
        x_(halos_->num_entries() * num_rhs_),
        update_(halos_->bind(x_, num_rhs)) {
    for (const std::int64_t column : rows.columns) columns_.push_back(halos_->local_index(column));
  }

  std::span<double> x() override { return std::span(x_).first(halos_->num_owned() * num_rhs_); }

  void multiply(std::span<double> y) override {
    const auto rows = [&](std::size_t begin, std::size_t end) {
      cg::multiply(rows_.begin, columns_, rows_.values, begin, end, num_rhs_, x_, y);
    };
    update_->start();
    rows(0, rows_.num_interior);
    update_->wait();
    rows(rows_.num_interior, rows_.num_rows());
  }

  /// Collective. Carries out only the exchange of multiply().
  void exchange() {
    update_->start();
    update_->wait();
  }

  std::string name() const { return std::string(name_); }
  /// Collective. Returns the facts of the planned halo. Requires the method "nuice".
  apps::HaloFacts facts() { return *halos_->facts(static_cast<int>(num_rhs_)); }

 private:
  std::string_view name_;
  std::size_t num_rhs_;
  const LocalRows& rows_;
  std::unique_ptr<apps::Halos> halos_;
  std::vector<std::int32_t> columns_;  // positions in x_
  std::vector<double> x_;              // owned, then ghosts
  std::unique_ptr<apps::GhostUpdate> update_;
};

struct Solution {
  std::vector<double> x;  // this rank's rows
  int iterations = 0;
  bool converged = false;
  double relative_residual = 0;  // |r| / |b| by the recurrence; the maximum over the right-hand sides
  double seconds = 0;            // maximum over the ranks
};

/// One number per right-hand side.
using Numbers = std::vector<double>;

/// Computes y += a x, with a separate a for every right-hand side.
inline void add(std::span<double> y, const Numbers& a, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); i += a.size())
    for (std::size_t c = 0; c < a.size(); ++c) y[i + c] += a[c] * x[i + c];
}

/// Computes p = r + beta p.
inline void turn(std::span<double> p, std::span<const double> r, const Numbers& beta) {
  for (std::size_t i = 0; i < p.size(); i += beta.size())
    for (std::size_t c = 0; c < beta.size(); ++c) p[i + c] = r[i + c] + beta[c] * p[i + c];
}

/// Computes sums over all rows of all ranks.
class Dot {
 public:
  Dot(MPI_Comm comm, std::size_t num_rhs) : sum_(comm), mine_(num_rhs) {}
  void operator()(std::span<const double> a, std::span<const double> b, Numbers& sums) {
    apps::dots(a, b, mine_);
    sum_(mine_, sums);
  }

 private:
  apps::RankSum sum_;
  std::vector<apps::ExactSum> mine_;
};

inline void require_positive(double pq, int iteration) {
  if (pq > 0) return;
  kit::refuse("the matrix is not positive definite: p'Ap = {:f} in iteration {}", pq, iteration);
}

/// Collective over comm; `product` multiplies the rows of its ranks. Solves A x = b from x = 0 until |r| <=
/// rtol |b|. The num_rhs systems (b and x row by row) share products and sums, but not search directions. The
/// sums over all rows do not depend on the distribution of the rows (exact_sum.hpp). So the iterates and the
/// number of iterations are the same for any number of ranks, to the last bit. Throws Error
/// `invalid_argument` on all ranks if p'Ap is not positive, because A is then not positive definite.
inline Solution solve(Product& product, const std::vector<double>& b, std::size_t num_rhs, double rtol,
                      int max_iterations, MPI_Comm comm) {
  Dot dot(comm, num_rhs);
  const std::span<double> p = product.x();
  Solution solution{.x = std::vector<double>(b.size(), 0.0)};
  std::vector<double> r = b;  // r = b - A x, x = 0
  std::vector<double> q(b.size());
  std::ranges::copy(r, p.begin());
  Numbers rr(num_rhs), rr_before(num_rhs), pq(num_rhs), alpha(num_rhs), minus_alpha(num_rhs), beta(num_rhs);
  dot(r, r, rr);
  const Numbers bb = rr;
  const auto runs = [&](std::size_t c) { return rr[c] > rtol * rtol * bb[c]; };
  const auto any_runs = [&] {
    for (std::size_t c = 0; c < num_rhs; ++c)
      if (runs(c)) return true;
    return false;
  };
  product.multiply(
      q);  // the first product also pays for MPI's connections, and for memory that is touched for the first
           // time
  MPI_Barrier(comm);
  const double begin_s = MPI_Wtime();
  while (any_runs() && solution.iterations < max_iterations) {
    product.multiply(q);
    dot(p, q, pq);
    for (std::size_t c = 0; c < num_rhs; ++c) {  // a solved system does not change
      if (runs(c)) require_positive(pq[c], solution.iterations + 1);
      alpha[c] = runs(c) ? rr[c] / pq[c] : 0;
      minus_alpha[c] = -alpha[c];
    }
    add(solution.x, alpha, p);
    add(r, minus_alpha, q);
    rr_before = rr;
    dot(r, r, rr);
    for (std::size_t c = 0; c < num_rhs; ++c) beta[c] = rr_before[c] > 0 ? rr[c] / rr_before[c] : 0;
    turn(p, r, beta);
    ++solution.iterations;
  }
  solution.seconds = MPI_Wtime() - begin_s;
  MPI_Allreduce(MPI_IN_PLACE, &solution.seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  solution.converged = !any_runs();
  for (std::size_t c = 0; c < num_rhs; ++c)
    if (bb[c] > 0)
      solution.relative_residual = std::max(solution.relative_residual, std::sqrt(rr[c] / bb[c]));
  return solution;
}

}  // namespace nuice::cg
