// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choose/trial.hpp"
#include "mpi/collective.hpp"

#include <span>
#include <utility>

#include "mpi/agree.hpp"
#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

/// Exchanges too short to decide anything end here. Of others 8 reports decide about a candidate
/// (standings.hpp).
constexpr int most_rounds = 30;
/// Those that take long end earlier, once a difference of 40 % shows: z = 2.5 deviations of 0.25, of two
/// means of five.
constexpr int least_rounds = 5;
constexpr double enough_s = 1;

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
  runners_.push_back({std::move(plan), std::move(exchange)});
}

/// All rounds by all ranks alike, as the seconds come from reports.
std::vector<TrialResult> Trial::run() {
  exchange::Contest contest(runners_.size(), exchange::Contest::rehearsal);
  const exchange::Standings& standings = contest.standings();
  double elapsed_s = 0;
  for (int round = 0; round < most_rounds && !standings.is_settled(); ++round) {
    if (round >= least_rounds && elapsed_s > enough_s) break;
    elapsed_s += run_round(contest);
  }
  std::vector<TrialResult> results;
  for (std::size_t i = 0; i < runners_.size(); ++i)
    results.push_back({standings.mean_s(i), standings.num_reports(i)});
  return results;
}

double Trial::run_round(exchange::Contest& contest) {
  double elapsed_s = 0;
  for (bool is_over = false; !is_over;) {
    const exchange::Contest::Step step = contest.next();
    Exchange& exchange = runners_[step.arm].exchange;
    synchronise(comm_);
    const double begin_s = MPI_Wtime();
    exchange.start();
    exchange.wait();
    const double now_s = MPI_Wtime() - begin_s;
    elapsed_s += now_s;
    is_over = step.is_timed && contest.add(step.arm, now_s);
  }
  std::vector<double> report(contest.report().begin(), contest.report().end());
  report.push_back(elapsed_s);
  all_reduce(comm_, MPI_IN_PLACE, report.data(), static_cast<int>(report.size()), MPI_DOUBLE, MPI_MAX);
  contest.learn(std::span(report).first(report.size() - 1));
  return report.back();
}

}  // namespace nuice::mpi
