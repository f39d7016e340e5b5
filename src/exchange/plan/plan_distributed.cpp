// SPDX-License-Identifier: BSD-3-Clause
// Planning where no rank knows more than its own messages: the ranks find the phases together (schedulers/distributed), and each
// pair checks what it has agreed upon (nuice/core/check_pairs.hpp).
//
// Cost, d: this rank's messages, D: the most that any has: O(d + D) memory, about 10 d short messages, and as many sums
// over all ranks as rounds, of which there are some 100 at most (docs/at-scale.md); three reductions of vectors of D.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>

#include "core/support/table.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/plan_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/sparse.hpp"
#include "nuice/core/check_pairs.hpp"
#include "nuice/core/error.hpp"
#include "schedulers/distributed/rounds.hpp"
#include "schedulers/distributed/table_of.hpp"

namespace nuice::mpi {
namespace {

using namespace distributed;

template <typename T>
std::span<const std::byte> bytes_of(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(values);
}

/// What has come from one rank.
template <typename T>
std::vector<T> values_in(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A rank's messages in one direction, without that to itself.
struct Messages {
  std::vector<Rank> partners;
  std::vector<Bytes> bytes;
  std::vector<Colour> colours;

  void add(Rank partner, Bytes size) {
    partners.push_back(partner);
    bytes.push_back(size);
    colours.push_back(no_colour);
  }
  Side side(Rank self) { return {self, partners, bytes, colours}; }
  Bytes sum() const { return std::accumulate(bytes.begin(), bytes.end(), Bytes{0}); }
  /// Throws Error limit for more than max_bytes. verb: "send"
  void require_fits(Rank self, const std::string& verb) const {
    Bytes left = max_bytes;
    for (const Bytes size : bytes) {
      if (size > left)
        throw Error(ErrorCode::limit,
                    "rank " + std::to_string(self) + " is to " + verb + " more than 2^62 bytes in all");
      left -= size;
    }
  }
};

/// The sum over all ranks. Throws Error limit, on all of them, for more than max_bytes.
std::int64_t total(const Communicator& comm, std::int64_t mine) {
  constexpr int low_bits = 31;
  std::array<std::int64_t, 2> parts = {mine >> low_bits, mine & ((std::int64_t{1} << low_bits) - 1)};
  all_reduce(comm, MPI_IN_PLACE, parts.data(), 2, MPI_INT64_T, MPI_SUM);
  if (parts[0] + (parts[1] >> low_bits) >= max_bytes >> low_bits)
    throw Error(ErrorCode::limit, "all messages together have more than 2^62 bytes");
  return (parts[0] << low_bits) + parts[1];
}

void all_max(const Communicator& comm, std::span<std::int64_t> values) {
  all_reduce(comm, MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MAX);
}

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
    most_ = turn_.most_unsettled();
    sums[1] = outcome_ ? 1 : 0;
    const SparseExchange::Box& inbox = sparse_.run(std::move(box), sums, sizeof(Letter));
    if (sums[1] > 0) agree(comm_, outcome_);
    in_.clear();
    for (const auto& item : inbox.items) in_.push_back(values_in<Letter>(inbox.of(item)).at(0));
    return sums[0];
  }
  Bytes most_unsettled() override {
    all_max(comm_, std::span(&most_, 1));
    return most_;
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
  Bytes most_ = 0;  // of the last turn
  std::vector<Letter> out_;
  std::vector<Letter> in_;
};

/// What all ranks know in the end, beside their own tables.
class Facts {
 public:
  Facts(const Communicator& comm, const Messages& sends, const Messages& receives) : comm_(comm) {
    const std::array<const Messages*, 2> sides = {&sends, &receives};
    std::array<std::array<std::int64_t, 2>, 2> mine{};  // of a direction: messages, bytes
    for (std::size_t i = 0; i < 2; ++i) mine[i] = {std::ssize(sides[i]->partners), sides[i]->sum()};
    std::array<std::int64_t, 2> most = {std::max(mine[0][0], mine[1][0]), std::max(mine[0][1], mine[1][1])};
    std::array<std::int64_t, 3> most_all = {most[0], most[1], mine[0][0]};
    all_max(comm, std::span(most_all));
    most_sends = most_all[2];

    // The first that reaches a bound: senders come before receivers.
    const std::int64_t nobody = std::int64_t{2} * comm.num_ranks();
    std::array<std::int64_t, 3> first = {nobody, nobody, nobody};
    for (std::size_t direction = 2; direction-- > 0;)
      for (std::size_t what = 0; what < 2; ++what)
        if (mine[direction][what] == most_all[what])
          first[what] = static_cast<std::int64_t>(direction) * comm.num_ranks() + comm.rank();
    if (mine[0][0] == most_sends) first[2] = comm.rank();
    all_reduce(comm, MPI_IN_PLACE, first.data(), static_cast<int>(first.size()), MPI_INT64_T, MPI_MIN);
    busiest_sender = static_cast<Rank>(first[2]);

    bounds.max_degree = static_cast<MessageId>(most_all[0]);
    bounds.max_port_bytes = most_all[1];
    if (most_all[0] > 0) {
      bounds.max_degree_at = at(first[0]);
      bounds.max_port_bytes_at = at(first[1]);
    }
    num_messages = static_cast<MessageId>(total(comm, mine[0][0]));
    bounds.total_bytes = total(comm, mine[0][1]);
  }

  Bounds bounds;
  MessageId num_messages = 0;
  std::int64_t most_sends = 0;
  Rank busiest_sender = 0;

 private:
  Busiest at(std::int64_t key) const {
    return {static_cast<Rank>(key % comm_.num_ranks()),
            key < comm_.num_ranks() ? nuice::Direction::send : nuice::Direction::receive};
  }
  const Communicator& comm_;
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

/// Who sends to this rank, and how much.
Messages discover_sources(const Communicator& comm, SparseExchange& sparse, const Messages& sends) {
  SparseExchange::Box box;
  for (std::size_t i = 0; i < sends.partners.size(); ++i)
    box.add(sends.partners[i], bytes_of(std::span(&sends.bytes[i], 1)));
  SparseExchange::Sums sums{};
  Messages receives;
  const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, sizeof(Bytes));
  all_or_none(comm, [&] {
    for (const auto& item : inbox.items) receives.add(item.partner, values_in<Bytes>(inbox.of(item)).at(0));
    receives.require_fits(comm.rank(), "receive");
  });
  return receives;
}

/// How this rank's messages are planned for a scheduler that needs no matrix. Fills in the table but for messages of ranks to
/// themselves; returns the largest transfer of each phase, of all ranks.
struct LocalPlanner {
  std::string_view name;  // of a scheduler
  std::vector<Bytes> (*plan)(const Communicator& comm, SparseExchange& sparse, Messages& sends,
                             Messages& receives, const Facts& facts, std::uint64_t seed, PhaseTable& table);
};

std::vector<Bytes> plan_coloring(const Communicator& comm, SparseExchange& sparse, Messages& sends,
                                 Messages& receives, const Facts& facts, std::uint64_t seed,
                                 PhaseTable& table) {
  std::optional<Palette> palette;
  const std::vector<Bytes> limits = limits_of(comm, sends, receives, facts.bounds.max_degree);
  all_or_none(comm, [&] { palette.emplace(limits); });
  const std::vector<Rank> example = example_of(comm, sends, facts);
  const Rank self = comm.rank();
  OneRank world(comm, sparse, sends.side(self), receives.side(self),
                Turn(*palette, seed, comm.num_ranks(), example));
  run_rounds(world, *palette);

  std::vector<Bytes> largest(palette->size(), 0);
  for (std::size_t i = 0; i < sends.colours.size(); ++i)
    largest[sends.colours[i]] = std::max(largest[sends.colours[i]], sends.bytes[i]);
  all_max(comm, std::span(largest));
  std::vector<std::uint8_t> used;
  for (const Bytes bytes : largest) used.push_back(bytes > 0 ? 1 : 0);
  std::erase(largest, 0);
  all_or_none(comm, [&] {
    table = table_of(sends.side(self), receives.side(self), phases_of(used),
                     static_cast<PhaseId>(largest.size()), comm.num_ranks());
  });
  return largest;
}

constexpr LocalPlanner local_planners[] = {{"distributed_coloring", plan_coloring}};

/// Between ranks that have the same table for a message.
void check_with_partners(const Communicator& comm, SparseExchange& sparse, const PhaseTable& table,
                         unsigned guarantees) {
  const auto require = [](const std::optional<Violation>& violation) {
    if (violation) throw Error(ErrorCode::mismatch, violation->text);
  };
  SparseExchange::Box box;
  all_or_none(comm, [&] {
    require(check_alone(table, guarantees));
    const Claims sent = claims(table, nuice::Direction::send);
    for (std::size_t i = 0; i < table.destinations.size(); ++i)
      if (!sent.of(i).empty()) box.add(table.destinations[i].rank, bytes_of(sent.of(i)));
  });
  std::int64_t most_bytes = 0;
  for (const auto& item : box.items)
    most_bytes = std::max<std::int64_t>(most_bytes, std::ssize(box.of(item)));
  all_max(comm, std::span(&most_bytes, 1));
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, static_cast<std::size_t>(most_bytes));
  all_or_none(comm, [&] {
    const Claims expected = claims(table, nuice::Direction::receive);
    auto next = inbox.items.begin();
    for (std::size_t i = 0; i < table.sources.size(); ++i) {
      const Rank src = table.sources[i].rank;
      if (next != inbox.items.end() && next->partner < src) break;
      std::vector<Claim> sent;
      if (next != inbox.items.end() && next->partner == src) sent = values_in<Claim>(inbox.of(*next++));
      require(compare_claims(src, comm.rank(), sent, expected.of(i)));
    }
    if (next != inbox.items.end())
      require(compare_claims(next->partner, comm.rank(), values_in<Claim>(inbox.of(*next)), {}));
  });
}

/// A message of a rank to itself is no transfer, but stands among destinations and sources.
void add_own(std::vector<Partner>& partners, const Partner& own) {
  partners.insert(std::ranges::lower_bound(partners, own.rank, {}, &Partner::rank), own);
}

[[noreturn]] void refuse_distributed(const std::string& what) {
  throw Error(ErrorCode::not_applicable,
              "planning distributed, where no rank knows the whole matrix, " + what);
}

void require_no_matrix_needed(const PlanOptions& options) {
  const bool names_hosts = !options.hosts.empty() && options.hosts != auto_name && options.hosts != "1";
  if (names_hosts) refuse_distributed("has no hosts with several ranks");
  if (find_executor(options.executor).pace == Pace::notices)
    refuse_distributed("cannot tell who must wait for whom, which the executor " + options.executor +
                       " needs");
}

void require_planned_locally(const PlanOptions& options) {
  if (core::row_named(local_planners, options.scheduler) == nullptr) {
    std::string known;
    for (const LocalPlanner& row : local_planners)
      known += (known.empty() ? "" : ", ") + std::string(row.name);
    refuse_distributed("is for the scheduler " + known + ", not for " + options.scheduler);
  }
  require_no_matrix_needed(options);
}

/// The messages of a table, but for that of the rank to itself.
Messages messages_of(std::span<const Partner> partners, Rank self) {
  Messages messages;
  for (const auto& [rank, bytes] : partners)
    if (rank != self) messages.add(rank, bytes);
  return messages;
}

/// The largest transfer of each phase, of all ranks.
std::vector<Bytes> largest_transfers(const Communicator& comm, const PhaseTable& table) {
  std::int64_t num_phases = table.num_phases;
  all_max(comm, std::span(&num_phases, 1));
  std::vector<Bytes> largest(static_cast<std::size_t>(num_phases), 0);
  for (const PhaseEntry& entry : table.entries)
    largest[entry.phase] = std::max(largest[entry.phase], entry.send_bytes);
  all_max(comm, std::span(largest));
  all_or_none(comm, [&] {
    if (num_phases != table.num_phases)
      throw Error(ErrorCode::mismatch, "the table of rank " + std::to_string(table.rank) + " has " +
                                           std::to_string(table.num_phases) + " phases, others have up to " +
                                           std::to_string(num_phases));
    const auto empty = std::ranges::find(largest, 0);
    if (empty != largest.end())
      throw Error(ErrorCode::mismatch,
                  "nobody sends anything in phase " + std::to_string(empty - largest.begin()));
  });
  return largest;
}

}  // namespace

template <typename FactsOfAll>
void Plan::State::describe_distributed(const PlanOptions& options, const FactsOfAll& facts,
                                       const std::vector<Bytes>& largest) {
  describe(options);
  info.num_hosts = comm->num_ranks();
  info.num_messages = facts.num_messages;
  info.num_phases = static_cast<PhaseId>(largest.size());
  info.phase_bytes = std::accumulate(largest.begin(), largest.end(), Bytes{0});
  info.bounds = facts.bounds;
}

void Plan::State::take_distributed(const PlanOptions& options) {
  StopWatch watch;
  all_or_none(*comm, [&] { require_no_matrix_needed(options); });
  SparseExchange sparse(*comm, tags->next);
  take_tags(tags->comm, tags->next);
  check_with_partners(*comm, sparse, table, 0);
  const std::vector<Bytes> largest = largest_transfers(*comm, table);
  info.check_s = watch.lap();
  const Messages sends = messages_of(table.destinations, comm->rank());
  const Messages receives = messages_of(table.sources, comm->rank());
  describe_distributed(options, Facts(*comm, sends, receives), largest);
  find_near_ranks(options);
  share_windows();
}

void Plan::State::plan_distributed(const PlanOptions& options) {
  StopWatch watch;
  all_or_none(*comm, [&] { require_planned_locally(options); });
  SparseExchange sparse(*comm, tags->next);
  take_tags(tags->comm, tags->next);

  Messages sends;
  Bytes own = 0;
  all_or_none(*comm, [&] {
    std::vector<Partner> row(destinations);
    std::ranges::sort(row, {}, &Partner::rank);
    for (const auto& [rank, bytes] : row)
      if (rank == comm->rank())
        own = bytes;
      else if (bytes > 0)
        sends.add(rank, bytes);
    sends.require_fits(comm->rank(), "send");
  });
  Messages receives = discover_sources(*comm, sparse, sends);
  const Facts facts(*comm, sends, receives);
  info.gather_s = watch.lap();

  const LocalPlanner& planner = *core::row_named(local_planners, options.scheduler);
  const std::vector<Bytes> largest = planner.plan(*comm, sparse, sends, receives, facts, options.seed, table);
  info.schedule_s = watch.lap();
  if (options.check) check_with_partners(*comm, sparse, table, find_scheduler(options.scheduler).guarantees);
  info.check_s = options.check ? watch.lap() : 0;
  if (own > 0) {
    add_own(table.destinations, {comm->rank(), own});
    add_own(table.sources, {comm->rank(), own});
  }

  describe_distributed(options, facts, largest);
  find_near_ranks(options);
  share_windows();
}

}  // namespace nuice::mpi
