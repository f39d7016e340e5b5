// SPDX-License-Identifier: BSD-3-Clause
// What a plan keeps; memory grows with this rank's own messages. For plan.cpp, from_table.cpp and bind.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/bind/layout.hpp"
#include "exchange/combine/combine.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/learn/learning_run.hpp"
#include "exchange/plan/bind_devices.hpp"
#include "exchange/plan/listing.hpp"
#include "exchange/plan/plan_group.hpp"
#include "exchange/shared_memory/near_messages.hpp"
#include "mpi/communicator.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice/plan/scheduler.hpp"
#include "schedulers/distributed/palette.hpp"

namespace nuice::mpi {

struct CheckedMessages;
struct Facts;

/// What a schedule is made from. The schedule itself, if somebody has made it already.
struct Assignment {
  Problem problem;
  const Scheduler& scheduler;
  const Executor& executor;
  const Schedule* schedule = nullptr;
};

/// What the user's own exchanges are carried out by now and then, beside what was chosen, to see whether it is faster.
struct Rival {
  const Executor& executor;
  PlanOptions options;
  std::string differs_in;  ///< From the plan's options, as people write them.
  std::string scheduler;
  std::optional<PhaseTable> table;  ///< None: the plan's.
  bool combines = false;            ///< Other than the plan.
};

struct Plan::State {
  class Chooser;

  std::shared_ptr<TagSpace> tags;            // perhaps shared with other plans
  std::shared_ptr<const Communicator> comm;  // theirs; shared with the exchanges, which may outlive the plan
  Membership member;
  std::vector<Partner> destinations;  // each once
  std::optional<Listing> listing;     // as the users gave them, where any rank lists one twice
  PhaseTable table;
  PlanInfo info;
  std::optional<Advice> advice;                 // only for the scheduler "auto"
  PlanOptions settled_options;                  // with what "auto" has chosen
  std::vector<Rival> rivals;                    // equal on all ranks; empty where nothing is tried
  KeepChoice keep_choice;                       // of what they show
  std::optional<distributed::Palette> palette;  // of a plan that was coloured without a matrix: for follow()
  std::vector<Rank> host_ranks;  // this host's ranks, ascending; empty where no two share a host
  Notices notices;               // for executors that wait for them
  bool relays = false;           // the schedule itself forwards what is combined (make_combined_schedule())
  std::shared_ptr<const HostGroup> group;  // else: where messages are combined
  bool is_over_tcp = false;                // between its hosts

  /// Collective over parent. Takes a communicator, before anything else.
  void join(MPI_Comm parent, double watchdog_s_given) {
    tags = PlanGroup::tags_for_plan(parent, watchdog_s_given);
    comm = tags->comm;
  }
  /// Collective over parent. Is one of its plans from now on.
  void become_member(MPI_Comm parent, double watchdog_s_given) {
    member = Membership::of(parent, comm, watchdog_s_given);
    member.group->share(tags);
  }

  /// Collective. Both, for a plan that follows another.
  void join_beside(const State& earlier) {
    member = earlier.member.beside(tags);
    comm = tags->comm;
  }

  /// What Plan() does.
  void plan_for(MPI_Comm parent, std::span<const Partner> all_destinations, const PlanOptions& given);
  /// What Plan::follow() does.
  void follow(const State& earlier, std::span<const Partner> all_destinations, const Outcome& fault);
  /// Collective. Once all agree on the options. earlier: the plan that is followed, or nullptr.
  void plan_listed(std::span<const Partner> all_destinations, const PlanOptions& options,
                   const State* earlier);
  /// Collective. The same, once `destinations` is there.
  void plan_merged(const PlanOptions& options, const Scheduler* scheduler, const State* earlier);
  /// What Plan::from_table() does.
  void take_table(MPI_Comm parent, const PhaseTable& given, const PlanOptions& wanted);
  /// What all functions that bind do, around what each of them does. plan: null if it has moved away.
  template <typename Bind>
  static Exchange binding(State* plan, const BindCall& call, Bind&& bind);
  using Bound = std::unique_ptr<Exchange::State>;
  Bound bind_buffers(const Way& way, bool is_backwards, std::span<const SendBuffer> send,
                     std::span<const ReceiveBuffer> receive, const Elsewhere& elsewhere = {});
  Bound bind_fields(const Way& way, bool is_backwards, std::span<const SendField> send,
                    std::span<const ReceiveField> receive, const Elsewhere& elsewhere = {});
  Bound bind_messages(const Way& way, std::span<const Outgoing> sends, std::span<const Incoming> receives,
                      bool on_device, bool is_in_place = false);
  Bound bind_in_place(const Way& way, std::span<const Incoming> messages, bool on_device);
  /// Of buffers or of messages with gaps, whichever any rank has.
  Bound bind_checked(const Way& way, bool is_backwards, const CheckedMessages& messages,
                     const Elsewhere& elsewhere = {});
  Bound bind_typed(const Way& way, const CheckedMessages& messages, const Elsewhere& elsewhere);
  /// What all of these end with. prepare(exchange): what differs.
  template <typename Prepare>
  Bound bind_layout(const Way& way, BindCall call, const Layout& layout, const Elsewhere& elsewhere,
                    Prepare&& prepare);
  // The same where the memory of any rank lies on a device.
  Bound bind_device_buffers(const Way& way, bool is_backwards, std::span<const SendBuffer> send,
                            std::span<const ReceiveBuffer> receive);
  Bound bind_device_fields(const Way& way, bool is_backwards, std::span<const SendField> send,
                           std::span<const ReceiveField> receive);
  Bound bind_device_messages(const Way& way, bool is_backwards, const CheckedMessages& messages,
                             bool is_in_place);
  /// For these. bind(run, elsewhere): binds to the mirrors of the run.
  template <typename Bind>
  Bound bind_by_device(const Way& way, const DeviceSides& sides, Bound exchange, Bind&& bind);
  /// What bind_layout() does with the option parts.
  template <typename Prepare>
  Bound bind_parts(const Way& way, const Layout& layout, bool on_device, Prepare&& prepare);
  std::string why_not_direct() const;
  // For these: all but the last may fail on one rank only; that is collective.
  std::unique_ptr<Exchange::State> new_exchange() const;
  /// Collective. What travels combined of this exchange. Takes tags of its own.
  Combined combined_for(const PlanOptions& options, const Way& way, const Layout& layout);
  /// Collective. What of the rest goes through memory of hosts. Takes tags of its own.
  NearMessages near_messages_for(const Way& way, const Combined& combined, const Layout& layout);
  /// What binding needs of a rival, and at the end, tags of their reports.
  struct RivalParts {
    TagSpace tags;
    Combined combined;
  };
  /// Collective.
  std::vector<RivalParts> parts_of_rivals(const Way& way, const Layout& layout, bool may_combine);
  void set_run(Exchange::State& exchange, const Way& way, BindCall call, const Layout& layout,
               Combined combined, NearMessages near, const RunSettings& settings,
               std::vector<RivalParts> of_rivals) const;
  /// Not collective. By the plan's executor, or by all that are tried.
  std::unique_ptr<Run> bind_methods(Exchange::State& exchange, const PhaseTable& rest, BindCall call,
                                    const Layout& layout, const RunSettings& settings,
                                    std::vector<RivalParts> of_rivals) const;
  Bound finish_bind(Bound exchange, const PhaseTable& way);
  std::span<const Partner> listed_destinations() const {
    return listing ? listing->destinations : destinations;
  }
  std::span<const Partner> listed_sources() const { return listing ? listing->sources : table.sources; }

  std::optional<Hosts> hosts;  // while planning, if it is hosts that are scheduled
  bool shares_ports = false;   // somewhere several ranks share a host

  // hosts.cpp
  /// Collective. Sets `hosts`, shares_ports, info.num_hosts and host_ranks.
  void find_hosts(const PlanOptions& options);
  /// Collective. Sets shares_ports, info.num_hosts and host_ranks, where no rank keeps a list of all ranks.
  void find_near_ranks(const PlanOptions& options);
  /// Collective. Which ranks of a host exchange with other hosts, where messages are combined. Forgets `hosts`.
  void find_leaders();
  /// By `scheduler`, for hosts if there are any.
  Schedule make_schedule_for(const Problem& problem, const Scheduler& scheduler) const;
  /// Throws Error mismatch where the schedule is wrong, which is a bug.
  void require_correct_for(const Problem& problem, const Schedule& schedule,
                           const Scheduler& scheduler) const;
  /// Schedulers that forward messages between hosts combine them so. Throws Error not_applicable if messages are forwarded
  /// and the executor has no phases.
  void settle_form(const Scheduler& scheduler, const Executor& executor);

  /// Collective.
  PlanOptions agree_on_options(const PlanOptions& given);
  /// What the options say, in `info` too.
  void describe(const PlanOptions& options);
  /// Fills `info` but for the times.
  void describe(const CommMatrix& matrix, const Schedule& schedule, const PlanOptions& options);
  /// Collective. Makes and checks the schedule and keeps this rank's slice, as options.planning says; the times are this
  /// rank's own.
  void make(const Assignment& assignment, PlanOptions options);
  /// Collective. As make(), once it has chosen scheduler and executor.
  void choose_and_make(const CommMatrix& matrix, const PlanOptions& options);
  /// Collective. As make(), by rank 0, which alone has the problem's matrix; the others get their slices.
  void make_on_root(const Assignment& assignment, const PlanOptions& options);
  /// The slices of ranks begin to end - 1; empty ones for executors that wait for no notices.
  static std::vector<Notices> notices_for(const Schedule& schedule, const Topology* topology,
                                          const PlanOptions& options, Rank begin, Rank end);
  /// Collective. As make(), by all ranks together, none of which has the matrix.
  /// earlier: a plan with a palette to begin from, or nullptr.
  void plan_distributed(const PlanOptions& options, const State* earlier);
  // Either of these, of plan_distributed().
  bool gathers_after_all(const PlanOptions& options) const;
  void plan_gathered(PlanOptions options, bool hosts_first);
  void plan_in_pairs(const PlanOptions& options, const State* earlier, bool hosts_first);
  /// Collective. Checks the table with its partners, and learns what all have together; nothing is gathered.
  void take_distributed(const PlanOptions& options);
  void describe_distributed(const PlanOptions& options, const Facts& facts,
                            const std::vector<Bytes>& largest);
  /// Collective. Rank 0's facts on all ranks, but for texts and times.
  void share_info();
  /// Collective. Sets the times to their maxima over the ranks, and is_over_tcp.
  void agree_on_times();
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
