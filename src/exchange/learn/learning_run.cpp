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
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/contest/contest.hpp"
#include "exchange/exec/run.hpp"
#include "exchange/learn/learning_run.hpp"
#include "exchange/learn/reports.hpp"
#include "mpi/call.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

class LearningRun : public Run {
 public:
  LearningRun(std::vector<BoundMethod> methods, const PhaseTable& table, Arrivals& arrivals,
              const std::shared_ptr<const Communicator>& comm, int tag)
      : methods_(std::move(methods)),
        arrivals_(arrivals),
        contest_(methods_.size()),
        reports_(std::make_unique<Reports>(comm, tag, methods_.size())) {
    for (const Partner& source : table.sources)
      if (source.rank != table.rank && source.bytes > 0) arrivals_.expect_pieces(source.rank, 1);
  }

  ~LearningRun() override { Reports::leave(std::move(reports_)); }

  void start() override {
    elapsed_s_ = 0;
    follows_ = false;
    state_ = State::waits;
    if (!contest_.needs_report() || hear()) begin();
  }

  bool advance(bool block) override {
    if (!may_begin(block)) return false;
    const bool is_done = timed([&] { return now().run->advance(block); });
    if (follows_) hand_on();
    return end_if(is_done);
  }

  void follow() override {
    follows_ = true;
    if (state_ == State::waits) return;
    if (!now().run->always_follows()) follow_method();
    hand_on();
  }

  bool next(bool block) override {
    if (!may_begin(block)) return false;
    const bool is_done = timed([&] { return now().run->next(block); });
    hand_on();
    return end_if(is_done);
  }

  bool awaits_copies() const override {
    return std::ranges::all_of(methods_,
                               [](const BoundMethod& method) { return method.run->awaits_copies(); });
  }

  std::int64_t num_events() const override {
    std::int64_t events = num_reports_heard_;
    for (const BoundMethod& method : methods_) events += method.run->num_events();
    return events;
  }

  std::string waits_for() const override {
    return state_ == State::waits ? "all ranks to end an exchange before this one"
                                  : methods_[step_.arm].run->waits_for();
  }

  void cancel() noexcept override {
    for (const BoundMethod& method : methods_) method.run->cancel();
    if (reports_) reports_->cancel();
  }

  void describe(ExchangeInfo& info) const override {
    const exchange::Standings& known = contest_.standings();
    const BoundMethod& best = methods_[known.best()];
    best.run->describe(info);
    info.scheduler = best.scheduler;
    info.executor = best.executor;
    info.used_since = contest_.best_since();
    info.last = methods_[step_.arm].name();
    info.methods.clear();
    for (std::size_t i = 0; i < methods_.size(); ++i)
      info.methods.push_back({.name = methods_[i].name(),
                              .blocks = known.num_reports(i),
                              .mean_s = known.mean_s(i),
                              .is_in = known.is_in(i)});
  }

 private:
  /// start() leads to `waits` if a report is due, else to `runs`. The report leads from `waits` to `runs`,
  /// and the end of the method from `runs` to `over`.
  enum class State : std::uint8_t { over, waits, runs };
  BoundMethod& now() { return methods_[step_.arm]; }
  /// Starts the method of the next step. If the exchange records messages (follow()), so does the method:
  /// from before its start if it always follows, otherwise from after its start.
  void begin() {
    state_ = State::runs;
    step_ = contest_.next();
    timed([&] {
      BoundMethod& method = now();
      const bool always_follows = method.run->always_follows();
      if (always_follows) follow_method();
      method.run->start();
      if (follows_ && !always_follows) follow_method();
    });
  }

  /// Starts the method if start() has postponed this because a report was missing. Returns whether the method
  /// has started.
  bool may_begin(bool block) {
    if (state_ != State::waits) return true;
    for (Patience patience; !hear(); patience.found_nothing())
      if (!block) return false;
    begin();
    return true;
  }

  /// Accepts the report that is due. Returns false if the report is not complete yet.
  bool hear() {
    if (!reports_->advance()) return false;
    contest_.learn(reports_->result());
    ++num_reports_heard_;
    return true;
  }

  void follow_method() {
    now().arrivals->start();
    now().run->follow();
  }

  /// Passes arrivals on to the exchange. If a rank is listed several times, the method has one message from
  /// it, and the exchange's arrivals hand over all its parts together.
  void hand_on() {
    Arrivals& landed = *now().arrivals;
    Rank last = -1;
    while (const std::optional<Arrival> arrival = landed.take()) {
      if (arrival->source.rank != last) arrivals_.land_piece(arrivals_.index_of(arrival->source.rank));
      last = arrival->source.rank;
    }
  }

  /// Ends the exchange if `is_done`. next() is called once more after the end, to learn that no message is
  /// left.
  bool end_if(bool is_done) {
    if (!is_done || state_ == State::over) return is_done;
    state_ = State::over;
    if (step_.is_timed && contest_.add(step_.arm, elapsed_s_)) {
      reports_->begin(contest_.report());
    } else {
      (void)reports_->advance();
    }
    return true;
  }

  template <typename Act>
  std::invoke_result_t<Act> timed(Act&& act) {
    if (!step_.is_timed) return act();
    struct Stopped {
      double& sum_s;
      double begin_s = MPI_Wtime();
      ~Stopped() { sum_s += MPI_Wtime() - begin_s; }
    } const stopped{elapsed_s_};
    return act();
  }

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

}  // namespace

std::unique_ptr<Run> learn_between(std::vector<BoundMethod> methods, const PhaseTable& table,
                                   Arrivals& arrivals, const std::shared_ptr<const Communicator>& comm,
                                   int tag) {
  return std::make_unique<LearningRun>(std::move(methods), table, arrivals, comm, tag);
}

}  // namespace nuice::mpi
