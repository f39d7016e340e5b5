// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/learn/learning_run.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
LearningRun::LearningRun(std::vector<BoundMethod> methods, const PhaseTable& table, Arrivals& arrivals,
                         const std::shared_ptr<const Communicator>& comm, int tag)
    : methods_(std::move(methods)),
      arrivals_(arrivals),
      contest_(methods_.size()),
      reports_(std::make_unique<Reports>(comm, tag, methods_.size())) {
  for (const Partner& source : table.sources)
    if (source.rank != table.rank && source.bytes > 0) arrivals_.expect_pieces(source.rank, 1);
}

LearningRun::~LearningRun() { Reports::leave(std::move(reports_)); }

template <typename Act>
auto LearningRun::timed(Act&& act) {
  if (!step_.is_timed) return act();
  struct Stopped {
    double& sum_s;
    double begin_s = MPI_Wtime();
    ~Stopped() { sum_s += MPI_Wtime() - begin_s; }
  } const stopped{elapsed_s_};
  return act();
}

void LearningRun::start() {
  elapsed_s_ = 0;
  follows_ = false;
  state_ = State::waits;
  if (!contest_.needs_report() || hear()) begin();
}

/// Starts the method of the next step. If the exchange records messages (follow()), so does the method: from
/// before its start if it always follows, otherwise from after its start.
void LearningRun::begin() {
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

void LearningRun::follow_method() {
  now().arrivals->start();
  now().run->follow();
}

/// Accepts the report that is due. Returns false if the report is not complete yet.
bool LearningRun::hear() {
  if (!reports_->advance()) return false;
  contest_.learn(reports_->result());
  ++num_reports_heard_;
  return true;
}

/// Starts the method if start() has postponed this because a report was missing. Returns whether the method
/// has started.
bool LearningRun::may_begin(bool block) {
  if (state_ != State::waits) return true;
  for (Patience patience; !hear(); patience.found_nothing())
    if (!block) return false;
  begin();
  return true;
}

/// Ends the exchange if `is_done`. next() is called once more after the end, to learn that no message is
/// left.
bool LearningRun::end_if(bool is_done) {
  if (!is_done || state_ == State::over) return is_done;
  state_ = State::over;
  if (step_.is_timed && contest_.add(step_.arm, elapsed_s_)) {
    reports_->begin(contest_.report());
  } else {
    (void)reports_->advance();
  }
  return true;
}

bool LearningRun::advance(bool block) {
  if (!may_begin(block)) return false;
  const bool is_done = timed([&] { return now().run->advance(block); });
  if (follows_) hand_on();
  return end_if(is_done);
}

void LearningRun::follow() {
  follows_ = true;
  if (state_ == State::waits) return;
  if (!now().run->always_follows()) follow_method();
  hand_on();
}

/// Passes arrivals on to the exchange. If a rank is listed several times, the method has one message from it,
/// and the exchange's arrivals hand over all its parts together.
void LearningRun::hand_on() {
  Arrivals& landed = *now().arrivals;
  Rank last = -1;
  while (const std::optional<Arrival> arrival = landed.take()) {
    if (arrival->source.rank != last) arrivals_.land_piece(arrivals_.index_of(arrival->source.rank));
    last = arrival->source.rank;
  }
}

bool LearningRun::next(bool block) {
  if (!may_begin(block)) return false;
  const bool is_done = timed([&] { return now().run->next(block); });
  hand_on();
  return end_if(is_done);
}

bool LearningRun::awaits_copies() const {
  return std::ranges::all_of(methods_, [](const BoundMethod& method) { return method.run->awaits_copies(); });
}

std::int64_t LearningRun::num_events() const {
  std::int64_t events = num_reports_heard_;
  for (const BoundMethod& method : methods_) events += method.run->num_events();
  return events;
}

std::string LearningRun::waits_for() const {
  return state_ == State::waits ? "all ranks to end an exchange before this one"
                                : methods_[step_.arm].run->waits_for();
}

void LearningRun::cancel() noexcept {
  for (const BoundMethod& method : methods_) method.run->cancel();
  if (reports_) reports_->cancel();
}

void LearningRun::describe(ExchangeInfo& info) const {
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

}  // namespace nuice::mpi
