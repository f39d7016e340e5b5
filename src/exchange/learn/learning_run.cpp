// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/learn/learning_run.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/tcp_losses.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

std::vector<bool> which_find_pace(const std::vector<BoundMethod>& methods) {
  std::vector<bool> finds;
  for (const BoundMethod& method : methods) finds.push_back(method.finds_pace);
  return finds;
}

}  // namespace

LearningRun::LearningRun(std::vector<BoundMethod> methods, const PhaseTable& table, Arrivals& arrivals,
                         const std::shared_ptr<const Communicator>& comm, int tag, KeepChoice keep)
    : methods_(std::move(methods)),
      arrivals_(arrivals),
      comm_(*comm),
      control_(which_find_pace(methods_)),
      reports_(std::make_unique<Reports>(comm, tag, methods_.size())),
      keep_(std::move(keep)),
      is_rank_0_(comm->rank() == 0) {
  for (const Partner& source : table.sources)
    if (source.rank != table.rank && source.bytes > 0) arrivals_.expect_pieces(source.rank, 1);
}

LearningRun::~LearningRun() {
  Reports::leave(std::move(reports_));
  const auto known = control_.known(control_.best());
  if (!is_rank_0_ || !keep_ || known.blocks == 0) return;
  try {
    keep_(methods_[control_.best()], known.mean_s, known.blocks);
  } catch (const std::exception&) {
    // A destructor has nobody to tell; the next run begins as this one did.
  }
}

/// What the methods say to each other has made MPI's connections.
void LearningRun::agree() {
  for (const BoundMethod& method : methods_) method.run->agree();
  TcpLosses sockets;
  sockets.find_sockets();
  int may_drop = sockets.any_to_others() ? 1 : 0;
  all_reduce(comm_, MPI_IN_PLACE, &may_drop, 1, MPI_INT, MPI_MAX);
  if (may_drop != 0) control_.put_off();
}

template <typename Act>
auto LearningRun::timed(Act&& act) {
  if (!control_.is_timed()) return act();
  struct Stopped {
    double& sum_s;
    double begin_s = MPI_Wtime();
    ~Stopped() { sum_s += MPI_Wtime() - begin_s; }
  } const stopped{elapsed_s_};
  return act();
}

void LearningRun::start() {
  control_.begin();
  elapsed_s_ = 0;
  has_begun_ = follows_ = is_over_ = false;
  if (!control_.needs_report() || hear()) begin();
}

/// By the method that is due. What has landed before is noted later, as far as the exchange follows.
void LearningRun::begin() {
  has_begun_ = true;
  now_ = control_.method();
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

/// Whether the report that is due is here; if so, it counts from here on.
bool LearningRun::hear() {
  if (!reports_->advance()) return false;
  control_.learn(reports_->result());
  ++num_reports_heard_;
  return true;
}

/// Begins what start() has not, as soon as all have reported.
bool LearningRun::may_begin(bool block) {
  if (has_begun_) return true;
  for (Patience patience; !hear(); patience.found_nothing())
    if (!block) return false;
  begin();
  return true;
}

bool LearningRun::end_if(bool is_done) {
  if (!is_done || std::exchange(is_over_, is_done)) return is_done;
  if (control_.is_timed()) control_.add(elapsed_s_);
  if (control_.finish()) {
    reports_->owe();
    reports_->begin(control_.report());
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
  if (!has_begun_) return;
  if (!now().run->always_follows()) follow_method();
  hand_on();
}

/// A rank that is listed several times stands for one message: the arrivals of the exchange hand over all of it.
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
  return has_begun_ ? methods_[now_].run->waits_for() : "all ranks to end an exchange before this one";
}

void LearningRun::cancel() noexcept {
  for (const BoundMethod& method : methods_) method.run->cancel();
  if (reports_) reports_->cancel();
}

void LearningRun::describe(ExchangeInfo& info) const {
  const BoundMethod& best = methods_[control_.best()];
  best.run->describe(info);
  info.scheduler = best.scheduler;
  info.executor = best.executor;
  info.used_since = control_.best_since();
  info.last = methods_[now_].name();
  info.methods.clear();
  for (std::size_t i = 0; i < methods_.size(); ++i) {
    const auto known = control_.known(i);
    info.methods.push_back(
        {.name = methods_[i].name(), .blocks = known.blocks, .mean_s = known.mean_s, .is_in = known.is_in});
  }
}

}  // namespace nuice::mpi
