// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/distributed/local_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "schedulers/distributed/rounds.hpp"
#include "schedulers/distributed/side.hpp"
#include "schedulers/distributed/table_of.hpp"

namespace nuice::mpi {
namespace {

using namespace distributed;

/// The part of a distributed::World that belongs to one rank on MPI.
class OneRank final : public World {
 public:
  OneRank(const LocalProblem& problem, Side sends, Side receives, Turn turn)
      : comm_(problem.comm), sparse_(problem.sparse), sides_{sends, receives}, turn_(std::move(turn)) {}

  void open() override {
    outcome_ = attempt(comm_.rank(), [&] { turn_.open(sides_[0], out_); });
  }
  std::uint64_t deliver() override {
    SparseExchange::Box box;
    SparseExchange::Sums sums{};
    std::ranges::sort(out_, {}, [](const Letter& letter) { return std::pair(letter.dst, letter.piece); });
    for (auto first = out_.begin(), last = first; first != out_.end(); first = last) {
      last = std::ranges::find_if(first, out_.end(), [&](const Letter& a) { return a.dst != first->dst; });
      box.add(first->dst, bytes_of(std::span<const Letter>(first, last)));
    }
    sums[0] = static_cast<std::uint64_t>(std::ranges::count(out_, false, &Letter::is_settled));
    out_.clear();
    unsettled_sizes_ = turn_.unsettled_sizes();
    sums[1] = outcome_ ? 1 : 0;
    const SparseExchange::Box& inbox = sparse_.run(std::move(box), sums, Cut::most_pieces * sizeof(Letter));
    if (sums[1] > 0) agree(comm_, outcome_);
    in_.clear();
    for (const auto& item : inbox.items)
      for (const Letter& letter : values_in<Letter>(inbox.of(item))) in_.push_back(letter);
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
  std::array<Side, 2> sides_;  // senders have the even turns
  Turn turn_;
  Outcome outcome_;
  SizeCounts unsettled_sizes_;  // of the last turn
  std::vector<Letter> out_;
  std::vector<Letter> in_;
};

CutMessages cut_by(const Cut& cut, const Messages& messages) {
  return cut_messages(messages.partners, messages.bytes, cut);
}

/// Collective. Returns the size limits of a Palette for messages cut by a rule.
std::vector<Bytes> limits_of(const LocalProblem& problem, const Cut& cut) {
  std::vector<Bytes> limits;
  for (const Messages* side : {&problem.sends, &problem.receives}) {
    std::vector<Bytes> sizes = cut_by(cut, *side).bytes;
    std::ranges::sort(sizes, std::ranges::greater{});
    if (sizes.size() > limits.size()) limits.resize(sizes.size(), 0);
    for (std::size_t k = 0; k < sizes.size(); ++k) limits[k] = std::max(limits[k], sizes[k]);
  }
  std::int64_t num_limits = std::ssize(limits);
  all_max(problem.comm, std::span(&num_limits, 1));
  limits.resize(static_cast<std::size_t>(num_limits), 0);
  all_max(problem.comm, std::span(limits));
  return limits;
}

/// Collective.
ChosenCut chosen_cut(const LocalProblem& problem) {
  const auto limits_at = [&](const Cut& cut) { return limits_of(problem, cut); };
  if (problem.earlier) {
    const Cut& cut = problem.earlier->palette->cut();
    return {cut, limits_at(cut)};
  }
  return choose_cut(problem.facts.bounds.max_port_bytes, problem.phase_cost_bytes, limits_at);
}

/// Collective. Returns the example of a Turn: the distances of the busiest sender's destinations.
std::vector<Rank> example_of(const LocalProblem& problem) {
  std::vector<Rank> distances(static_cast<std::size_t>(problem.facts.most_sends), 0);
  const Rank busiest = problem.facts.busiest_sender;
  if (problem.comm.rank() == busiest)
    distances = distances_of(busiest, problem.sends.partners, problem.comm.num_ranks());
  broadcast(problem.comm, distances.data(), static_cast<int>(distances.size()), MPI_INT32_T, busiest);
  return distances;
}

/// Returns the colours that pieces may keep from an earlier plan; none without an earlier plan. A message may
/// have had fewer pieces or more.
std::vector<Colour> first_colours(const CutMessages& pieces, const EarlierColours::OfMessages* earlier,
                                  const Palette& palette) {
  std::vector<Colour> colours(pieces.bytes.size(), no_colour);
  if (earlier == nullptr) return colours;
  std::size_t number = 0;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    number = i > 0 && pieces.messages[i] == pieces.messages[i - 1] ? number + 1 : 0;
    const std::vector<Colour>& before = (*earlier)[pieces.messages[i]];
    if (number < before.size() && palette.allows(before[number], pieces.bytes[i]))
      colours[i] = before[number];
  }
  return colours;
}

/// What a rank sends, or receives: its pieces and their colours.
struct ColouredPieces {
  CutMessages pieces;
  std::vector<Colour> colours;

  Side side(Rank self) { return {self, pieces.partners, pieces.bytes, colours}; }
};

struct Colours {
  ColouredPieces sends;
  ColouredPieces receives;
  std::optional<Palette> palette = std::nullopt;
};

Colours find_colours(const LocalProblem& problem) {
  const Communicator& comm = problem.comm;
  const auto& earlier = problem.earlier;
  Colours found;
  ChosenCut chosen = chosen_cut(problem);
  all_or_none(comm, [&] {
    found.palette.emplace(std::move(chosen.limits), earlier ? earlier->palette : nullptr, chosen.cut);
    found.sends.pieces = cut_by(chosen.cut, problem.sends);
    found.receives.pieces = cut_by(chosen.cut, problem.receives);
    found.sends.colours =
        first_colours(found.sends.pieces, earlier ? &earlier->sends : nullptr, *found.palette);
    found.receives.colours =
        first_colours(found.receives.pieces, earlier ? &earlier->receives : nullptr, *found.palette);
  });
  const std::vector<Rank> example = example_of(problem);
  const Rank self = comm.rank();
  OneRank world(problem, found.sends.side(self), found.receives.side(self),
                Turn(*found.palette, problem.seed, comm.num_ranks(), example));
  run_rounds(world, *found.palette);
  return found;
}

std::vector<Placed> placed(const ColouredPieces& coloured, const std::vector<PhaseId>& phases) {
  const CutMessages& pieces = coloured.pieces;
  std::vector<Placed> all;
  for (std::size_t i = 0; i < pieces.bytes.size(); ++i)
    all.push_back({phases[coloured.colours[i]], pieces.partners[i], pieces.bytes[i]});
  return all;
}

/// Returns for each message whether all its pieces have the colours of the earlier plan.
std::vector<bool> equal_places(const ColouredPieces& now, const EarlierColours::OfMessages& earlier) {
  EarlierColours::OfMessages colours(earlier.size());
  for (std::size_t i = 0; i < now.colours.size(); ++i)
    colours[now.pieces.messages[i]].push_back(now.colours[i]);
  std::vector<bool> equal;
  for (std::size_t i = 0; i < earlier.size(); ++i) equal.push_back(colours[i] == earlier[i]);
  return equal;
}

}  // namespace

MessageId Unchanged::count_sends(const Communicator& comm) const {
  std::int64_t count = std::ranges::count(sends, true);
  all_reduce(comm, MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM);
  return static_cast<MessageId>(count);
}

LocalPlan plan_locally(const LocalProblem& problem) {
  Colours found = find_colours(problem);
  LocalPlan plan;
  plan.largest.assign(found.palette->size(), 0);
  for (std::size_t i = 0; i < found.sends.colours.size(); ++i) {
    Bytes& largest = plan.largest[found.sends.colours[i]];
    largest = std::max(largest, found.sends.pieces.bytes[i]);
  }
  all_max(problem.comm, std::span(plan.largest));
  all_or_none(problem.comm, [&] {
    for (const Bytes bytes : plan.largest) plan.used.push_back(bytes > 0 ? 1 : 0);
    std::erase(plan.largest, 0);
    const std::vector<PhaseId> phases = phases_of(plan.used);
    PhaseTable& table = plan.table;
    table.rank = problem.comm.rank();
    table.num_ranks = problem.comm.num_ranks();
    table.num_phases = static_cast<PhaseId>(plan.largest.size());
    for (std::size_t i = 0; i < problem.sends.size(); ++i)
      table.destinations.push_back({problem.sends.partners[i], problem.sends.bytes[i]});
    for (std::size_t i = 0; i < problem.receives.size(); ++i)
      table.sources.push_back({problem.receives.partners[i], problem.receives.bytes[i]});
    table.entries = entries_of(placed(found.sends, phases), placed(found.receives, phases));
    found.palette->keep(plan.used);
    plan.palette = std::move(found.palette);
    if (const auto& earlier = problem.earlier)
      plan.kept = {equal_places(found.sends, earlier->sends),
                   equal_places(found.receives, earlier->receives)};
  });
  return plan;
}

}  // namespace nuice::mpi
