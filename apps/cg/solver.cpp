// SPDX-License-Identifier: BSD-3-Clause
#include "cg/solver.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/exact_sum.hpp"
#include "nuice/error.hpp"

namespace nuice::cg {
namespace {

/// y += a x
void add(std::span<double> y, double a, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
}

/// p = r + beta p
void turn(std::span<double> p, std::span<const double> r, double beta) {
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + beta * p[i];
}

}  // namespace

Solution solve(Product& product, const std::vector<double>& b, double rtol, int max_iterations,
               MPI_Comm comm) {
  apps::RankSum sum(comm);
  const std::span<double> p = product.x();
  Solution solution{.x = std::vector<double>(b.size(), 0.0)};
  std::vector<double> r = b;  // r = b - A x, x = 0
  std::vector<double> q(b.size());
  std::ranges::copy(r, p.begin());
  double rr = sum(apps::dot(r, r));
  const double bb = rr;
  product.multiply(
      q);  // the first one also pays for MPI's connections and for memory that is touched for the first time
  MPI_Barrier(comm);
  const double begin_s = MPI_Wtime();
  while (rr > rtol * rtol * bb && solution.iterations < max_iterations) {
    product.multiply(q);
    const double pq = sum(apps::dot(p, q));
    if (!(pq > 0))
      throw Error(ErrorCode::invalid_argument,
                  "the matrix is not positive definite: p'Ap = " + std::to_string(pq) + " in iteration " +
                      std::to_string(solution.iterations + 1));
    const double alpha = rr / pq;
    add(solution.x, alpha, p);
    add(r, -alpha, q);
    const double rr_before = rr;
    rr = sum(apps::dot(r, r));
    turn(p, r, rr / rr_before);
    ++solution.iterations;
  }
  solution.seconds = MPI_Wtime() - begin_s;
  MPI_Allreduce(MPI_IN_PLACE, &solution.seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  solution.converged = rr <= rtol * rtol * bb;
  solution.relative_residual = bb > 0 ? std::sqrt(rr / bb) : 0;
  return solution;
}

}  // namespace nuice::cg
