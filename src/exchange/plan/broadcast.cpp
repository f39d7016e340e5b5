// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts: agree on the options, let every rank make and check the same steps, keep this rank's slice.
// Bound, it is an exchange whose first step is the receive and whose other steps are one send each (phased)
// or one with all sends (async).
//
// Cost: three broadcasts of options, O(ranks) planning. Why nobody waits forever: the receive is posted
// first, and who sends in step s has received in an earlier one.
#include <algorithm>
#include <array>
#include <cstdint>

#include "exchange/exec/exchange_state.hpp"
#include "exchange/plan/family.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/broadcast.hpp"
#include "nuice/plan/broadcaster.hpp"

namespace nuice::mpi {

struct BroadcastPlan::State {
  std::shared_ptr<const Communicator> comm;  // shared with the exchanges, which may outlive the plan
  Membership member;
  BroadcastTable table;
  BroadcastInfo info;
  int next_tag = 0;

  /// What BroadcastPlan() and bind() do.
  void plan_for(MPI_Comm parent, const BroadcastOptions& options);
  Exchange bind(void* buffer, Bytes room);
};

namespace {

/// Options without their group, which is apart, sorted.
struct Agreed {
  BroadcastOptions options;
  std::vector<Rank> group;
};

/// Rank 0's options, on all ranks.
Agreed broadcast_options(const Communicator& comm, const Agreed& mine) {
  std::array<std::int64_t, 6> numbers = {mine.options.root,
                                         mine.options.bytes,
                                         static_cast<std::int64_t>(mine.options.executor),
                                         std::ssize(mine.options.broadcaster),
                                         mine.options.group.has_value() ? 1 : 0,
                                         std::ssize(mine.group)};
  broadcast(comm, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, 0);
  Agreed first = mine;
  all_or_none(comm, [&] {
    if (numbers[5] > comm.num_ranks())
      throw Error(ErrorCode::invalid_argument, "the group has " + std::to_string(numbers[5]) +
                                                   " members, there are " + std::to_string(comm.num_ranks()) +
                                                   " ranks");
    first.options.root = static_cast<Rank>(numbers[0]);
    first.options.bytes = numbers[1];
    first.options.executor = static_cast<Executor>(numbers[2]);
    first.options.broadcaster.resize(static_cast<std::size_t>(numbers[3]));
    if (numbers[4] == 0) first.options.group.reset();
    if (numbers[4] != 0) first.options.group.emplace();
    first.group.resize(static_cast<std::size_t>(numbers[5]));
  });
  broadcast(comm, first.options.broadcaster.data(), static_cast<int>(numbers[3]), MPI_CHAR, 0);
  broadcast(comm, first.group.data(), static_cast<int>(numbers[5]), MPI_INT32_T, 0);
  return first;
}

void require_equal(const char* option, const std::string& first, const std::string& mine, Rank rank) {
  if (first == mine) return;
  throw Error(ErrorCode::mismatch, std::string("BroadcastOptions::") + option + " differs: " + first +
                                       " on rank 0, " + mine + " on rank " + std::to_string(rank));
}

void require_equal_groups(const Agreed& first, const Agreed& mine, Rank rank) {
  const auto is_given = [](const Agreed& a) { return std::string(a.options.group ? "given" : "not given"); };
  require_equal("group", is_given(first), is_given(mine), rank);
  const auto [f, m] = std::ranges::mismatch(first.group, mine.group);
  if (f == first.group.end() && m == mine.group.end()) return;
  const bool only_on_first = m == mine.group.end() || (f != first.group.end() && *f < *m);
  const std::string member = "with rank " + std::to_string(only_on_first ? *f : *m);
  const std::string without = "without";
  require_equal("group", only_on_first ? member : without, only_on_first ? without : member, rank);
}

void require_equal_options(const Agreed& first, const Agreed& mine, Rank rank) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  require_equal("root", number(first.options.root), number(mine.options.root), rank);
  require_equal("bytes", number(first.options.bytes), number(mine.options.bytes), rank);
  require_equal("broadcaster", first.options.broadcaster, mine.options.broadcaster, rank);
  require_equal("executor", std::string(executor_name(first.options.executor)),
                std::string(executor_name(mine.options.executor)), rank);
  require_equal_groups(first, mine, rank);
}

void check_options(const BroadcastOptions& options) {
  if (options.bytes < 0)
    throw Error(ErrorCode::invalid_argument,
                "BroadcastOptions::bytes is negative: " + std::to_string(options.bytes));
  if (options.bytes > max_bytes)
    throw Error(ErrorCode::limit, "BroadcastOptions::bytes is " + std::to_string(options.bytes) +
                                      ", more than max_bytes = " + std::to_string(max_bytes));
  if (options.executor != Executor::phased && options.executor != Executor::async)
    throw Error(ErrorCode::invalid_argument, "BroadcastOptions::executor is " +
                                                 std::string(executor_name(options.executor)) +
                                                 "; a broadcast takes phased or async");
}

/// A fault is a bug in the algorithm. It is still an Error, so that no rank runs a wrong broadcast.
BroadcastSchedule make_checked(Rank num_ranks, const Agreed& agreed) {
  const BroadcastOptions& options = agreed.options;
  std::vector<Rank> group = agreed.group;
  if (!options.group)
    for (Rank rank = 0; rank < num_ranks; ++rank) group.push_back(rank);
  BroadcastSchedule schedule = make_broadcast(options.broadcaster, num_ranks, options.root, group);
  if (const auto fault = check_broadcast(schedule, group))
    throw Error(ErrorCode::mismatch, "broadcaster " + options.broadcaster + " made wrong steps: " + *fault);
  return schedule;
}

Rank num_members(const BroadcastSchedule& schedule) {
  std::size_t members = 1;
  for (const auto& step : schedule.steps) members += step.size();
  return static_cast<Rank>(members);
}

std::vector<StepEnd> make_steps(const BroadcastTable& table, Executor executor) {
  std::vector<StepEnd> ends;
  const std::size_t receives = table.receive ? 1 : 0;
  if (receives > 0) ends.push_back({receives, 0});
  for (std::size_t sends = 1; sends <= table.sends.size(); ++sends)
    if (executor == Executor::phased || sends == table.sends.size()) ends.push_back({receives, sends});
  return ends;
}

void check_buffer(const BroadcastTable& table, const void* buffer, Bytes room, Bytes bytes) {
  if (!table.takes_part() || bytes == 0) return;
  const std::string who = "rank " + std::to_string(table.rank) + ": the buffer of the broadcast ";
  if (buffer == nullptr) throw Error(ErrorCode::invalid_argument, who + "is null");
  if (room < bytes)
    throw Error(ErrorCode::invalid_argument,
                who + "has " + std::to_string(room) + " bytes, the message has " + std::to_string(bytes));
}

}  // namespace

void BroadcastPlan::State::plan_for(MPI_Comm parent, const BroadcastOptions& options) {
  const double begin_s = MPI_Wtime();
  member = Membership::of(parent, comm, 0);
  Agreed mine;
  all_or_none(*comm, [&] {
    mine = {options, options.group.value_or(std::vector<Rank>{})};
    std::ranges::sort(mine.group);
  });
  const Agreed first = broadcast_options(*comm, mine);
  all_or_none(*comm, [&] {
    require_equal_options(first, mine, comm->rank());
    check_options(options);
    const BroadcastSchedule schedule = make_checked(comm->num_ranks(), mine);
    table = slice(schedule, comm->rank());
    info = {.broadcaster = options.broadcaster,
            .root = options.root,
            .bytes = options.bytes,
            .executor = options.executor,
            .num_members = num_members(schedule),
            .num_steps = table.num_steps};
  });
  double plan_s = MPI_Wtime() - begin_s;
  all_reduce(*comm, MPI_IN_PLACE, &plan_s, 1, MPI_DOUBLE, MPI_MAX);
  info.plan_s = plan_s;
}

BroadcastPlan::BroadcastPlan(MPI_Comm parent, const BroadcastOptions& options)
    : state_(std::make_unique<State>()) {
  Family::expect_plan(parent, 0);
  state_->comm = duplicate(parent, 0);
  naming_the_dead(*state_->comm, [&] { state_->plan_for(parent, options); });
}

Exchange BroadcastPlan::bind(void* buffer, Bytes room) {
  if (!state_) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  require_running("bind()");
  state_->member.require_same(Call::bind_broadcast);
  const auto kept = state_->comm;
  return naming_the_dead(*kept, [&] { return state_->bind(buffer, room); });
}

Exchange BroadcastPlan::State::bind(void* buffer, Bytes room) {
  std::unique_ptr<Exchange::State> exchange;
  all_or_none(*comm, [&] {
    check_buffer(table, buffer, room, info.bytes);
    exchange = std::make_unique<Exchange::State>();
    exchange->comm = comm;
    exchange->watches_deaths = tells_of_deaths();
    if (info.bytes == 0) return;  // an exchange without steps
    exchange->step_ends = make_steps(table, info.executor);
    Extent extent = Extent::of(info.bytes);
    MPI_Datatype type = extent.type.get();
    exchange->types.push_back(std::move(extent.type));
    exchange->receives.reserve(1);
    exchange->sends.reserve(table.sends.size());
    MPI_Request request;
    if (table.receive) {
      must(MPI_Recv_init(buffer, extent.count, type, table.receive->partner, next_tag, comm->get(), &request),
           "MPI_Recv_init");
      exchange->receives.adopt(request);
      exchange->receive_from.push_back(table.receive->partner);
      const Partner source{table.receive->partner, info.bytes};
      const std::span data(static_cast<std::byte*>(buffer), static_cast<std::size_t>(source.bytes));
      exchange->arrivals.set_sources({&source, 1}, {&data, 1});
      exchange->arrivals.add_receive({&source.rank, 1});
    }
    for (const BroadcastStep& send : table.sends) {
      must(MPI_Send_init(buffer, extent.count, type, send.partner, next_tag, comm->get(), &request),
           "MPI_Send_init");
      exchange->sends.adopt(request);
      exchange->send_to.push_back(send.partner);
    }
    exchange->reserve();
  });
  take_tags(comm, next_tag);
  return Exchange(std::move(exchange));
}

BroadcastPlan::BroadcastPlan(BroadcastPlan&&) noexcept = default;
BroadcastPlan& BroadcastPlan::operator=(BroadcastPlan&&) noexcept = default;
BroadcastPlan::~BroadcastPlan() = default;

BroadcastPlan::State& BroadcastPlan::state() const {
  if (!state_) throw Error(ErrorCode::state, "the plan was freed, or moved away");
  if (state_->member.plan_is_freed) throw Error(ErrorCode::state, "the plan was freed");
  return *state_;
}

const BroadcastTable& BroadcastPlan::table() const { return state().table; }
const BroadcastInfo& BroadcastPlan::info() const { return state().info; }

void BroadcastPlan::free() {
  if (!state_) return;
  State freed;
  freed.member = state_->member.of_freed();
  *state_ = std::move(freed);
}

}  // namespace nuice::mpi
