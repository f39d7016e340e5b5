// SPDX-License-Identifier: BSD-3-Clause
// Makes a plan, on all ranks together. What it has made stays as it is for as long as the plan lives; memory grows with this rank's own
// messages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/bind/layout.hpp"
#include "exchange/combine/host_group.hpp"
#include "exchange/learn/learning_run.hpp"
#include "exchange/plan/plan_group.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice/plan/scheduler.hpp"
#include "schedulers/distributed/palette.hpp"

namespace nuice::mpi {

struct Facts;

/// The only scheduler of Planning::distributed.
inline constexpr std::string_view distributed_scheduler = "distributed_coloring";

/// A method that the user's own exchanges try now and then, to see whether it is faster than the one that was chosen.
struct Rival {
  const Executor& executor;
  PlanOptions options;
  std::string differs_in;  ///< From the plan's options, as people write them.
  std::string scheduler;
  std::optional<PhaseTable> table;  ///< Of a schedule that forwards; none: the plan's messages, combined.
};

/// What was made.
struct Made {
  std::vector<Partner> destinations;  ///< Each once.
  Slice slice;
  bool lists_twice = false;  ///< Some rank lists another one several times.
  PlanInfo info;
  std::optional<Advice> advice;  ///< Only for the scheduler "auto".
  PlanOptions settled_options;   ///< With what "auto" has chosen.
  std::vector<Rival> rivals;     ///< Equal on all ranks; empty where nothing is tried.
  std::optional<distributed::Palette>
      palette;  ///< Of a plan that was coloured without a matrix: for follow().
};

/// Where this rank's host stands among others.
struct HostView {
  std::vector<Rank> near;                  ///< This host's ranks, ascending; empty where no two share a host.
  std::shared_ptr<const HostGroup> group;  ///< Where messages are combined, unless the schedule does.
  bool is_over_tcp = false;                ///< Between its hosts.
};

struct Plan::Planner : Made {
  class Chooser;

  /// joined: on the communicator of the plan, before anything else.
  explicit Planner(std::shared_ptr<TagSpace> joined, Membership its_member = {})
      : tags(std::move(joined)), comm(tags->comm), member(std::move(its_member)) {}

  /// Collective over parent. What Plan() does.
  void plan_for(MPI_Comm parent, std::span<const Partner> all_destinations, const PlanOptions& given);
  /// What Plan::from_table() does.
  void take_table(MPI_Comm parent, const PhaseTable& given, const PlanOptions& wanted);
  /// What Plan::follow() does.
  void follow(const Made& earlier, std::span<const Partner> all_destinations, const Outcome& fault);
  /// What Plan::follow_on() does. earlier: freed, perhaps.
  void follow_on(MPI_Comm parent, const State& earlier, const Outcome& fault);
  /// As settled for another plan.
  void take_over(const Made& earlier);
  std::unique_ptr<State> finished() &&;

  // hosts.cpp
  /// Collective. Sets `hosts`, shares_ports, info.num_hosts and view.near.
  void find_hosts(const PlanOptions& options);
  /// Collective. Sets shares_ports, info.num_hosts and view.near, where no rank keeps a list of all ranks.
  void find_near_ranks(const PlanOptions& options);
  /// Collective. Which ranks of a host exchange with other hosts, where messages are combined. Forgets `hosts`.
  void find_leaders();
  /// Throws Error mismatch where the schedule is wrong, which is a bug.
  static void require_correct_for(const Problem& problem, const Schedule& schedule,
                                  const Scheduler& scheduler);
  /// Throws Error not_applicable if messages are forwarded and the executor has no phases, or messages are combined.
  void require_suitable(const Scheduler& scheduler, const Executor& executor) const;

  /// Collective.
  PlanOptions agree_on_options(const PlanOptions& given);
  /// Collective over parent. Is one of its plans from now on.
  void become_member(MPI_Comm parent, double watchdog_s_given);
  /// Collective. Once all agree on the options. earlier: the plan that is followed, or nullptr.
  void plan_listed(std::span<const Partner> all_destinations, const PlanOptions& options,
                   const Made* earlier);
  /// Collective. The same, once `destinations` is there.
  void plan_merged(const PlanOptions& options, const Scheduler* scheduler, const Made* earlier);
  /// What the options say, in `info` too.
  void describe(const PlanOptions& options);
  /// Fills `info` but for the times.
  void describe(const CommMatrix& matrix, const Schedule& schedule, const PlanOptions& options);
  /// Collective. Makes and checks the schedule and keeps this rank's slice; the times are this rank's own. options: name scheduler and
  /// executor. known: the schedule, if it has been made already.
  void make(const Problem& problem, const PlanOptions& options, const Schedule* known = nullptr);
  /// Collective. As make(), once it has chosen scheduler and executor.
  void choose_and_make(const CommMatrix& matrix, const PlanOptions& options);
  /// This rank's slice; empty for executors that wait for no notices.
  Notices notices_for(const Schedule& schedule, const Topology* topology, const PlanOptions& options) const;
  /// Collective. As make(), by all ranks together, none of which has the matrix.
  /// earlier: a plan with a palette to begin from, or nullptr.
  void plan_distributed(const PlanOptions& options, const Made* earlier);
  // Either of these, of plan_distributed().
  bool gathers_after_all(const PlanOptions& options) const;
  void plan_gathered(PlanOptions options);
  void plan_in_pairs(const PlanOptions& options, const Made* earlier);
  /// Collective. Checks the table with its partners, and learns what all have together; nothing is gathered.
  void take_distributed(const PlanOptions& options);
  void describe_distributed(const PlanOptions& options, const Facts& facts,
                            const std::vector<Bytes>& largest);
  /// Collective. The end of take_table().
  void list_as_in_table();
  /// Collective. Sets the times to their maxima over the ranks, and view.is_over_tcp.
  void agree_on_times();

  std::shared_ptr<TagSpace> tags;
  std::shared_ptr<const Communicator> comm;  // theirs, while planning
  Membership member;
  HostView view;
  std::optional<Hosts> hosts;  // where ports are those of hosts: for combining, and for the adviser
  bool shares_ports = false;   // somewhere several ranks share a host
};

/// What a plan keeps.
struct Plan::State {
  std::shared_ptr<TagSpace> tags;            // of its exchanges; perhaps shared with other plans
  std::shared_ptr<const Communicator> comm;  // theirs; shared with the exchanges, which may outlive the plan
  Membership member;
  std::shared_ptr<const Made> made;
  HostView view;
};

/// Not collective. Refuses what CommMatrix::from_messages() would not see after the gather, or would see too late: a
/// zero-byte message is not gathered, and a rank that does not exist would not be gathered as one.
void check_destinations(const Communicator& comm, std::span<const Partner> destinations);

/// Throws Error not_applicable for executors without phases: they would send what is only to arrive.
void require_phases_to_forward(const std::string& who, const Executor& executor);

/// Seconds since the last call; the first counts from construction.
class StopWatch {
 public:
  double lap() {
    const double before = last_s_;
    last_s_ = MPI_Wtime();
    return last_s_ - before;
  }

 private:
  double last_s_ = MPI_Wtime();
};

}  // namespace nuice::mpi
