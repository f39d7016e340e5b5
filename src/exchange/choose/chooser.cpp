// SPDX-License-Identifier: BSD-3-Clause
// The scheduler "auto": wisdom, else advise(), and on request a measurement of the candidates that it cannot tell apart.
//
// All ranks agree by construction. advise() is a pure function of what all ranks have: the gathered matrix, rank 0's
// machine, equal options. Wisdom is rank 0's, broadcast; measured times are maxima over the ranks. No rank acts on a
// clock or a file of its own. With Planning::root only rank 0 has the matrix: it asks the adviser and tells the others.
// Cost: docs/reference/exchange.md; without measuring less than the exchanges it decides about.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "exchange/choose/pick_machine.hpp"
#include "exchange/choose/share_advice.hpp"
#include "exchange/choose/trial.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "mpi/share.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/wisdom.hpp"

namespace nuice::mpi {
namespace {

constexpr std::size_t most_trials = 4;
constexpr std::size_t least_trials = 2;
/// Wisdom that plans for longer than so many times what the rule expects of the best candidate is not believed.
constexpr double planning_doubt = 5;
/// Combining pays where a message between hosts takes the place of so many on average: it costs two copies and a wait for the slowest
/// rank of a host.
constexpr std::int64_t least_combined = 2;
/// Of a matrix with more messages no schedule that forwards is made to be tried: it has a piece for every hop of every message.
constexpr std::size_t most_forwarded = 65536;
/// Setting up memory for a host takes as long as some tens of exchanges of middling messages gain by it.
constexpr std::uint64_t least_reuse_of_memory = 50;
/// Of the bytes that any network bears from one sender at once, the first flight of TCP (RFC 6928), there is nothing to
/// choose among executors.
constexpr Bytes first_flight_bytes = 14336;
/// Where async was chosen, it is also tried with this option: short queues lose fewer packets if few messages are active.
constexpr std::string_view few_at_a_time = "async.max_sends=4";
/// Longer messages are long enough for windows.
constexpr std::string_view combined_below_a_chunk = "combine=true combine.largest=32KiB";
/// What was seen in fewer blocks of exchanges is not kept as wisdom.
constexpr int least_blocks_for_wisdom = 2;

/// Whether the user's own exchanges are to show what is best. (Not on one host: there is no port to share out, and a few microseconds
/// among ranks that wait for cores show nothing.)
bool tries_on(const PickedMachine& picked, const PlanOptions& options) {
  return options.automatic.learn && !options.automatic.measure && !picked.is_named && !picked.is_one_host &&
         options.executor == auto_name && options.trace.empty();
}

/// Whether only the order is predicted, as nothing is known of the network: where exchanges try methods, and where they may not and
/// predictions would be those of some other network.
bool predicts_order_only(const PickedMachine& picked, const PlanOptions& options) {
  return tries_on(picked, options) || (picked.is_nominal && !picked.is_one_host &&
                                       !options.automatic.measure && options.executor == auto_name);
}

/// What the MPI library can do on this machine, with the executor that is asked for, if one is. For hosts with several
/// ranks it is hosts that are scheduled, which schedulers with a network of ranks cannot, and those that forward only by relays. The
/// adviser then sees hosts: not what combining saves, and not that all ranks of a host send at once where nothing holds them back,
/// so that a short queue gets more senders than it counts.
///
/// Where only the order is predicted, all leaves at once in that order: windows belong to the sockets.
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
    // The links of a machine that nobody has named are anybody's guess, and an order that avoids them gives up others.
    if (order_only && scheduler.needs_topology() && options.topology.empty()) continue;
    const std::string candidate = std::string(scheduler.name) + ":" + std::string(executor.name);
    if (std::ranges::find(ours, candidate) == ours.end()) ours.push_back(candidate);
  }
  return ours;
}

/// All that decides beside matrix, machine and reuse. What was measured with one MPI says little of another.
std::string setting_text(const PlanOptions& options, bool for_hosts) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  must(MPI_Get_library_version(library.data(), &length), "MPI_Get_library_version");
  PlanOptions deciding = options;
  deciding.topology.clear();  // the machine has it
  deciding.planning = {};
  deciding.check = true;
  deciding.watchdog_s = 0;
  deciding.trace.clear();
  deciding.environment = true;
  deciding.automatic = {};
  deciding.shared_memory = false;
  deciding.sharing = {};
  if (!for_hosts) {
    deciding.hosts = PlanOptions{}.hosts;
    deciding.combine = false;
    deciding.combining = {};
  }
  return std::string(library.data()) + " " + deciding.text();
}

std::string wisdom_path(const PlanOptions& options) {
  if (options.automatic.wisdom == "none") return {};
  return options.automatic.wisdom.empty() ? default_wisdom_path() : options.automatic.wisdom;
}

std::string milliseconds(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3g ms", 1e3 * seconds);
  return text.data();
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
        ports_(for_hosts_ && has_matrix() ? host_matrix(matrix, *state.hosts) : CommMatrix()),
        picked_(pick_machine(comm_, options)) {}

  void run() {
    settle_combining();
    settle_shared_memory();
    if (!follow_wisdom()) {
      all_or_none(comm_, [&] {
        if (!has_matrix()) return;
        advice_ = advise(advised(), picked_.machine, advice_options_);
        name_machine();
      });
      share();
      state_.info.predicted_s = advice_.choice().exchange_s;
      if (options_.automatic.measure && advice_.num_messages > 0) measure();
    }
    state_.info.warning = text_of_rank_0(comm_, std::move(state_.info.warning));
  }

  const Advice& advice() const { return advice_; }

  /// After the plan was made: what else its exchanges try. Equal on all ranks, as the choice is.
  void find_rivals() {
    const unsigned guarantees = find_scheduler(state_.info.scheduler).guarantees;
    const bool forwards = (guarantees & direct) == 0;
    if (!tries_on(picked_, options_) || forwards || advice_.num_messages == 0) return;
    const bool leaves_at_once =
        !state_.shares_ports && state_.info.bounds.max_port_bytes <= first_flight_bytes;
    if (!leaves_at_once) add_executors(guarantees);
    add_rivals_that_forward();
    add_combined_rival();
    if (comm_.rank() == 0) keep_what_is_learnt();
  }

  /// Valid as long as this is.
  Assignment assignment(const Candidate& candidate) const {
    const bool is_made = !for_hosts_ && advice_.schedule && candidate.scheduler == advice_.choice().scheduler;
    return {.problem = {.matrix = matrix_,
                        .seed = options_.seed,
                        .phase_cost_bytes = advice_.phase_cost_bytes,
                        .topology = picked_.machine.topology.get(),
                        .prefer_pairs = advice_.prefer_pairs},
            .scheduler = find_scheduler(candidate.scheduler),
            .executor = find_executor(candidate.executor),
            .schedule = is_made ? advice_.schedule.get() : nullptr};
  }

 private:
  bool has_matrix() const { return options_.planning == Planning::everywhere || comm_.rank() == 0; }
  /// Collective.
  void share() {
    if (options_.planning == Planning::root) share_advice(comm_, advice_);
  }

  void add_executors(unsigned guarantees) {
    for (const Executor& row : executors())
      if (row.is_tried && row.on_mpi && row.name != state_.info.executor && row.carries_out(guarantees))
        add_rival(row, row.tried_with);
    if (state_.info.executor == "async") add_rival(find_executor("async"), few_at_a_time);
  }
  /// What the user says counts for more than `tried_with`.
  void add_rival(const Executor& row, std::string_view tried_with) {
    const PlanOptions& chosen = state_.settled_options;
    PlanOptions options = PlanOptions::parse(options_.text(), PlanOptions::parse(tried_with, chosen));
    const bool differs = options.text() != PlanOptions::parse(options_.text(), chosen).text();
    if (!differs && row.name == state_.info.executor) return;
    state_.rivals.push_back(
        {row, std::move(options), differs ? std::string(tried_with) : "", state_.info.scheduler, {}});
  }

  /// Collective. Small messages, many of them, between hosts with a rank each: schedules that send few larger ones in their place.
  void add_rivals_that_forward() {
    if (state_.shares_ports || options_.planning != Planning::everywhere || state_.info.scheduler.empty())
      return;
    if (matrix_.num_messages() > most_forwarded || !is_small()) return;
    const Executor& executor = *std::ranges::find(executors(), Pace::phases, &Executor::pace);
    const Problem problem{.matrix = matrix_, .seed = options_.seed};
    for (const Scheduler& row : schedulers()) {
      if (!row.is_tried_for_small) continue;
      std::optional<Schedule> schedule;
      all_or_none(comm_, [&] {
        schedule = make_schedule(problem, row.name);
        if (schedule->num_transfers() * 3 > std::size_t{2} * matrix_.num_messages())
          return;  // not even a third fewer
        if (options_.check) state_.require_correct_for(problem, *schedule, row);
        state_.rivals.push_back({executor, state_.settled_options, "", std::string(row.name),
                                 nuice::slice(matrix_, *schedule, comm_.rank())});
      });
    }
  }
  /// Collective. Several ranks of a host have few connections instead of one for each pair of ranks.
  void add_combined_rival() {
    if (!for_hosts_ || state_.info.num_hosts == 1 || state_.info.combined || state_.relays) return;
    const PlanOptions combined = PlanOptions::parse(combined_below_a_chunk, {});
    if (!count_combined(combined.combining.largest_bytes)) return;
    const std::size_t before = state_.rivals.size();
    add_rival(find_executor(state_.info.executor), combined_below_a_chunk);
    if (state_.rivals.size() > before) state_.rivals.back().combines = state_.rivals.back().options.combine;
  }
  bool is_small() const {
    for (MessageId id = 0; id < matrix_.num_messages(); ++id)
      if (matrix_.bytes(id) > options_.combining.largest_bytes) return false;
    return true;
  }

  /// On rank 0: a choice that the exchanges have found is wisdom, unless it was the choice before.
  void keep_what_is_learnt() {
    const std::string path = wisdom_path(options_);
    if (path.empty()) return;
    const auto as_before = state_.info.scheduler + ":" + state_.info.executor;
    const auto entry =
        WisdomEntry{.key = key_, .scheduler = {}, .executor = {}, .predicted_s = state_.info.predicted_s};
    const std::string scheduler = state_.info.scheduler;
    state_.keep_choice = [path, scheduler, as_before, entry](const BoundMethod& best, double mean_s,
                                                             int blocks) {
      if (best.scheduler != scheduler)
        return;  // a plan that begins with a rival's schedule would not try its own
      const bool is_new = best.scheduler + ":" + best.executor != as_before;
      if (!is_new || !best.options.empty() || blocks < least_blocks_for_wisdom) return;
      WisdomEntry found = entry;
      found.scheduler = best.scheduler;
      found.executor = best.executor;
      found.measured_s = mean_s;
      found.repetitions = blocks;
      (void)add_wisdom(path, {&found, 1});
    };
  }

  /// Collective. Whether messages are combined, where nobody has said.
  void settle_combining() {
    if (!for_hosts_) return;
    if (count_combined(options_.combining.largest_bytes)) state_.info.combined = true;
  }
  /// Collective. Counts messages of at most so many bytes between hosts. Whether they pay for being combined.
  bool count_combined(Bytes largest) {
    num_small_ = num_small_pairs_ = 0;
    all_or_none(comm_, [&] {
      if (!has_matrix()) return;
      const Hosts& layout = *state_.hosts;
      std::vector<std::pair<Rank, Rank>> pairs;
      for (MessageId id = 0; id < matrix_.num_messages(); ++id) {
        const auto [src, dst, bytes] = matrix_.message(id);
        if (layout.same(src, dst) || bytes > largest) continue;
        ++num_small_;
        pairs.emplace_back(layout.host_of(src), layout.host_of(dst));
      }
      std::ranges::sort(pairs);
      num_small_pairs_ = std::ranges::unique(pairs).begin() - pairs.begin();
    });
    share_from_rank_0(comm_, num_small_, num_small_pairs_);
    return num_small_ >= least_combined * num_small_pairs_ && num_small_ > 0;
  }

  /// Collective. On one host its memory is the shortest way; beside a network it gains nothing that was measured.
  void settle_shared_memory() {
    if (!state_.shares_ports || state_.info.num_hosts > 1 || options_.executor != auto_name) return;
    if (options_.automatic.reuse < least_reuse_of_memory) return;
    all_or_none(comm_, [&] {
      if (has_matrix()) count_near();
    });
    share_from_rank_0(comm_, num_near_);
    if (num_near_ > 0) state_.info.shared_memory = true;
  }

  void count_near() {
    for (MessageId id = 0; id < matrix_.num_messages(); ++id)
      if (matrix_.bytes(id) <= options_.sharing.largest_bytes) ++num_near_;
  }

  /// What rank 0 knows of this problem, on all ranks.
  std::optional<WisdomEntry> look_up() {
    WisdomEntry entry;  // without a scheduler: nothing is known
    all_or_none(comm_, [&] {
      advice_options_ = {
          .reuse = options_.automatic.reuse,
          .candidates = candidates_for(picked_, options_, for_hosts_, predicts_order_only(picked_, options_)),
          .seed = options_.seed};
      const std::string path = comm_.rank() == 0 ? wisdom_path(options_) : "";
      if (path.empty()) return;
      key_ = wisdom_key(advised(), picked_.machine, options_.automatic.reuse,
                        setting_text(options_, for_hosts_));
      const WisdomFile file = read_wisdom(path);
      warn(file.warning);
      const WisdomEntry* const known = file.find(key_);
      if (known == nullptr) return;
      entry = *known;
    });
    share_from_rank_0(comm_, entry.scheduler, entry.executor, entry.predicted_s, entry.measured_s,
                      entry.repetitions);
    return entry.scheduler.empty() ? std::nullopt : std::optional(entry);
  }

  /// Takes the choice from wisdom if there is one that makes sense here; its rivals are then predicted by the rule.
  bool follow_wisdom() {
    const std::optional<WisdomEntry> entry = look_up();
    if (!entry) return false;
    int follows = 0;
    all_or_none(comm_, [&] {
      if (!has_matrix()) return;
      AdviceOptions cheap = advice_options_;
      cheap.predict_by = Prediction::rule;
      cheap.candidates = candidates_for(picked_, options_, for_hosts_, false);
      const std::string name = entry->scheduler + ":" + entry->executor;
      const auto row = std::ranges::find(executors(), entry->executor, &Executor::name);
      const bool was_tried = tries_on(picked_, options_) && row != executors().end() && row->is_tried;
      if (was_tried && std::ranges::find(cheap.candidates, name) == cheap.candidates.end())
        cheap.candidates.push_back(name);
      const Advice by_rule = advise(advised(), picked_.machine, cheap);
      const auto known =
          std::ranges::find(by_rule.candidates, entry->scheduler + ":" + entry->executor, &Candidate::name);
      const bool is_good =
          known != by_rule.candidates.end() && known->applicable && is_believable(*known, by_rule);
      if (!is_good) {
        warn("wisdom says " + entry->scheduler + ":" + entry->executor +
             ", which does not suit this matrix: it is not used");
        return;
      }
      const auto index = static_cast<std::size_t>(known - by_rule.candidates.begin());
      const MeasuredExchange measured{index, entry->measured_s};
      advice_ = with_measurements(by_rule, {&measured, 1});
      advice_.sentence += " Wisdom: it was the fastest of those measured, " +
                          milliseconds(entry->measured_s) + " (mean of " +
                          std::to_string(entry->repetitions) + ").";
      name_machine();
      follows = 1;
    });
    share_from_rank_0(comm_, follows);
    if (follows == 0) return false;
    share();
    state_.info.predicted_s = entry->predicted_s;
    return true;
  }

  /// Even a file that lies can only cost little: whatever it names is a right schedule, and planning it is bounded here.
  bool is_believable(const Candidate& known, const Advice& by_rule) const {
    const double planning_s = known.planning_s / static_cast<double>(options_.automatic.reuse);
    return planning_s <= planning_doubt * by_rule.choice().total_s;
  }

  /// Times the contenders and takes the fastest. Where there is no memory to try, the prediction stands.
  void measure() {
    const std::vector<std::size_t> tried = worth_trying();
    std::vector<TrialResult> results;
    try {
      Trial trial(comm_);
      for (const std::size_t i : tried) trial.add(plan_of(advice_.candidates[i]));
      results = trial.run();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::limit) throw;
      warn(std::string("nothing was measured: ") + error.what());
      return;
    }
    all_or_none(comm_, [&] { take(tried, results); });
  }

  /// Indices of candidates, ascending: the first of each executor among those that the prediction cannot tell apart, as
  /// predictions of one executor are wrong together; then the best of the others. Where nothing is known of the network no
  /// prediction tells executors apart.
  std::vector<std::size_t> worth_trying() const {
    const auto& all = advice_.candidates;
    const auto applicable =
        static_cast<std::size_t>(std::ranges::count_if(all, [](const Candidate& c) { return c.applicable; }));
    const std::size_t contenders =
        picked_.is_nominal ? applicable : std::min(applicable, advice_.num_contenders());
    std::vector<std::size_t> tried;
    std::vector<std::string_view> executors;
    for (std::size_t i = 0; i < contenders && tried.size() < most_trials; ++i) {
      if (std::ranges::find(executors, all[i].executor) != executors.end()) continue;
      executors.push_back(all[i].executor);
      tried.push_back(i);
    }
    const std::size_t count = std::min(applicable, std::clamp(contenders, least_trials, most_trials));
    for (std::size_t i = 0; i < applicable && tried.size() < count; ++i)
      if (std::ranges::find(tried, i) == tried.end()) tried.push_back(i);
    std::ranges::sort(tried);
    return tried;
  }

  Plan plan_of(const Candidate& candidate) {
    Planner planner(state_.tags, {state_.member.group, state_.member.group->add()});
    planner.destinations = state_.destinations;
    planner.find_hosts(options_);
    planner.info.combined = state_.info.combined;
    planner.info.shared_memory = state_.info.shared_memory;
    planner.make(assignment(candidate), options_);
    planner.find_leaders();
    planner.slice.send_to = planner.destinations;
    planner.slice.receive_from = planner.slice.table.sources;
    return Plan(std::move(planner).finished());
  }

  void take(std::span<const std::size_t> tried, std::span<const TrialResult> results) {
    std::vector<MeasuredExchange> measured;
    for (std::size_t i = 0; i < results.size(); ++i) measured.push_back({tried[i], results[i].cost_s});
    const std::vector<Candidate> before = advice_.candidates;
    advice_ = with_measurements(std::move(advice_), measured);
    const auto chosen = std::ranges::find(before, advice_.choice().name(), &Candidate::name);
    const auto place = std::ranges::find(tried, static_cast<std::size_t>(chosen - before.begin()));
    const auto index = static_cast<std::size_t>(place - tried.begin());
    const TrialResult& result = results[index];
    state_.info.predicted_s = chosen->exchange_s;
    advice_.sentence += " Predicted: " + milliseconds(chosen->exchange_s) +
                        "; measured: " + milliseconds(result.cost_s) + " (mean of " +
                        std::to_string(result.repetitions) + ").";
    const std::string path = comm_.rank() == 0 ? wisdom_path(options_) : "";
    if (path.empty()) return;
    const WisdomEntry entry{.key = key_,
                            .scheduler = chosen->scheduler,
                            .executor = chosen->executor,
                            .predicted_s = chosen->exchange_s,
                            .measured_s = result.cost_s,
                            .repetitions = result.repetitions};
    warn(add_wisdom(path, {&entry, 1}));
  }

  void name_machine() {
    if (for_hosts_)
      advice_.sentence += " Ranks of a host share its port: this is about " +
                          std::to_string(state_.hosts->num_hosts()) + " hosts.";
    if (state_.info.combined && num_small_ > 0)
      advice_.sentence += " " + std::to_string(num_small_) + " messages of at most " +
                          std::to_string(options_.combining.largest_bytes) +
                          " bytes between hosts travel combined, as " + std::to_string(num_small_pairs_) +
                          ".";
    if (num_near_ > 0)
      advice_.sentence += " " + std::to_string(num_near_) + " messages of at most " +
                          std::to_string(options_.sharing.largest_bytes) +
                          " bytes go through memory that the host's ranks share.";
    if (tries_on(picked_, options_))
      advice_.sentence +=
          " How to send is found while exchanges run, whatever is predicted: Exchange::info().";
    advice_.sentence += " " + picked_.sentence;
  }

  /// The ports are what the adviser is asked about: the hosts', where several ranks share one.
  const CommMatrix& advised() const { return for_hosts_ ? ports_ : matrix_; }

  void warn(const std::string& text) {
    if (text.empty()) return;
    std::string& warning = state_.info.warning;
    warning += (warning.empty() ? "" : "; ") + text;
  }

  Planner& state_;
  const Communicator& comm_;
  const CommMatrix& matrix_;
  const PlanOptions& options_;
  bool for_hosts_;
  std::int64_t num_small_ = 0;        // messages between hosts that can be combined
  std::int64_t num_small_pairs_ = 0;  // of hosts that have any
  std::int64_t num_near_ = 0;         // messages that are short enough for the memory of the one host
  CommMatrix ports_;                  // the hosts' matrix; empty unless for_hosts_
  PickedMachine picked_;
  AdviceOptions advice_options_;
  WisdomKey key_;
  Advice advice_;
};

void Plan::Planner::choose_and_make(const CommMatrix& matrix, const PlanOptions& options) {
  StopWatch watch;
  Chooser chooser(*this, matrix, options);
  chooser.run();
  info.choose_s = watch.lap();
  make(chooser.assignment(chooser.advice().choice()), options);
  chooser.find_rivals();
  advice = chooser.advice();
  advice->schedule = nullptr;  // a plan keeps its own rank's messages only
}

}  // namespace nuice::mpi
