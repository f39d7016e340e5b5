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
    std::ranges::sort(out_, {}, &Letter::dst);  // one letter for each rank
    for (const Letter& letter : out_) {
      box.add(letter.dst, bytes_of(std::span(&letter, 1)));
      if (!letter.is_settled) ++sums[0];
    }
    out_.clear();
    unsettled_sizes_ = turn_.unsettled_sizes();
    sums[1] = outcome_ ? 1 : 0;
    const SparseExchange::Box& inbox = sparse_.run(std::move(box), sums, sizeof(Letter));
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

/// Collective. Returns the size limits of a Palette.
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

/// Collective. Returns the example of a Turn: the distances of the busiest sender's destinations.
std::vector<Rank> example_of(const LocalProblem& problem) {
  std::vector<Rank> distances(static_cast<std::size_t>(problem.facts.most_sends), 0);
  const Rank busiest = problem.facts.busiest_sender;
  if (problem.comm.rank() == busiest)
    distances = distances_of(busiest, problem.sends.partners, problem.comm.num_ranks());
  broadcast(problem.comm, distances.data(), static_cast<int>(distances.size()), MPI_INT32_T, busiest);
  return distances;
}

/// Returns the colours that messages may keep from an earlier plan; none without an earlier plan.
std::vector<Colour> first_colours(const Messages& messages, const std::vector<Colour>* earlier,
                                  const Palette& palette) {
  if (earlier == nullptr) return std::vector<Colour>(messages.size(), no_colour);
  std::vector<Colour> colours = *earlier;
  for (std::size_t i = 0; i < colours.size(); ++i)
    if (colours[i] != no_colour && !palette.allows(colours[i], messages.bytes[i])) colours[i] = no_colour;
  return colours;
}

struct Colours {
  std::vector<Colour> sends;     // by message
  std::vector<Colour> receives;  // likewise
  std::optional<Palette> palette = std::nullopt;
};

Colours find_colours(const LocalProblem& problem) {
  const Communicator& comm = problem.comm;
  const auto& earlier = problem.earlier;
  Colours found;
  const std::vector<Bytes> limits =
      limits_of(comm, problem.sends, problem.receives, problem.facts.bounds.max_degree);
  all_or_none(comm, [&] {
    found.palette.emplace(limits, earlier ? earlier->palette : nullptr);
    found.sends = first_colours(problem.sends, earlier ? &earlier->sends : nullptr, *found.palette);
    found.receives = first_colours(problem.receives, earlier ? &earlier->receives : nullptr, *found.palette);
  });
  const std::vector<Rank> example = example_of(problem);
  const Rank self = comm.rank();
  OneRank world(problem, {self, problem.sends.partners, problem.sends.bytes, found.sends},
                {self, problem.receives.partners, problem.receives.bytes, found.receives},
                Turn(*found.palette, problem.seed, comm.num_ranks(), example));
  run_rounds(world, *found.palette);
  return found;
}

std::vector<Placed> placed(const Messages& messages, const std::vector<Colour>& colours,
                           const std::vector<PhaseId>& phases) {
  std::vector<Placed> all;
  for (std::size_t i = 0; i < messages.size(); ++i)
    all.push_back({phases[colours[i]], messages.partners[i], messages.bytes[i]});
  return all;
}

std::vector<bool> equal_places(const std::vector<Colour>& now, const std::vector<Colour>& earlier) {
  std::vector<bool> equal;
  for (std::size_t i = 0; i < now.size(); ++i) equal.push_back(now[i] == earlier[i]);
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
  for (std::size_t i = 0; i < problem.sends.size(); ++i) {
    Bytes& largest = plan.largest[found.sends[i]];
    largest = std::max(largest, problem.sends.bytes[i]);
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
    table.entries = entries_of(placed(problem.sends, found.sends, phases),
                               placed(problem.receives, found.receives, phases));
    found.palette->keep(plan.used);
    plan.palette = std::move(found.palette);
    if (const auto& earlier = problem.earlier)
      plan.kept = {equal_places(found.sends, earlier->sends),
                   equal_places(found.receives, earlier->receives)};
  });
  return plan;
}

}  // namespace nuice::mpi
