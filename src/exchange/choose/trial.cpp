// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choose/trial.hpp"
#include "mpi/collective.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mpi/agree.hpp"
#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

constexpr std::size_t most_rounds = 30;
constexpr std::size_t least_rounds = 5;
/// Of many rounds so many per cent are not counted, the worst: on a busy machine they say nothing of the method.
constexpr std::size_t percent_left_out = 10;
constexpr double enough_s = 1;
constexpr double much_slower = 3;
constexpr double clock_s = 1e-9;  // no time is below

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// What an exchange costs in the long run, its bad days included. The median does not see those; where exchanges take
/// long, and lost packets with their time-outs are what to fear, rounds are few and all of them count.
double cost(std::vector<double> times) {
  std::ranges::sort(times);
  times.resize(times.size() - times.size() * percent_left_out / 100);
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

}  // namespace

void Trial::take_memory(const Plan& plan) {
  std::size_t total = 0;
  for (const auto partners : {plan.destinations(), plan.sources()})
    for (const Partner& partner : partners) total += static_cast<std::size_t>(partner.bytes);
  memory_.assign(total, std::byte{1});  // written, so that the pages are there
  std::byte* at = memory_.data();
  for (const Partner& partner : plan.destinations()) {
    send_.push_back({at, partner.bytes});
    at += partner.bytes;
  }
  for (const Partner& partner : plan.sources()) {
    receive_.push_back({at, partner.bytes});
    at += partner.bytes;
  }
}

void Trial::add(Plan plan) {
  if (runners_.empty()) all_or_none(comm_, [&] { take_memory(plan); });
  Exchange exchange = plan.bind(send_, receive_);
  runners_.push_back({std::move(plan), std::move(exchange), {}});
}

/// One exchange of each plan, beginning with another one every round.
void Trial::run_round(std::size_t first) {
  std::vector<double> times(runners_.size(), 0);
  for (std::size_t turn = 0; turn < runners_.size(); ++turn) {
    const std::size_t i = (first + turn) % runners_.size();
    if (runners_[i].is_out) continue;
    synchronise(comm_);
    const double begin_s = MPI_Wtime();
    runners_[i].exchange.start();
    runners_[i].exchange.wait();
    times[i] = std::max(clock_s, MPI_Wtime() - begin_s);
  }
  all_reduce(comm_, MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX);
  for (std::size_t i = 0; i < runners_.size(); ++i)
    if (!runners_[i].is_out) runners_[i].times_s.push_back(times[i]);
}

void Trial::drop_slow_ones() {
  double best_s = std::numeric_limits<double>::infinity();
  for (const Runner& runner : runners_) best_s = std::min(best_s, median(runner.times_s));
  for (Runner& runner : runners_) runner.is_out |= std::ranges::min(runner.times_s) > much_slower * best_s;
}

std::vector<TrialResult> Trial::run() {
  run_round(0);  // pays for connections and pages
  for (Runner& runner : runners_) runner.times_s.clear();
  double elapsed_s = 0;
  for (std::size_t round = 0; round < most_rounds; ++round) {
    if (round >= least_rounds && elapsed_s > enough_s) break;
    run_round(round);
    for (const Runner& runner : runners_) elapsed_s += runner.is_out ? 0 : runner.times_s.back();
    if (round + 1 >= least_rounds) drop_slow_ones();
  }
  std::vector<TrialResult> results;
  for (const Runner& runner : runners_)
    results.push_back({cost(runner.times_s), static_cast<int>(runner.times_s.size())});
  return results;
}

}  // namespace nuice::mpi
