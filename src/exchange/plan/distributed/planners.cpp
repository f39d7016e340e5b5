// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/distributed/planners.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/support/table.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "nuice/core/random.hpp"
#include "nuice/plan/scheduler.hpp"
#include "schedulers/distributed/rounds.hpp"
#include "schedulers/distributed/side.hpp"
#include "schedulers/distributed/table_of.hpp"
#include "schedulers/regular/orders.hpp"

namespace nuice::mpi {
namespace {

using namespace distributed;

/// Collective. From a phase below num_phases for each message; those that nobody uses are left out. Inside a phase the order counts.
LocalPlan plan_of(const LocalProblem& problem, std::vector<Placed> sends, std::vector<Placed> receives,
                  std::size_t num_phases) {
  LocalPlan plan;
  plan.largest.assign(num_phases, 0);
  for (const Placed& send : sends) plan.largest[send.phase] = std::max(plan.largest[send.phase], send.bytes);
  all_max(problem.comm, std::span(plan.largest));
  all_or_none(problem.comm, [&] {
    for (const Bytes bytes : plan.largest) plan.used.push_back(bytes > 0 ? 1 : 0);
    std::erase(plan.largest, 0);
    const std::vector<PhaseId> number = phases_of(plan.used);
    for (Placed& send : sends) send.phase = number[send.phase];
    for (Placed& receive : receives) receive.phase = number[receive.phase];
    PhaseTable& table = plan.table;
    table.rank = problem.comm.rank();
    table.num_ranks = problem.comm.num_ranks();
    table.num_phases = static_cast<PhaseId>(plan.largest.size());
    for (std::size_t i = 0; i < problem.sends.size(); ++i)
      table.destinations.push_back({problem.sends.partners[i], problem.sends.bytes[i]});
    for (std::size_t i = 0; i < problem.receives.size(); ++i)
      table.sources.push_back({problem.receives.partners[i], problem.receives.bytes[i]});
    table.entries = entries_of(std::move(sends), std::move(receives));
  });
  return plan;
}

/// phase: of the message with that index.
template <typename Phase>
std::vector<Placed> placed(const Messages& messages, Phase&& phase) {
  std::vector<Placed> all;
  for (std::size_t i = 0; i < messages.size(); ++i)
    all.push_back({static_cast<PhaseId>(phase(i)), messages.partners[i], messages.bytes[i]});
  return all;
}

// ---- what follows from the two ends of a message

LocalPlan plan_ac(const LocalProblem& problem) {
  const auto at_once = [](std::size_t) { return 0; };
  const std::vector<Placed> by_rank = placed(problem.sends, at_once);
  std::vector<Placed> sends;
  for (const std::uint32_t k : sched::ac_order(problem.seed, problem.comm.rank(), by_rank.size()))
    sends.push_back(by_rank[k]);
  return plan_of(problem, std::move(sends), placed(problem.receives, at_once), 1);
}

template <sched::FixedOrder phase_of>
LocalPlan plan_in_order(const LocalProblem& problem) {
  const Rank self = problem.comm.rank();
  const Rank num_ranks = problem.comm.num_ranks();
  const auto& to = problem.sends.partners;
  const auto& from = problem.receives.partners;
  return plan_of(problem,
                 placed(problem.sends, [&](std::size_t i) { return phase_of(self, to[i], num_ranks); }),
                 placed(problem.receives, [&](std::size_t i) { return phase_of(from[i], self, num_ranks); }),
                 static_cast<std::size_t>(num_ranks));
}

// ---- what the ranks find together

/// One rank of a world on MPI.
class OneRank final : public World {
 public:
  OneRank(const Communicator& comm, SparseExchange& sparse, Side sends, Side receives, Turn turn)
      : comm_(comm), sparse_(sparse), sides_{sends, receives}, turn_(std::move(turn)) {}

  void open() override {
    outcome_ = attempt(comm_.rank(), [&] { turn_.open(sides_[0], out_); });
  }
  std::uint64_t deliver() override {
    SparseExchange::Box box;
    SparseExchange::Sums sums{};
    for (const Letter& letter : out_) {
      box.add(letter.dst, bytes_of(std::span(&letter, 1)));
      sums[0] += letter.is_settled ? 0 : 1;
    }
    out_.clear();
    unsettled_sizes_ = turn_.unsettled_sizes();
    sums[1] = outcome_ ? 1 : 0;
    const SparseExchange::Box& inbox = sparse_.run(std::move(box), sums, sizeof(Letter));
    if (sums[1] > 0) agree(comm_, outcome_);
    in_.clear();
    for (const auto& item : inbox.items) in_.push_back(values_in<Letter>(inbox.of(item)).at(0));
    return sums[0];
  }
  SizeCounts unsettled_sizes() override {
    const std::span<std::int64_t> counts = unsettled_sizes_.counts();
    all_reduce(comm_, MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM);
    return unsettled_sizes_;
  }
  void turn(std::uint32_t round) override {
    outcome_ = attempt(comm_.rank(), [&] {
      if (!in_.empty()) turn_.take(sides_[round % 2], in_, round, out_);
    });
  }
  void close(std::uint32_t round) override { Turn::close(sides_[round % 2], in_); }

 private:
  const Communicator& comm_;
  SparseExchange& sparse_;
  std::array<Side, 2> sides_;  // senders' turns are the even ones
  Turn turn_;
  Outcome outcome_;
  SizeCounts unsettled_sizes_;  // of the last turn
  std::vector<Letter> out_;
  std::vector<Letter> in_;
};

/// Of a Palette.
std::vector<Bytes> limits_of(const Communicator& comm, const Messages& sends, const Messages& receives,
                             MessageId max_degree) {
  std::vector<Bytes> limits(max_degree, 0);
  for (const Messages* side : {&sends, &receives}) {
    std::vector<Bytes> sizes = side->bytes;
    std::ranges::sort(sizes, std::ranges::greater{});
    for (std::size_t k = 0; k < sizes.size(); ++k) limits[k] = std::max(limits[k], sizes[k]);
  }
  all_max(comm, std::span(limits));
  return limits;
}

/// Of a Turn.
std::vector<Rank> example_of(const Communicator& comm, const Messages& sends, const Facts& facts) {
  std::vector<Rank> distances(static_cast<std::size_t>(facts.most_sends), 0);
  if (comm.rank() == facts.busiest_sender)
    distances = distances_of(comm.rank(), sends.partners, comm.num_ranks());
  broadcast(comm, distances.data(), static_cast<int>(distances.size()), MPI_INT32_T, facts.busiest_sender);
  return distances;
}

/// What messages may keep of their earlier colours; without an earlier plan nothing.
std::vector<Colour> first_colours(const Messages& messages, const std::vector<Colour>* earlier,
                                  const Palette& palette) {
  if (earlier == nullptr) return std::vector<Colour>(messages.size(), no_colour);
  std::vector<Colour> colours = *earlier;
  for (std::size_t i = 0; i < colours.size(); ++i)
    if (colours[i] != no_colour && !palette.allows(colours[i], messages.bytes[i])) colours[i] = no_colour;
  return colours;
}

std::vector<bool> equal_places(const std::vector<Colour>& now, const std::vector<Colour>& earlier) {
  std::vector<bool> equal;
  for (std::size_t i = 0; i < now.size(); ++i) equal.push_back(now[i] == earlier[i]);
  return equal;
}

LocalPlan plan_coloring(const LocalProblem& problem) {
  const Communicator& comm = problem.comm;
  const auto& earlier = problem.earlier;
  const Rank self = comm.rank();
  std::optional<Palette> palette;
  std::vector<Colour> to;
  std::vector<Colour> from;
  const std::vector<Bytes> limits =
      limits_of(comm, problem.sends, problem.receives, problem.facts.bounds.max_degree);
  all_or_none(comm, [&] {
    palette.emplace(limits, earlier ? earlier->palette : nullptr);
    to = first_colours(problem.sends, earlier ? &earlier->sends : nullptr, *palette);
    from = first_colours(problem.receives, earlier ? &earlier->receives : nullptr, *palette);
  });
  const std::vector<Rank> example = example_of(comm, problem.sends, problem.facts);
  OneRank world(comm, problem.sparse, {self, problem.sends.partners, problem.sends.bytes, to},
                {self, problem.receives.partners, problem.receives.bytes, from},
                Turn(*palette, problem.seed, comm.num_ranks(), example));
  run_rounds(world, *palette);
  LocalPlan plan = plan_of(problem, placed(problem.sends, [&](std::size_t i) { return to[i]; }),
                           placed(problem.receives, [&](std::size_t i) { return from[i]; }), palette->size());
  palette->keep(plan.used);
  plan.palette = std::move(palette);
  if (earlier) plan.kept = {equal_places(to, earlier->sends), equal_places(from, earlier->receives)};
  return plan;
}

constexpr std::array local_planners{
    LocalPlanner{"distributed_coloring", plan_coloring}, LocalPlanner{"ac", plan_ac},
    LocalPlanner{"lp", plan_in_order<sched::lp_phase>}, LocalPlanner{"bex", plan_in_order<sched::bex_phase>},
    LocalPlanner{"lex", plan_in_order<sched::lex_phase>}};

}  // namespace

const LocalPlanner* local_planner(std::string_view scheduler) {
  const Scheduler* const row = core::row_named(schedulers(), scheduler);
  if (row == nullptr) return nullptr;
  return core::row_named(local_planners, row->alias_of.empty() ? row->name : row->alias_of);
}

std::string local_planner_names() {
  std::string names;
  for (const LocalPlanner& row : local_planners) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace nuice::mpi
