// SPDX-License-Identifier: BSD-3-Clause
// The product of a distributed matrix and a vector, by any way to exchange the halo of its columns.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cg/distribute.hpp"
#include "common/halos.hpp"

namespace nuice::cg {

class Product {
 public:
  virtual ~Product() = default;
  /// This rank's part of x, to be filled before multiply(): row by row, the values of all right-hand sides.
  virtual std::span<double> x() = 0;
  /// Collective. y = A x on this rank's rows.
  virtual void multiply(std::span<double> y) = 0;
};

class HaloProduct : public Product {
 public:
  /// Collective.
  HaloProduct(const LocalRows& rows, int num_rhs, const apps::HaloWay& way, const mpi::PlanOptions& options);

  std::span<double> x() override { return std::span(x_).first(halos_->num_owned() * num_rhs_); }
  void multiply(std::span<double> y) override;
  /// Collective. Only the exchange that multiply() needs.
  void exchange();
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
