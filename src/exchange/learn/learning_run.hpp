// SPDX-License-Identifier: BSD-3-Clause
// A run that holds several methods for one bound exchange, and finds the best from the exchanges themselves.
// A method is an executor with an order. Each is a run with its own tags on the same buffers.
// ../contest/contest.hpp decides which one is used when.
//
// An exchange that needs a report waits for it in test, wait and next, not in start. The report was begun
// three exchanges earlier. So a rank must end an exchange before other ranks can end the third exchange after
// it.
//
// Why no rank waits forever: a report waits only until all ranks have ended the exchange whose times it
// reports. That exchange ends because its run ends. Then the next exchange can end, too.
//
// The arrivals of the method in use are passed on to the exchange's arrivals. Cost: the memory of all
// methods, two clock readings per call in timed exchanges, and in each round a maximum over all ranks of one
// number per method. Rounds become rare.
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

/// A bound method. arrivals: the Arrivals with which its run was bound.
struct BoundMethod {
  std::string scheduler;
  std::string executor;
  std::string options;  ///< Options in addition to the plan's, as a string; usually empty.
  std::unique_ptr<Arrivals> arrivals;
  std::unique_ptr<Run> run;  // destroyed before the arrivals

  std::string name() const { return scheduler + ":" + executor + (options.empty() ? "" : "@" + options); }
};

class LearningRun : public Run {
 public:
  /// methods: the first is the method that was chosen before the exchanges. arrivals: the exchange's
  /// arrivals, which expect one piece from every source of `table`. comm, tag: for the reports.
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
  /// start() leads to `waits` if a report is due, else to `runs`. The report leads from `waits` to `runs`,
  /// and the end of the method from `runs` to `over`.
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

  // State of the exchange that runs, or ran last.
  State state_ = State::over;
  exchange::Contest::Step step_;
  bool follows_ = false;  // messages are handed over one by one
  double elapsed_s_ = 0;
  std::int64_t num_reports_heard_ = 0;
};

}  // namespace nuice::mpi
