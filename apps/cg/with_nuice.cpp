// SPDX-License-Identifier: BSD-3-Clause
// The product with nuice: the columns go in, a planned halo comes out.
#include <nuice/halo.hpp>

#include "cg/product.hpp"

namespace nuice::cg {
namespace {

class NuiceProduct : public Product {
 public:
  NuiceProduct(const LocalRows& rows, const mpi::PlanOptions& options)
      : halo_(MPI_COMM_WORLD, mpi::Ownership::ranges(rows.row_begins), rows.columns, options),
        matrix_{rows.begin, {}, rows.values, rows.num_interior},
        x_(halo_.num_entries()),
        gather_(halo_.bind_gather(x_)) {
    for (const std::int64_t column : rows.columns) matrix_.columns.push_back(halo_.local_index(column));
  }

  std::span<double> x() override { return std::span(x_).first(static_cast<std::size_t>(halo_.num_owned())); }

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

  apps::HaloFacts facts() const { return {halo_.matrix(sizeof(double)), gather_.info()}; }

 private:
  mpi::Halo halo_;
  LocalMatrix matrix_;
  std::vector<double> x_;  // owned, then ghosts
  mpi::HaloExchange gather_;
};

}  // namespace

std::unique_ptr<Product> make_with_nuice(const LocalRows& rows, const mpi::PlanOptions& options,
                                         apps::HaloFacts& facts) {
  auto product = std::make_unique<NuiceProduct>(rows, options);
  facts = product->facts();
  return product;
}

}  // namespace nuice::cg
