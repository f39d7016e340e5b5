// SPDX-License-Identifier: BSD-3-Clause
// Runs around another one: a decorator carries out some messages of an exchange by itself, and another run has the rest.
//
// Both are looked after in turn, so neither keeps the other waiting. Why no rank waits forever: each has a proof of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/exec/run.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

class OuterRun : public Run {
 public:
  void start() final;
  bool advance(bool block) final;
  void follow() final;
  bool always_follows() const final { return others_ && others_->always_follows(); }
  bool next(bool block) final;
  std::int64_t num_events() const final { return num_events_ + (others_ ? others_->num_events() : 0); }
  std::string waits_for() const final;
  /// What comes for this run lands in memory of its own, which stays.
  void cancel() noexcept final;
  void describe(ExchangeInfo& info) const final;

 protected:
  /// others: the rest; null: there is none.
  OuterRun(Arrivals& arrivals, std::unique_ptr<Run> others)
      : arrivals_(arrivals), others_(std::move(others)) {}

  virtual void begin() = 0;
  /// Makes progress, unless is_over().
  virtual void go_on() = 0;
  virtual bool is_over() const = 0;
  /// After a look that found this run or the others not over.
  virtual void wait_a_little() = 0;
  /// follow() in a running exchange: notes what is here.
  virtual void land_what_is_here() = 0;
  virtual std::vector<Rank> own_waits_for() const = 0;

  Arrivals& arrivals_;
  // of the running exchange
  bool follows_ = false;  // messages are handed over one by one
  bool others_are_over_ = false;
  unsigned looks_ = 0;  // that did not end it
  std::int64_t num_events_ = 0;

 private:
  bool look(bool single);

  std::unique_ptr<Run> others_;
};

/// A step of a binder: what a decorator takes of an exchange, and what it leaves to the next step.
struct Decorator {
  virtual ~Decorator() = default;
  /// Not collective. Once.
  virtual std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) = 0;
};
struct Decoration {
  std::unique_ptr<Decorator> decorator;  ///< None: it takes nothing.
  PhaseTable rest;                       ///< Then empty. Else the table without what is taken.
  bool has_rest = true;                  ///< Of any rank.
  std::string says;                      ///< What is taken, or why nothing is. Equal on all ranks.
};

}  // namespace nuice::mpi
