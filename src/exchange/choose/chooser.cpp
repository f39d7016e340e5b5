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

#include "exchange/choose/candidates.hpp"
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

/// Wisdom that plans for longer than so many times what the rule expects of the best candidate is not
/// believed: the rule is off by 57 % at most, nine times of ten (advise.cpp).
constexpr double planning_doubt = 5;
/// Combining pays where a message between hosts takes the place of so many on average: it costs two copies and a wait for the slowest
/// rank of a host, as long as a message (docs/adr/0027).
constexpr std::int64_t least_combined = 2;
/// Of a matrix with more messages no schedule that forwards is made to be tried: it has a piece for every hop
/// of every message, and takes 12 MB for these (docs/explanation/small-costs.md).
constexpr std::size_t most_forwarded = 65536;
/// Setting up memory takes 0.4 ms with eight ranks (docs/adr/0043), 50 times what exchanges of middling
/// messages gain by it.
constexpr std::uint64_t least_reuse_of_memory = 50;
/// Of the bytes that any network bears from one sender at once, the first flight of TCP (RFC 6928), there is nothing to
/// choose among executors.
constexpr Bytes first_flight_bytes = 14336;
/// Where async was chosen, it is also tried with this option: short queues lose fewer packets if few messages are active.
constexpr std::string_view few_at_a_time = "async.max_sends=4";
/// Longer messages are long enough for windows.
constexpr std::string_view combined_below_a_chunk = "combine=true combine.largest=32KiB";
/// What was seen in fewer blocks of exchanges is not kept as wisdom: one may be an outlier.
constexpr int least_blocks_for_wisdom = 2;

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
    if (options_.planning == Planning::root) share_from_rank_0(comm_, advice_);
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
    if (!for_hosts_ || state_.info.num_hosts == 1 || state_.info.combined) return;
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
    const WisdomEntry before{.key = key_,
                             .scheduler = state_.info.scheduler,
                             .executor = state_.info.executor,
                             .predicted_s = state_.info.predicted_s};
    state_.keep_choice = [path, before](const BoundMethod& best, double mean_s, int blocks) {
      if (best.scheduler != before.scheduler)
        return;  // a plan that begins with a rival's schedule would not try its own
      if (best.executor == before.executor || !best.options.empty() || blocks < least_blocks_for_wisdom)
        return;
      WisdomEntry found = before;
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
    small_ = {};
    all_or_none(comm_, [&] {
      if (has_matrix()) small_ = small_messages(matrix_, *state_.hosts, largest);
    });
    share_from_rank_0(comm_, small_.number, small_.num_pairs);
    return small_.number >= least_combined * small_.num_pairs && small_.number > 0;
  }

  /// Collective. On one host its memory is the shortest way; beside a network it gains nothing that was measured.
  void settle_shared_memory() {
    if (!state_.shares_ports || state_.info.num_hosts > 1 || options_.executor != auto_name) return;
    if (options_.automatic.reuse < least_reuse_of_memory) return;
    all_or_none(comm_, [&] {
      if (!has_matrix()) return;
      for (MessageId id = 0; id < matrix_.num_messages(); ++id)
        if (matrix_.bytes(id) <= options_.sharing.largest_bytes) ++num_near_;
    });
    share_from_rank_0(comm_, num_near_);
    if (num_near_ > 0) state_.info.shared_memory = true;
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
      const auto known = std::ranges::find(by_rule.candidates, name, &Candidate::name);
      const bool is_good =
          known != by_rule.candidates.end() && known->applicable && is_believable(*known, by_rule);
      if (!is_good) {
        warn("wisdom says " + name + ", which does not suit this matrix: it is not used");
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
    const std::vector<std::size_t> tried = worth_trying(advice_, picked_.is_nominal);
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
    const TrialResult& result = results[static_cast<std::size_t>(place - tried.begin())];
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
  SmallMessages small_;
  std::int64_t num_near_ = 0;  // messages that are short enough for the memory of the one host
  CommMatrix ports_;           // the hosts' matrix; empty unless for_hosts_
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
