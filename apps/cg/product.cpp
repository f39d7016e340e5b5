// SPDX-License-Identifier: BSD-3-Clause
#include "cg/product.hpp"

#include <algorithm>
#include <numeric>

#include "nuice/mpi/agree.hpp"

namespace nuice::cg {
namespace {

apps::Entries entries_of(const LocalRows& rows, int num_rhs) {
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

}  // namespace

HaloProduct::HaloProduct(const LocalRows& rows, int num_rhs, const apps::HaloWay& way,
                         const mpi::PlanOptions& options)
    : name_(way.name),
      num_rhs_(static_cast<std::size_t>(num_rhs)),
      rows_(rows),
      halos_(way.make(entries_of(rows, num_rhs), options)),
      x_(halos_->num_entries() * num_rhs_),
      update_(halos_->bind(x_, num_rhs)) {
  for (const std::int64_t column : rows.columns) columns_.push_back(halos_->local_index(column));
}

void HaloProduct::multiply(std::span<double> y) {
  const auto rows = [&](std::size_t begin, std::size_t end) {
    cg::multiply(rows_.begin, columns_, rows_.values, begin, end, num_rhs_, x_, y);
  };
  update_->start();
  rows(0, rows_.num_interior);
  update_->wait();
  rows(rows_.num_interior, rows_.num_rows());
}

void HaloProduct::exchange() {
  update_->start();
  update_->wait();
}

}  // namespace nuice::cg
