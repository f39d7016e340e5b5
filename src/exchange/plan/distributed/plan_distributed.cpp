// SPDX-License-Identifier: BSD-3-Clause
// Planning in which no rank knows more than its own messages. A rank learns its sources, the ranks find the
// phases together (schedulers/distributed), and each pair of ranks checks its result
// (nuice/core/check_pairs.hpp). A small matrix is gathered after all (DistributedOptions), which gives the
// same plan.
//
// Cost: let d be the number of messages of this rank, and D the maximum of any rank. To learn the sources
// takes d messages, and to check the plan d more. There are about ten sums over all ranks, and a reduction of
// a vector with one number per possible phase, up to 13 of them if large messages are cut. The colouring
// needs O(d + D) memory, about 10 d short messages, and one sum per round, for at most about 100 rounds
// (docs/how-to/at-scale.md).
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "exchange/plan/distributed/local_plan.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/gather.hpp"
#include "nuice/core/check_pairs.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

using distributed::Colour;

std::map<Rank, Bytes> by_partner(const Messages& messages) {
  std::map<Rank, Bytes> sizes;
  for (std::size_t i = 0; i < messages.size(); ++i) sizes.emplace(messages.partners[i], messages.bytes[i]);
  return sizes;
}

/// The half of an entry with which a table sends or receives.
struct Half {
  Rank PhaseEntry::* partner;
  Bytes PhaseEntry::* bytes;
};
constexpr Half send_half{&PhaseEntry::send_partner, &PhaseEntry::send_bytes};
constexpr Half receive_half{&PhaseEntry::recv_partner, &PhaseEntry::recv_bytes};

/// Returns the colours of the pieces of each message in an earlier table. Both ends of a message number its
/// pieces in the same order: the largest first, and by phase among equal ones.
EarlierColours::OfMessages colours_of(const Messages& now, std::span<const PhaseEntry> entries,
                                      const Half& half) {
  std::map<Rank, std::vector<std::pair<Bytes, Colour>>> earlier;
  for (const PhaseEntry& entry : entries)
    if (const Rank partner = entry.*half.partner; partner != no_rank)
      earlier[partner].emplace_back(entry.*half.bytes, static_cast<Colour>(entry.phase));
  EarlierColours::OfMessages colours;
  for (const Rank rank : now.partners) {
    std::vector<std::pair<Bytes, Colour>>& pieces = earlier[rank];
    std::ranges::stable_sort(pieces, std::ranges::greater{}, &std::pair<Bytes, Colour>::first);
    std::vector<Colour>& of_message = colours.emplace_back();
    for (const auto& [bytes, colour] : pieces) of_message.push_back(colour);
  }
  return colours;
}

std::vector<bool> and_same_size(std::vector<bool> kept, const Messages& now, const Messages& earlier) {
  const std::map<Rank, Bytes> before = by_partner(earlier);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto at = before.find(now.partners[i]);
    if (at == before.end() || at->second != now.bytes[i]) kept[i] = false;
  }
  return kept;
}

/// The earlier plan of this rank, if ranks plan again without a matrix (Plan::follow()). The arguments must
/// outlive it.
///
/// Partners send each other only changes. New messages find phases by the walks of distributed colouring
/// (schedulers/distributed/side.hpp); other messages keep their phases unless a walk moves them. Pairs of
/// ranks check only messages that have changed or moved, because both ends know that all others are as
/// before. Cost: messages to partners with changes, about ten control messages per change, and a sum over all
/// ranks per round, for 15 to 45 rounds.
class Followed {
 public:
  Followed(const PhaseTable& table, const distributed::Palette& palette)
      : table_(table),
        palette_(palette),
        sends_(messages_of(table.destinations, table.rank)),
        receives_(messages_of(table.sources, table.rank)) {}

  /// Collective. Returns the messages that this rank receives now. sends: its current sends.
  Messages sources(const Communicator& comm, SparseExchange& sparse, const Messages& sends) const {
    SparseExchange::Box box;
    std::map<Rank, Bytes> changes = by_partner(sends);
    for (const auto& [partner, bytes] : by_partner(sends_)) {
      const auto [now, is_gone] = changes.try_emplace(partner, 0);
      if (!is_gone && now->second == bytes) changes.erase(now);
    }
    for (const auto& [partner, bytes] : changes) box.add(partner, bytes_of(std::span(&bytes, 1)));
    SparseExchange::Sums sums{};
    const SparseExchange::Box& inbox = sparse.run(std::move(box), sums, sizeof(Bytes));
    Messages receives;
    all_or_none(comm, [&] {
      std::map<Rank, Bytes> now = by_partner(receives_);
      for (const auto& item : inbox.items) now[item.partner] = values_in<Bytes>(inbox.of(item)).at(0);
      for (const auto& [partner, bytes] : now)
        if (bytes > 0) receives.add(partner, bytes);
      receives.require_fits(comm.rank(), "receive");
    });
    return receives;
  }

  EarlierColours colours(const Messages& sends, const Messages& receives) const {
    return {&palette_, colours_of(sends, table_.entries, send_half),
            colours_of(receives, table_.entries, receive_half)};
  }

  /// Returns which messages have kept their size and their phase. (Phases may have new numbers, the same on
  /// all ranks, because some phases are no longer used.)
  Unchanged unchanged(const Messages& sends, const Messages& receives, const LocalPlan& plan) const {
    return {and_same_size(plan.kept.sends, sends, sends_),
            and_same_size(plan.kept.receives, receives, receives_)};
  }

 private:
  const PhaseTable& table_;
  const distributed::Palette& palette_;
  Messages sends_;
  Messages receives_;
};

/// Collective. Returns the ranks that send to this rank, with their bytes.
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

/// Collective. Compares the entries of each message at both ends. unchanged: if given, flags of the messages
/// that need no comparison, in the order of table.destinations and table.sources.
void check_with_partners(const Communicator& comm, SparseExchange& sparse, const PhaseTable& table,
                         unsigned guarantees, const std::optional<Unchanged>& unchanged = std::nullopt) {
  const auto require = [](const std::optional<Violation>& violation) {
    if (violation) throw Error(ErrorCode::mismatch, violation->text);
  };
  SparseExchange::Box box;
  all_or_none(comm, [&] {
    require(check_alone(table, guarantees));
    const Claims sent = claims(table, nuice::Direction::send);
    for (std::size_t i = 0; i < table.destinations.size(); ++i)
      if (!sent.of(i).empty() && (!unchanged || !unchanged->sends[i]))
        box.add(table.destinations[i].rank, bytes_of(sent.of(i)));
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
      const bool is_told = !unchanged || !unchanged->receives[i];
      require(compare_claims(src, comm.rank(), sent, is_told ? expected.of(i) : std::span<const Claim>()));
    }
    if (next != inbox.items.end())
      require(compare_claims(next->partner, comm.rank(), values_in<Claim>(inbox.of(*next)), {}));
  });
}

/// Adds the rank's message to itself, which is not a transfer, to destinations or sources.
void add_own(std::vector<Partner>& partners, const Partner& own) {
  partners.insert(std::ranges::lower_bound(partners, own.rank, {}, &Partner::rank), own);
}

[[noreturn]] void refuse_distributed(const std::string& what) {
  throw Error(ErrorCode::not_applicable,
              "planning distributed, where no rank knows the whole matrix, " + what);
}

void require_no_matrix_needed(const PlanOptions& options) {
  if (options.combine) refuse_distributed("combines no messages");
  if (find_executor(options.executor).pace == Pace::notices)
    refuse_distributed("cannot tell which transfers wait for which, as the executor " + options.executor +
                       " needs");
}

void require_planned_locally(const PlanOptions& options) {
  if (options.scheduler != distributed_scheduler)
    refuse_distributed("is for the scheduler " + std::string(distributed_scheduler) + ", not for " +
                       options.scheduler);
  require_no_matrix_needed(options);
}

/// Collective. Returns the largest transfer of each phase over all ranks.
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
      throw Error(ErrorCode::mismatch, "no rank sends in phase " + std::to_string(empty - largest.begin()));
  });
  return largest;
}

}  // namespace

void Plan::Planner::describe_distributed(const PlanOptions& options, const Facts& facts,
                                         const std::vector<Bytes>& largest) {
  describe(options);
  info.num_messages = facts.num_messages;
  info.num_phases = static_cast<PhaseId>(largest.size());
  info.phase_bytes = std::accumulate(largest.begin(), largest.end(), Bytes{0});
  info.bounds = facts.bounds;
}

void Plan::Planner::take_distributed(const PlanOptions& options) {
  StopWatch watch;
  all_or_none(*comm, [&] { require_no_matrix_needed(options); });
  const TagSpace own = tags->take();
  SparseExchange sparse(*own.comm, own.next);
  check_with_partners(*comm, sparse, slice.table, 0);
  const std::vector<Bytes> largest = largest_transfers(*comm, slice.table);
  info.check_s = watch.lap();
  const Messages sends = messages_of(slice.table.destinations, comm->rank());
  const Messages receives = messages_of(slice.table.sources, comm->rank());
  describe_distributed(options, Facts(*comm, sends, receives), largest);
  find_near_ranks(options);
  find_leaders();
}

/// Collective. Returns whether all ranks together have so few messages that gathering the matrix is cheaper.
bool Plan::Planner::gathers_after_all(const PlanOptions& options) const {
  constexpr std::int64_t bytes_of_a_message = 24;  // as CommMatrix holds them
  std::int64_t num_messages = std::ssize(destinations);
  all_reduce(*comm, MPI_IN_PLACE, &num_messages, 1, MPI_INT64_T, MPI_SUM);
  return num_messages <= options.distributed.gather_bytes / bytes_of_a_message;
}

/// Makes the same plan from the gathered matrix.
void Plan::Planner::plan_gathered(PlanOptions options) {
  StopWatch watch;
  const CommMatrix matrix = gather_matrix(*comm, destinations);
  info.gather_s = watch.lap();
  options.planning = Planning::everywhere;
  const Problem problem{.matrix = matrix, .seed = options.seed, .phase_cost_bytes = options.phase_cost_bytes};
  make(problem, options);
  settled_options.planning = Planning::distributed;  // a plan that follows may be larger
}

void Plan::Planner::plan_distributed(const PlanOptions& options, const Made* earlier) {
  all_or_none(*comm, [&] { require_planned_locally(options); });
  find_near_ranks(options);
  if (gathers_after_all(options)) {
    plan_gathered(options);
  } else {
    plan_in_pairs(options, earlier);
  }
  find_leaders();
}

void Plan::Planner::plan_in_pairs(const PlanOptions& options, const Made* earlier) {
  StopWatch watch;
  const TagSpace of_pairs = tags->take();
  SparseExchange sparse(*of_pairs.comm, of_pairs.next);

  std::optional<Followed> followed;
  Messages sends;
  Bytes own = 0;
  all_or_none(*comm, [&] {
    if (earlier != nullptr) followed.emplace(earlier->slice.table, *earlier->palette);
    std::vector<Partner> row(destinations);
    std::ranges::sort(row, {}, &Partner::rank);
    for (const auto& [rank, bytes] : row)
      if (rank == comm->rank())
        own = bytes;
      else if (bytes > 0)
        sends.add(rank, bytes);
    sends.require_fits(comm->rank(), "send");
  });
  const Messages receives =
      followed ? followed->sources(*comm, sparse, sends) : discover_sources(*comm, sparse, sends);
  const Facts facts(*comm, sends, receives);
  info.gather_s = watch.lap();

  LocalProblem problem{*comm, sparse, sends, receives, facts, options.seed, options.phase_cost_bytes};
  if (followed) problem.earlier = followed->colours(sends, receives);
  LocalPlan plan = plan_locally(problem);
  slice.table = std::move(plan.table);
  palette = std::move(plan.palette);
  std::optional<Unchanged> unchanged;
  if (followed) {
    unchanged = followed->unchanged(sends, receives, plan);
    info.num_kept = unchanged->count_sends(*comm);
  }
  info.schedule_s = watch.lap();
  if (options.check)
    check_with_partners(*comm, sparse, slice.table, find_scheduler(options.scheduler).guarantees, unchanged);
  info.check_s = options.check ? watch.lap() : 0;
  if (own > 0) {
    add_own(slice.table.destinations, {comm->rank(), own});
    add_own(slice.table.sources, {comm->rank(), own});
  }

  describe_distributed(options, facts, plan.largest);
}

}  // namespace nuice::mpi
