// SPDX-License-Identifier: BSD-3-Clause
// Several methods for one bound exchange, of which the exchanges themselves show the best: executors and orders that are each a run
// of their own, with tags of its own, on the same buffers. method_control.hpp says when which one is tried.
//
// All ranks carry out an exchange by the same method: its number decides, and reports that all have heard before that number. The
// exchange that needs a report waits for it, inside test, wait and next and not in start; it was begun three exchanges before. So
// every rank must come to the end of an exchange for others to end the third one after it.
//
// Why no rank waits for ever: a report waits for nothing but the end of the exchange that it is about, on all ranks. That exchange
// ends as its run does; so does, then, the next one.
//
// What has landed is noted by the method's own arrivals, and handed on to the exchange's.
// Cost beside a method's own: memory of all; two readings of the clock a call in exchanges that are timed; a maximum over all ranks
// of a number for each method, in blocks that become rare.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/exec/reports.hpp"
#include "exchange/exec/run.hpp"
#include "exchange/learn/method_control.hpp"

namespace nuice::mpi {

/// A method, bound. arrivals: those that the run was bound with.
struct BoundMethod {
  std::string scheduler;
  std::string executor;
  std::string options;  ///< Beside the plan's, as people write them; usually empty.
  bool finds_pace;
  std::unique_ptr<Arrivals> arrivals;
  std::unique_ptr<Run> run;  // destroyed before the arrivals

  std::string name() const { return scheduler + ":" + executor + (options.empty() ? "" : "@" + options); }
};

/// What becomes of what was learnt, when the exchange is freed: on rank 0, once something is known.
using KeepChoice = std::function<void(const BoundMethod& best, double mean_s, int blocks)>;

class LearningRun : public Run {
 public:
  /// methods: the one chosen beforehand first. arrivals: of the exchange, which expects one piece from every source of `table`. comm
  /// and tag: of the reports.
  LearningRun(std::vector<BoundMethod> methods, const PhaseTable& table, Arrivals& arrivals,
              const std::shared_ptr<const Communicator>& comm, int tag, KeepChoice keep);
  ~LearningRun() override;

  void agree() override;
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
  BoundMethod& now() { return methods_[now_]; }
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
  const Communicator& comm_;  // of the reports, which keep it
  exchange::MethodControl control_;
  std::unique_ptr<Reports> reports_;
  KeepChoice keep_;
  bool is_rank_0_;

  // of the running exchange
  std::size_t now_ = 0;
  bool has_begun_ = false;
  bool follows_ = false;
  bool is_over_ = false;  // next() is called once more to hear that nothing is left
  double elapsed_s_ = 0;
  std::int64_t num_reports_heard_ = 0;
};

}  // namespace nuice::mpi
