// SPDX-License-Identifier: BSD-3-Clause
// The scheduler "auto": chooses by advise(), and finds other methods that the plan's exchanges try.
//
// All ranks choose the same plan, because advise() is a pure function of data that all ranks have: the
// gathered matrix, rank 0's machine, and equal options. No rank uses its own clock or files. Cost: less than
// the exchanges for which it chooses (docs/reference/exchange.md).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/choose/pick_machine.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/mpi/options.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::mpi {

/// Which messages between hosts can be combined: their number, and the number of pairs of hosts that have
/// such messages.
struct SmallMessages {
  std::int64_t number = 0;
  std::int64_t num_pairs = 0;
};

namespace {

/// Messages are combined if one message between hosts would replace at least this number of messages on
/// average. Combining costs two copies, and a wait for the slowest rank of a host; together they take about
/// as long as one message (docs/adr/0027).
constexpr std::int64_t least_combined = 2;
/// The maximum number of messages of all ranks for which schedules that forward are tried. Such a schedule
/// has a piece for every hop of every message, 12 MB for this number (docs/explanation/small-costs.md).
constexpr std::size_t most_forwarded = 65536;
/// The minimum number of exchanges for which shared memory is set up. With eight ranks this takes 0.4 ms
/// (docs/adr/0043), 50 times as much as it saves in an exchange of medium-sized messages.
constexpr std::uint64_t least_reuse_of_memory = 50;
/// Combines messages of up to 32 KiB, the size of the pieces in which messages travel over TCP.
constexpr std::string_view combined_below_a_chunk = "combine=true combine.largest=32KiB";

/// Returns whether the user's own exchanges are to show which method is best. Returns false if all ranks are
/// on one host: no ranks share a port there, and differences of a few microseconds are lost among ranks that
/// wait for cores.
bool tries_on(const PickedMachine& picked, const PlanOptions& options) {
  return options.effort == Effort::learn && !picked.is_named && !picked.is_one_host &&
         options.executor == auto_name && options.trace.empty();
}

/// Returns whether predictions are used only to choose the order of messages. This is so if exchanges try
/// methods, or if nothing is known of the network between several hosts, so that predictions would describe
/// some other network.
bool predicts_order_only(const PickedMachine& picked, const PlanOptions& options) {
  return tries_on(picked, options) ||
         (picked.is_nominal && !picked.is_one_host && options.executor == auto_name);
}

/// Returns the candidates that MPI can carry out on this machine, with the executor of `options` if it names
/// one. for_hosts: whether several ranks of a host share a port; if so, schedulers that need a network of
/// ranks, or forward messages, are left out. If a short queue may overflow, sending everything at once is
/// left out too: all ranks of a host would send at once, and the adviser counts a host as one sender.
///
/// order_only: returns only one-port schedules. All their messages are sent at once, in the order of the
/// schedule.
std::vector<std::string> candidates_for(const PickedMachine& picked, const PlanOptions& options,
                                        bool for_hosts, bool order_only) {
  const Machine& machine = picked.machine;
  const bool is_free = options.executor == auto_name;
  const std::string asked = options.executor == auto_name ? std::string(default_executor) : options.executor;
  std::vector<std::string> ours;
  for (const std::string& name : mpi_candidates(machine)) {
    const std::size_t colon = name.find(':');
    const Scheduler& scheduler = find_scheduler(name.substr(0, colon));
    const Executor& executor = find_executor(is_free ? name.substr(colon + 1) : asked);
    if (for_hosts && scheduler.needs_topology()) continue;
    const bool forwards = (scheduler.guarantees & direct) == 0;
    if (for_hosts && forwards) continue;
    const bool floods = for_hosts && executor.pace == Pace::at_once && machine.queue_senders > 0;
    if (is_free && floods && !order_only) continue;
    if (!executor.carries_out(scheduler.guarantees)) continue;
    const bool has_order = (scheduler.guarantees & one_port) != 0;
    if (order_only && (executor.pace != Pace::at_once || !has_order)) continue;
    // Without option topology NUICE only guesses the links, and an order that keeps them free may lose time.
    if (order_only && scheduler.needs_topology() && options.topology.empty()) continue;
    const std::string candidate = std::string(scheduler.name) + ":" + std::string(executor.name);
    if (std::ranges::find(ours, candidate) == ours.end()) ours.push_back(candidate);
  }
  return ours;
}

SmallMessages small_messages(const CommMatrix& matrix, const Hosts& hosts, Bytes largest) {
  SmallMessages found;
  std::vector<std::pair<Rank, Rank>> pairs;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const auto [src, dst, bytes] = matrix.message(id);
    if (hosts.same(src, dst) || bytes > largest) continue;
    ++found.number;
    pairs.emplace_back(hosts.host_of(src), hosts.host_of(dst));
  }
  std::ranges::sort(pairs);
  found.num_pairs = std::ranges::unique(pairs).begin() - pairs.begin();
  return found;
}

}  // namespace

class Plan::Planner::Chooser {
 public:
  Chooser(Planner& state, const CommMatrix& matrix, const PlanOptions& options)
      : state_(state),
        comm_(*state.comm),
        matrix_(matrix),
        options_(options),
        for_hosts_(state.hosts && state.shares_ports),
        ports_(for_hosts_ ? host_matrix(matrix, *state.hosts) : CommMatrix()),
        picked_(pick_machine(comm_, options)) {}

  void run() {
    settle_combining();
    settle_shared_memory();
    all_or_none(comm_, [&] {
      std::vector<std::string> candidates =
          candidates_for(picked_, options_, for_hosts_, predicts_order_only(picked_, options_));
      if (for_hosts_)  // the adviser sees only the hosts' matrix
        std::erase_if(candidates, [this](const std::string& name) {
          return !find_scheduler(name.substr(0, name.find(':'))).why_not({.matrix = matrix_}).empty();
        });
      advice_ = advise(advised(), picked_.machine,
                       {.reuse = options_.automatic.reuse, .candidates = candidates, .seed = options_.seed});
      name_machine();
    });
    state_.info.predicted_s = advice_.choice().exchange_s;
  }

  /// Collective. Called after the plan is made. Finds the other methods that the plan's exchanges try. They
  /// are the same on all ranks.
  void find_rivals() {
    const bool forwards = (find_scheduler(state_.info.scheduler).guarantees & direct) == 0;
    if (!tries_on(picked_, options_) || forwards || advice_.num_messages == 0) return;
    add_rivals_that_forward();
    add_combined_rival();
  }

  /// Collective. Makes the plan that the adviser has chosen.
  void make() {
    const Candidate& choice = advice_.choice();
    PlanOptions options = options_;
    options.scheduler = choice.scheduler;
    options.executor = choice.executor;
    options.phase_cost_bytes = advice_.phase_cost_bytes;
    state_.make({.matrix = matrix_,
                 .seed = options.seed,
                 .phase_cost_bytes = options.phase_cost_bytes,
                 .topology = picked_.machine.topology.get(),
                 .prefer_pairs = advice_.prefer_pairs},
                options, for_hosts_ ? nullptr : advice_.schedule.get());
  }

  /// Returns the advice without its schedule, because a plan keeps only its own rank's messages.
  Advice advice() && {
    advice_.schedule = nullptr;
    return std::move(advice_);
  }

 private:
  /// Collective. If every host has one rank and all messages are small, adds schedules that forward the
  /// messages inside fewer larger ones.
  void add_rivals_that_forward() {
    if (state_.shares_ports || state_.info.scheduler.empty()) return;
    if (matrix_.num_messages() > most_forwarded || !is_small()) return;
    const Executor& executor = *std::ranges::find(executors(), Pace::phases, &Executor::pace);
    const Problem problem{.matrix = matrix_, .seed = options_.seed};
    for (const Scheduler& row : schedulers()) {
      if (!row.is_tried_for_small) continue;
      std::optional<Schedule> schedule;
      all_or_none(comm_, [&] {
        schedule = make_schedule(problem, row.name);
        if (schedule->num_transfers() * 3 > std::size_t{2} * matrix_.num_messages())
          return;  // saves less than a third of the messages
        if (options_.check) Plan::Planner::require_correct_for(problem, *schedule, row);
        state_.rivals.push_back({executor, state_.settled_options, "", std::string(row.name),
                                 nuice::slice(matrix_, *schedule, comm_.rank())});
      });
    }
  }
  /// Collective. If hosts have several ranks, adds the method that combines small messages between the same
  /// two hosts.
  void add_combined_rival() {
    if (!for_hosts_ || state_.info.num_hosts == 1 || state_.info.combined) return;
    const PlanOptions combined = PlanOptions::parse(combined_below_a_chunk, {});
    if (!count_combined(combined.combining.largest_bytes)) return;
    // The user's options override this method's options.
    const PlanOptions& chosen = state_.settled_options;
    PlanOptions options =
        PlanOptions::parse(options_.text(), PlanOptions::parse(combined_below_a_chunk, chosen));
    state_.rivals.push_back({find_executor(state_.info.executor), std::move(options),
                             std::string(combined_below_a_chunk), state_.info.scheduler, std::nullopt});
  }
  bool is_small() const {
    for (MessageId id = 0; id < matrix_.num_messages(); ++id)
      if (matrix_.bytes(id) > options_.combining.largest_bytes) return false;
    return true;
  }

  /// Collective. Decides whether messages are combined.
  void settle_combining() {
    if (!for_hosts_) return;
    if (count_combined(options_.combining.largest_bytes)) state_.info.combined = true;
  }
  /// Collective. Counts messages of at most `largest` bytes between hosts. Returns whether combining them
  /// saves time.
  bool count_combined(Bytes largest) {
    all_or_none(comm_, [&] { small_ = small_messages(matrix_, *state_.hosts, largest); });
    return small_.number >= least_combined * small_.num_pairs && small_.number > 0;
  }

  /// Decides whether shared memory is used: if all ranks share one host, no executor is named, the plan is
  /// used often enough, and a message is short enough. With several hosts no gain was measured.
  void settle_shared_memory() {
    if (!state_.shares_ports || state_.info.num_hosts > 1 || options_.executor != auto_name) return;
    if (options_.automatic.reuse < least_reuse_of_memory) return;
    for (MessageId id = 0; id < matrix_.num_messages(); ++id)
      if (matrix_.bytes(id) <= options_.sharing.largest_bytes) ++num_near_;
    if (num_near_ > 0) state_.info.shared_memory = true;
  }

  void name_machine() {
    if (for_hosts_)
      advice_.sentence += " Ranks of a host share its port: this is about " +
                          std::to_string(state_.hosts->num_hosts()) + " hosts.";
    if (state_.info.combined && small_.number > 0)
      advice_.sentence += " " + std::to_string(small_.number) + " messages of at most " +
                          std::to_string(options_.combining.largest_bytes) +
                          " bytes between hosts travel combined, as " + std::to_string(small_.num_pairs) +
                          ".";
    if (num_near_ > 0)
      advice_.sentence += " " + std::to_string(num_near_) + " messages of at most " +
                          std::to_string(options_.sharing.largest_bytes) +
                          " bytes go through memory that the host's ranks share.";
    if (tries_on(picked_, options_))
      advice_.sentence += " Whether to combine or forward is found while exchanges run: Exchange::info().";
    advice_.sentence += " " + picked_.sentence;
  }

  /// Returns the matrix for the adviser: the messages between hosts if ranks share ports, otherwise the
  /// messages between ranks.
  const CommMatrix& advised() const { return for_hosts_ ? ports_ : matrix_; }

  Planner& state_;
  const Communicator& comm_;
  const CommMatrix& matrix_;
  const PlanOptions& options_;
  bool for_hosts_;
  SmallMessages small_;
  std::int64_t num_near_ = 0;  // number of messages short enough for shared memory
  CommMatrix ports_;           // the hosts' matrix; empty unless for_hosts_
  PickedMachine picked_;
  Advice advice_;
};

void Plan::Planner::choose_and_make(const CommMatrix& matrix, const PlanOptions& options) {
  StopWatch watch;
  Chooser chooser(*this, matrix, options);
  chooser.run();
  info.choose_s = watch.lap();
  chooser.make();
  chooser.find_rivals();
  advice = std::move(chooser).advice();
}

}  // namespace nuice::mpi
