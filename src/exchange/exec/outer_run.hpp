// SPDX-License-Identifier: BSD-3-Clause
// A run around another run. A decorator carries out some messages of an exchange, and the other run
// carries out the rest.
//
// Both runs are advanced alternately, so neither delays the other. Why no rank waits forever: each run has a
// proof of its own.
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
  /// Cancels the other run. Messages of this run arrive in its own memory, which stays valid.
  void cancel() noexcept final;
  void describe(ExchangeInfo& info) const final;

 protected:
  /// others: the run of the other messages; null if there are none.
  OuterRun(Arrivals& arrivals, std::unique_ptr<Run> others)
      : arrivals_(arrivals), others_(std::move(others)) {}

  virtual void begin() = 0;
  /// Makes progress. Not called after is_over().
  virtual void go_on() = 0;
  virtual bool is_over() const = 0;
  /// Waits before the next check for progress. Called if this run or the other run is not complete.
  virtual void wait_a_little() = 0;
  /// Records the messages that are already here. follow() calls it in a running exchange.
  virtual void land_what_is_here() = 0;
  virtual std::vector<Rank> own_waits_for() const = 0;

  Arrivals& arrivals_;
  // State of the running exchange.
  bool follows_ = false;  // messages are handed over one by one
  bool others_are_over_ = false;
  unsigned looks_ = 0;  // calls that found the exchange incomplete
  std::int64_t num_events_ = 0;

 private:
  bool look(bool single);

  std::unique_ptr<Run> others_;
};

/// Takes some messages out of an exchange, and makes the run that carries them.
struct Decorator {
  virtual ~Decorator() = default;
  /// Not collective. Makes the run around `others`. Called once.
  virtual std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) = 0;
};
struct Decoration {
  std::unique_ptr<Decorator> decorator;  ///< Null if no message is taken.

  /// The table without the messages that the decorator takes. Used if there is a decorator.
  PhaseTable rest;
  bool has_rest = true;  ///< Whether any rank has messages left.

  /// A sentence that says what is taken, or why nothing is taken. Equal on all ranks.
  std::string says;
};

}  // namespace nuice::mpi
