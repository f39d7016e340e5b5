// SPDX-License-Identifier: BSD-3-Clause
// Several methods for one bound exchange, of which the exchanges themselves show the best: executors and orders, each a run
// with its own tags on the same buffers. ../contest/contest.hpp says which one is used when.
//
// An exchange that needs a report waits for it inside test, wait and next, not in start; the report was begun three exchanges
// before. So every rank must end an exchange before others can end the third one after it.
//
// Why no rank waits forever: a report waits only for the end of the exchange that it is about, on all ranks. That exchange
// ends as its run does; so does, then, the next one.
//
// The arrivals of the method in use are handed on to the exchange's arrivals.
// Cost: memory of all methods; two readings of the clock a call in timed exchanges; a maximum over all ranks of a number for
// each method, in rounds that become rare.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/contest/contest.hpp"
#include "exchange/exec/run.hpp"
#include "exchange/learn/reports.hpp"

namespace nuice::mpi {

/// A method, bound. arrivals: those that the run was bound with.
struct BoundMethod {
  std::string scheduler;
  std::string executor;
  std::string options;  ///< In addition to the plan's, as people write them; usually empty.
  std::unique_ptr<Arrivals> arrivals;
  std::unique_ptr<Run> run;  // destroyed before the arrivals

  std::string name() const { return scheduler + ":" + executor + (options.empty() ? "" : "@" + options); }
};

class LearningRun : public Run {
 public:
  /// methods: the one chosen beforehand first. arrivals: of the exchange, which expects one piece from every source of `table`. comm
  /// and tag: of the reports.
  LearningRun(std::vector<BoundMethod> methods, const PhaseTable& table, Arrivals& arrivals,
              const std::shared_ptr<const Communicator>& comm, int tag);
  ~LearningRun() override;

  void start() override;
  bool advance(bool block) override;
  void follow() override;
  bool next(bool block) override;
  bool awaits_copies() const override;
  std::int64_t num_events() const override;
  std::string waits_for() const override;
  void cancel() noexcept override;
  void describe(ExchangeInfo& info) const override;

 private:
  /// over -> waits, in start() where a report is due; over or waits -> runs, as the method begins; runs -> over.
  enum class State : std::uint8_t { over, waits, runs };
  BoundMethod& now() { return methods_[step_.arm]; }
  void begin();
  bool may_begin(bool block);
  bool hear();
  void follow_method();
  void hand_on();
  bool end_if(bool is_done);
  template <typename Act>
  auto timed(Act&& act);

  std::vector<BoundMethod> methods_;
  Arrivals& arrivals_;
  exchange::Contest contest_;
  std::unique_ptr<Reports> reports_;

  // of the exchange that runs, or ran last
  State state_ = State::over;
  exchange::Contest::Step step_;
  bool follows_ = false;  // messages are handed over one by one
  double elapsed_s_ = 0;
  std::int64_t num_reports_heard_ = 0;
};

}  // namespace nuice::mpi
