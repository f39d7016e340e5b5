// SPDX-License-Identifier: BSD-3-Clause
// Makes a plan for some of the ranks of another plan, such as the ranks that are left after a death. The
// other plan's communicator may be broken; only its group is used.
#include <array>
#include <numeric>
#include <string>

#include "core/text/names.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/observing.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

class Group {
 public:
  explicit Group(const Communicator& comm) { must(MPI_Comm_group(comm.get(), &group_), "MPI_Comm_group"); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { MPI_Group_free(&group_); }
  /// Returns the number that each rank of this group has in another group; MPI_UNDEFINED if it is not in that
  /// group.
  std::vector<Rank> numbers_in(const Group& other) const {
    int size = 0;
    must(MPI_Group_size(group_, &size), "MPI_Group_size");
    std::vector<Rank> numbers(static_cast<std::size_t>(size));
    std::vector<Rank> all(numbers.size());
    std::iota(all.begin(), all.end(), 0);
    must(MPI_Group_translate_ranks(group_, size, all.data(), other.group_, numbers.data()),
         "MPI_Group_translate_ranks");
    return numbers;
  }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// Returns the partners that are in the new communicator, with their ranks in it.
std::vector<Partner> left_of(std::span<const Partner> partners, const std::vector<Rank>& new_numbers) {
  std::vector<Partner> left;
  for (const auto& [rank, bytes] : partners)
    if (const Rank number = new_numbers[static_cast<std::size_t>(rank)]; number != MPI_UNDEFINED)
      left.push_back({number, bytes});
  return left;
}

/// Returns option hosts for the new ranks. A single number would mean ranks per host.
std::string hosts_of(const std::vector<Rank>& old_numbers, const Hosts& hosts) {
  if (old_numbers.size() == 1) return "1";
  std::string text;
  for (const Rank rank : old_numbers) text += (text.empty() ? "" : ",") + std::to_string(hosts.host_of(rank));
  return text;
}

/// Collective. Throws Error `mismatch` unless all ranks call follow_on() of the same plan.
void require_same_plan(const Communicator& comm, std::int64_t number) {
  std::array<std::int64_t, 2> least = {number, -number};
  all_reduce(comm, MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN);
  if (least[0] != -least[1])
    throw Error(ErrorCode::mismatch,
                "the ranks do not do the same: follow_on() of plan " + std::to_string(least[0]) +
                    " on one, of plan " + std::to_string(-least[1]) +
                    " on another (plans are counted in the order in which they were made)");
}

}  // namespace

void Plan::Planner::follow_on(MPI_Comm parent, const State& earlier, const Outcome& fault) {
  const Observed observed(Region::plan);
  become_member(parent, earlier.member.watchdog_s);
  agree(*comm, fault);
  require_same_plan(*comm, earlier.member.number);
  std::vector<Partner> left;
  PlanOptions options;
  all_or_none(*comm, [&] {
    if (!earlier.made) throw Error(ErrorCode::state, rank_name(comm->rank()) + ": the plan was freed");
    const Group before(*earlier.comm);
    const Group now(*comm);
    const std::vector<Rank> old_numbers = now.numbers_in(before);
    for (std::size_t rank = 0; rank < old_numbers.size(); ++rank)
      if (old_numbers[rank] == MPI_UNDEFINED)
        throw Error(ErrorCode::invalid_argument,
                    rank_name(static_cast<Rank>(rank)) + " of the communicator does not belong to the plan");
    left = left_of(earlier.made->slice.send_to, before.numbers_in(now));
    options = earlier.made->settled_options;
    if (!options.hosts.empty() && options.hosts != auto_name && options.hosts != "1")
      options.hosts = hosts_of(old_numbers, parse_hosts(options.hosts, earlier.comm->num_ranks()));
  });
  take_over(*earlier.made);
  plan_listed(left, options, nullptr);
}

}  // namespace nuice::mpi
