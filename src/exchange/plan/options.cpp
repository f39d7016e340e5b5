// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/options.hpp"
#include "mpi/collective.hpp"

#include <array>
#include <bit>
#include <climits>
#include <cstdint>

#include "mpi/agree.hpp"
#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

struct ExecutorName {
  Executor executor;
  std::string_view name;
};
constexpr std::array<ExecutorName, 5> executor_names = {{
    {Executor::async, "async"},
    {Executor::phased, "phased"},
    {Executor::barrier, "barrier"},
    {Executor::credit, "credit"},
    {Executor::automatic, "auto"},
}};

struct TextOption {
  const char* name;
  std::string PlanOptions::* member;
};
constexpr std::array<TextOption, 5> text_options = {{
    {"scheduler", &PlanOptions::scheduler},
    {"topology", &PlanOptions::topology},
    {"hosts", &PlanOptions::hosts},
    {"machine", &PlanOptions::machine},
    {"wisdom", &PlanOptions::wisdom},
}};

/// Rank 0's options, on all ranks.
PlanOptions broadcast_options(const Communicator& comm, const PlanOptions& mine) {
  std::array<std::int64_t, 13> numbers = {static_cast<std::int64_t>(mine.seed),
                                          static_cast<std::int64_t>(mine.executor),
                                          mine.max_sends_in_flight,
                                          mine.check ? 1 : 0,
                                          mine.phase_cost_bytes,
                                          mine.chunk_bytes,
                                          mine.window_bytes,
                                          static_cast<std::int64_t>(mine.reuse),
                                          mine.measure ? 1 : 0,
                                          std::bit_cast<std::int64_t>(mine.watchdog_s),
                                          static_cast<std::int64_t>(mine.planning),
                                          mine.window_senders,
                                          mine.combine ? 1 : 0};
  broadcast(comm, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, 0);
  PlanOptions first = mine;
  first.seed = static_cast<std::uint64_t>(numbers[0]);
  first.executor = static_cast<Executor>(numbers[1]);
  first.max_sends_in_flight = static_cast<int>(numbers[2]);
  first.check = numbers[3] != 0;
  first.phase_cost_bytes = numbers[4];
  first.chunk_bytes = numbers[5];
  first.window_bytes = numbers[6];
  first.reuse = static_cast<std::uint64_t>(numbers[7]);
  first.measure = numbers[8] != 0;
  first.watchdog_s = std::bit_cast<double>(numbers[9]);
  first.planning = static_cast<Planning>(numbers[10]);
  first.window_senders = static_cast<int>(numbers[11]);
  first.combine = numbers[12] != 0;
  // All texts in one message, each followed by a zero; one that holds a zero itself differs from what comes out.
  std::string texts;
  for (const TextOption& option : text_options) texts += mine.*option.member + '\0';
  texts = text_of_rank_0(comm, texts);
  std::size_t begin = 0;
  for (const TextOption& option : text_options) {
    first.*option.member = texts.substr(begin, texts.find('\0', begin) - begin);
    begin += (first.*option.member).size() + 1;
  }
  return first;
}

std::string planning_name(Planning planning) {
  if (planning == Planning::everywhere) return "everywhere";
  return planning == Planning::root ? "root" : std::to_string(static_cast<int>(planning));
}

void require_equal(const char* option, const std::string& first, const std::string& mine, Rank rank) {
  if (first == mine) return;
  throw Error(ErrorCode::mismatch, std::string("PlanOptions::") + option + " differs: " + first +
                                       " on rank 0, " + mine + " on rank " + std::to_string(rank));
}

}  // namespace

std::string_view executor_name(Executor executor) {
  for (const ExecutorName& row : executor_names)
    if (row.executor == executor) return row.name;
  return "unknown";
}

Executor find_executor(std::string_view name) {
  std::string known;
  for (const ExecutorName& row : executor_names) {
    if (row.name == name) return row.executor;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(ErrorCode::invalid_argument, "unknown executor \"" + std::string(name) + "\"; known: " + known);
}

void require_equal_options(const Communicator& comm, const PlanOptions& mine) {
  const PlanOptions first = broadcast_options(comm, mine);
  all_or_none(comm, [&] {
    const Rank rank = comm.rank();
    for (const TextOption& option : text_options)
      require_equal(option.name, first.*option.member, mine.*option.member, rank);
    require_equal("seed", std::to_string(first.seed), std::to_string(mine.seed), rank);
    require_equal("executor", std::string(executor_name(first.executor)),
                  std::string(executor_name(mine.executor)), rank);
    require_equal("max_sends_in_flight", std::to_string(first.max_sends_in_flight),
                  std::to_string(mine.max_sends_in_flight), rank);
    require_equal("chunk_bytes", std::to_string(first.chunk_bytes), std::to_string(mine.chunk_bytes), rank);
    require_equal("window_bytes", std::to_string(first.window_bytes), std::to_string(mine.window_bytes),
                  rank);
    require_equal("window_senders", std::to_string(first.window_senders), std::to_string(mine.window_senders),
                  rank);
    require_equal("phase_cost_bytes", std::to_string(first.phase_cost_bytes),
                  std::to_string(mine.phase_cost_bytes), rank);
    require_equal("planning", planning_name(first.planning), planning_name(mine.planning), rank);
    require_equal("watchdog_s", std::to_string(first.watchdog_s), std::to_string(mine.watchdog_s), rank);
    require_equal("check", std::to_string(first.check), std::to_string(mine.check), rank);
    require_equal("reuse", std::to_string(first.reuse), std::to_string(mine.reuse), rank);
    require_equal("combine", std::to_string(first.combine), std::to_string(mine.combine), rank);
    require_equal("measure", std::to_string(first.measure), std::to_string(mine.measure), rank);
  });
}

void check_options(const PlanOptions& options) {
  const int window = options.max_sends_in_flight;
  if (executor_name(options.executor) == "unknown")
    throw Error(ErrorCode::invalid_argument, "PlanOptions::executor has the unknown value " +
                                                 std::to_string(static_cast<int>(options.executor)));
  if (options.chunk_bytes < 1 || options.chunk_bytes > INT_MAX)
    throw Error(ErrorCode::invalid_argument, "PlanOptions::chunk_bytes is not between 1 and 2^31 - 1: " +
                                                 std::to_string(options.chunk_bytes));
  if (options.window_bytes < 1 || options.window_bytes > max_bytes)
    throw Error(ErrorCode::invalid_argument, "PlanOptions::window_bytes is not between 1 and 2^62: " +
                                                 std::to_string(options.window_bytes));
  if (options.window_senders < 1)
    throw Error(ErrorCode::invalid_argument,
                "PlanOptions::window_senders is not at least 1: " + std::to_string(options.window_senders));
  if (options.phase_cost_bytes < 0 || options.phase_cost_bytes > max_bytes)
    throw Error(ErrorCode::invalid_argument, "PlanOptions::phase_cost_bytes is not between 0 and 2^62: " +
                                                 std::to_string(options.phase_cost_bytes));
  if (options.planning != Planning::everywhere && options.planning != Planning::root)
    throw Error(ErrorCode::invalid_argument,
                "PlanOptions::planning has the unknown value " + planning_name(options.planning));
  if (!(options.watchdog_s >= 0))
    throw Error(ErrorCode::invalid_argument,
                "PlanOptions::watchdog_s is negative: " + std::to_string(options.watchdog_s));
  if (options.combine && options.hosts.empty())
    throw Error(ErrorCode::invalid_argument,
                "PlanOptions::combine combines what one host sends another: say which ranks share a host "
                "(PlanOptions::hosts)");
  if (options.reuse < 1)
    throw Error(ErrorCode::invalid_argument, "PlanOptions::reuse is 0: a plan is used at least once");
  if (window < 0)
    throw Error(ErrorCode::invalid_argument,
                "PlanOptions::max_sends_in_flight is negative: " + std::to_string(window));
  if (window > 0 && options.executor != Executor::async)
    throw Error(ErrorCode::invalid_argument,
                "PlanOptions::max_sends_in_flight is for the executor async, not " +
                    std::string(executor_name(options.executor)));
}

}  // namespace nuice::mpi
