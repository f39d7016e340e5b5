// SPDX-License-Identifier: BSD-3-Clause
// The product with nuice: the columns go in, a planned halo comes out.
#include <nuice/mpi/halo.hpp>

#include "cg/product.hpp"

namespace nuice::cg {
namespace {

class NuiceProduct : public Product {
 public:
  NuiceProduct(const LocalRows& rows, int num_rhs, const mpi::PlanOptions& options)
      : halo_(MPI_COMM_WORLD, mpi::Ownership::ranges(rows.row_begins), rows.columns, options,
              num_rhs * Bytes{sizeof(double)}),
        matrix_{rows.begin, {}, rows.values, rows.num_interior, static_cast<std::size_t>(num_rhs)},
        num_rhs_(num_rhs),
        x_(halo_.num_entries() * matrix_.num_rhs),
        gather_(halo_.bind_gather(x_, num_rhs)) {
    for (const std::int64_t column : rows.columns) matrix_.columns.push_back(halo_.local_index(column));
  }

  std::span<double> x() override {
    return std::span(x_).first(static_cast<std::size_t>(halo_.num_owned()) * matrix_.num_rhs);
  }

  void multiply(std::span<double> y) override {
    gather_.start();
    matrix_.multiply_interior(x_, y);
    gather_.wait();
    matrix_.multiply_boundary(x_, y);
  }

  void exchange() override {
    gather_.start();
    gather_.wait();
  }

  apps::HaloFacts facts() const { return {halo_.matrix(num_rhs_ * Bytes{sizeof(double)}), gather_.info()}; }

 private:
  mpi::Halo halo_;
  LocalMatrix matrix_;
  int num_rhs_;
  std::vector<double> x_;  // owned, then ghosts
  mpi::HaloExchange gather_;
};

}  // namespace

std::unique_ptr<Product> make_with_nuice(const LocalRows& rows, int num_rhs, const mpi::PlanOptions& options,
                                         apps::HaloFacts& facts) {
  auto product = std::make_unique<NuiceProduct>(rows, num_rhs, options);
  facts = product->facts();
  return product;
}

}  // namespace nuice::cg
