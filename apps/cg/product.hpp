// SPDX-License-Identifier: BSD-3-Clause
// The product of a distributed matrix and a vector, by any way to exchange the halo of its columns.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "cg/distribute.hpp"
#include "common/halos.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::cg {

class Product {
 public:
  virtual ~Product() = default;
  /// This rank's part of x, to be filled before multiply(): row by row, the values of all right-hand sides.
  virtual std::span<double> x() = 0;
  /// Collective. y = A x on this rank's rows.
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

  /// Collective. Only the exchange that multiply() needs.
  void exchange() {
    update_->start();
    update_->wait();
  }

  std::string name() const { return std::string(name_); }
  /// Collective. Requires the way "nuice".
  apps::HaloFacts facts() { return *halos_->facts(static_cast<int>(num_rhs_)); }

 private:
  std::string_view name_;
  std::size_t num_rhs_;
  const LocalRows& rows_;
  std::unique_ptr<apps::Halos> halos_;
  std::vector<std::int32_t> columns_;  // as places in x_
  std::vector<double> x_;              // owned, then ghosts
  std::unique_ptr<apps::GhostUpdate> update_;
};

}  // namespace nuice::cg
