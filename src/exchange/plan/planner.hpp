// SPDX-License-Identifier: BSD-3-Clause
// Makes a plan, on all ranks together. The result does not change during the life of the plan. Memory grows
// with this rank's own messages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/bind/layout.hpp"
#include "exchange/combine/host_group.hpp"
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

/// A method that the user's own exchanges try from time to time, because it may be faster than the chosen
/// method.
struct Rival {
  const Executor& executor;
  PlanOptions options;
  std::string differs_in;  ///< The difference from the plan's options, as a string.
  std::string scheduler;
  /// The table of a schedule that forwards. A rival without a table combines the plan's messages.
  std::optional<PhaseTable> table;
};

/// The result of planning.
struct Made {
  std::vector<Partner> destinations;  ///< Each rank once.
  Slice slice;
  bool lists_twice = false;  ///< Whether any rank lists a partner several times.
  PlanInfo info;
  std::optional<Advice> advice;  ///< Only for the scheduler "auto".
  PlanOptions settled_options;   ///< The options, with the choices of "auto".
  std::vector<Rival> rivals;     ///< Equal on all ranks; empty if nothing is tried.
  /// The palette of a plan that was coloured without a matrix, for follow().
  std::optional<distributed::Palette> palette;
};

/// This rank's host, and how it is connected with others.
struct HostView {
  /// This host's ranks, ascending; empty if no two ranks share a host.
  std::vector<Rank> near;
  /// Set if the library combines messages, and not the schedule.
  std::shared_ptr<const HostGroup> group;
  bool is_over_tcp = false;  ///< Whether its hosts are connected by TCP.
};

struct Plan::Planner : Made {
  class Chooser;

  /// joined: the communicator of the plan, made before everything else.
  explicit Planner(std::shared_ptr<TagSpace> joined, Membership its_member = {})
      : tags(std::move(joined)), comm(tags->comm), member(std::move(its_member)) {}

  /// Collective over parent. Implements Plan().
  void plan_for(MPI_Comm parent, std::span<const Partner> all_destinations, const PlanOptions& given);
  /// Implements Plan::from_table().
  void take_table(MPI_Comm parent, const PhaseTable& given, const PlanOptions& wanted);
  /// Implements Plan::follow().
  void follow(const Made& earlier, std::span<const Partner> all_destinations, const Outcome& fault);
  /// Implements Plan::follow_on(). The plan `earlier` may have been freed.
  void follow_on(MPI_Comm parent, const State& earlier, const Outcome& fault);
  /// Takes over the decisions of an earlier plan.
  void take_over(const Made& earlier);
  std::unique_ptr<State> finished() &&;

  // hosts.cpp
  /// Collective. Sets `hosts`, shares_ports, info.num_hosts and view.near.
  void find_hosts(const PlanOptions& options);
  /// Collective. Sets shares_ports, info.num_hosts and view.near when planning is distributed, so that no
  /// rank keeps a list of all ranks.
  void find_near_ranks(const PlanOptions& options);
  /// Collective. If messages are combined, finds the ranks of a host that exchange with other hosts. Frees
  /// `hosts`.
  void find_leaders();
  /// Throws Error `mismatch` if the schedule is wrong, which is a bug.
  static void require_correct_for(const Problem& problem, const Schedule& schedule,
                                  const Scheduler& scheduler);
  /// Throws Error `not_applicable` if messages are forwarded and the executor has no phases, or if messages
  /// are forwarded and combined.
  void require_suitable(const Scheduler& scheduler, const Executor& executor) const;

  /// Collective.
  PlanOptions agree_on_options(const PlanOptions& given);
  /// Collective over parent. Makes this plan a member of the parent's plans.
  void become_member(MPI_Comm parent, double watchdog_s_given);
  /// Collective. Plans after all ranks have agreed on the options. earlier: the plan that is followed, or
  /// nullptr.
  void plan_listed(std::span<const Partner> all_destinations, const PlanOptions& options,
                   const Made* earlier);
  /// Collective. Plans after `destinations` is set.
  void plan_merged(const PlanOptions& options, const Scheduler* scheduler, const Made* earlier);
  /// Fills settled_options and `info` from the options.
  void describe(const PlanOptions& options);
  /// Fills `info` except for the times.
  void describe(const CommMatrix& matrix, const Schedule& schedule, const PlanOptions& options);
  /// Collective. Makes and checks the schedule, and keeps this rank's part. The times in `info` are those of
  /// this rank. options: must name scheduler and executor. known: the schedule, if it has been made already.
  void make(const Problem& problem, const PlanOptions& options, const Schedule* known = nullptr);
  /// Collective. Chooses scheduler and executor, and then does what make() does.
  void choose_and_make(const CommMatrix& matrix, const PlanOptions& options);
  /// Returns this rank's notifications. They are empty if the executor needs none.
  Notices notices_for(const Schedule& schedule, const Topology* topology, const PlanOptions& options) const;
  /// Collective. Does what make() does, but all ranks make the schedule together, and no rank has the matrix.
  /// earlier: a plan with a palette to begin with, or nullptr.
  void plan_distributed(const PlanOptions& options, const Made* earlier);
  // plan_distributed() calls one of these.
  bool gathers_after_all(const PlanOptions& options) const;
  void plan_gathered(PlanOptions options);
  void plan_in_pairs(const PlanOptions& options, const Made* earlier);
  /// Collective. Compares the table with the tables of the partners, and learns the facts about all messages.
  /// Gathers nothing.
  void take_distributed(const PlanOptions& options);
  void describe_distributed(const PlanOptions& options, const Facts& facts,
                            const std::vector<Bytes>& largest);
  /// Collective. The end of take_table().
  void list_as_in_table();
  /// Collective. Sets the times to their maxima over the ranks, and view.is_over_tcp.
  void agree_on_times();

  std::shared_ptr<TagSpace> tags;
  std::shared_ptr<const Communicator> comm;  // the tags' communicator, while planning
  Membership member;
  HostView view;
  std::optional<Hosts> hosts;  // if ports belong to hosts: for combining, and for the adviser
  bool shares_ports = false;   // whether several ranks share any host
};

/// The state of a plan.
struct Plan::State {
  std::shared_ptr<TagSpace> tags;  // for its exchanges; may be shared with other plans
  // the tags' communicator; shared with the exchanges, which may outlive the plan
  std::shared_ptr<const Communicator> comm;
  Membership member;
  std::shared_ptr<const Made> made;
  HostView view;
};

/// Not collective. Refuses destinations that CommMatrix::from_messages() cannot refuse after the gather:
/// messages of zero bytes are not gathered, and a message to a rank that does not exist cannot be gathered.
void check_destinations(const Communicator& comm, std::span<const Partner> destinations);

/// Throws Error `not_applicable` for an executor without phases, which would forward data before the data has
/// arrived.
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
