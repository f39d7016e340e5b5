// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/plan_group.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "mpi/agree.hpp"
#include "mpi/attribute.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// The attribute of the user's communicator.
using Holder = std::shared_ptr<PlanGroup>;

constexpr std::array form_names = {"buffers", "array", "fields", "none", "halo", "follow", "messages"};
constexpr std::int64_t refused = -1;  // no code of a call is negative
constexpr auto num_calls = static_cast<std::int64_t>(2 * form_names.size());

/// Returns a number for the call that a rank is about to make.
std::int64_t code_of(const PendingCall& pending) {
  if (pending.refusal != nullptr) return refused;
  const auto form = static_cast<std::int64_t>(pending.call.form);
  const auto direction = static_cast<std::int64_t>(pending.call.direction);
  return (2 * pending.member + (pending.plan_is_freed ? 1 : 0)) * num_calls + 2 * form + direction;
}

std::string words(std::int64_t code) {
  const auto call = static_cast<std::size_t>(code % num_calls);
  const std::string whose = " of plan " + std::to_string(code / num_calls / 2);
  if (call / 2 == static_cast<std::size_t>(Form::none)) return "the making" + whose;
  if (call / 2 == static_cast<std::size_t>(Form::halo)) return "the making of a halo";
  if (call / 2 == static_cast<std::size_t>(Form::follow)) return "follow()" + whose;
  return std::string("bind(") + form_names[call / 2] + (call % 2 == 0 ? ")" : ", backwards)") + whose;
}

}  // namespace

std::shared_ptr<PlanGroup> PlanGroup::find(MPI_Comm parent) {
  const Holder* const holder = find_attribute<Holder>(parent);
  return holder != nullptr ? *holder : nullptr;
}

std::shared_ptr<PlanGroup> PlanGroup::of(MPI_Comm parent, const Communicator& comm) {
  return attribute_of<Holder>(parent,
                              [&] { return std::make_unique<Holder>(std::make_shared<PlanGroup>(comm)); });
}

std::shared_ptr<TagSpace> PlanGroup::tags_for_plan(MPI_Comm parent, double watchdog_s) {
  check_parent(parent);
  const std::shared_ptr<PlanGroup> group = find(parent);
  if (group)
    if (auto tags = group->require_same({group->num_members_ + 1, {Form::none}, false}, watchdog_s))
      return tags;
  return std::make_shared<TagSpace>(TagSpace{duplicate(parent, watchdog_s, group ? &group->comm_ : nullptr)});
}

std::shared_ptr<TagSpace> PlanGroup::tags_beside(const PendingCall& pending, double watchdog_s) {
  std::shared_ptr<TagSpace> tags = require_same(pending, watchdog_s);
  if (!tags) tags = std::make_shared<TagSpace>(TagSpace{duplicate(comm_.get(), watchdog_s, &comm_)});
  share(tags);
  return tags;
}

void PlanGroup::share(const std::shared_ptr<TagSpace>& tags) {
  if (!tags->comm->watches()) {
    if (!has_shared()) shared_ = tags;
  } else if (std::ranges::find(kept_, tags, &Kept::tags) == kept_.end()) {
    kept_.push_back({++num_kept_, tags});
  }
}

std::int64_t PlanGroup::first_idle() {
  std::erase_if(kept_, [](const Kept& kept) { return kept.tags->comm->is_given_up(); });
  const auto found = std::ranges::find_if(kept_, &Kept::is_idle);
  return found == kept_.end() ? -1 : found->number;
}

std::shared_ptr<const Communicator> PlanGroup::communicator_for_halo(MPI_Comm parent, double watchdog_s) {
  check_parent(parent);
  const std::shared_ptr<PlanGroup> group = find(parent);
  if (group)
    if (const auto tags = group->require_same({0, {Form::halo}, false}, watchdog_s);
        tags && tags != group->shared_)
      return tags->comm;
  auto comm = duplicate(parent, watchdog_s, group ? &group->comm_ : nullptr);
  if (comm->watches()) of(parent, *comm)->share(std::make_shared<TagSpace>(TagSpace{comm}));
  return comm;
}

std::shared_ptr<TagSpace> PlanGroup::require_same(const PendingCall& pending, double watchdog_s,
                                                  bool* on_device) {
  if (comm_.is_given_up())
    throw Error(ErrorCode::state,
                "plans of this communicator can no longer be used, because a rank died or did not answer");
  comm_.set_watchdog(watchdog_s);
  std::shared_ptr<TagSpace> tags;
  naming_dead_ranks(comm_, [&] {
    const std::int64_t mine = code_of(pending);
    const bool would_share = has_shared() && watchdog_s <= 0 && !tells_of_deaths();
    const std::int64_t idle = first_idle();
    const std::int64_t device = pending.call.is_on_device ? -1 : 0;
    std::array<std::int64_t, 6> least = {mine, -mine, would_share ? 1 : 0, idle, -idle, device};
    all_reduce(comm_, MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN);
    if (on_device != nullptr) *on_device = least[5] != 0;
    if (least[2] != 0) {
      tags = shared_;
    } else if (idle >= 0 && least[3] == -least[4]) {
      tags = std::ranges::find(kept_, idle, &Kept::number)->tags;
      tags->comm->set_watchdog(watchdog_s);
    }
    if (least[0] == -least[1]) return;
    std::int64_t first = mine;
    broadcast(comm_, &first, 1, MPI_INT64_T, 0);
    all_or_none(comm_, [&] {
      const std::string who = "rank " + std::to_string(comm_.rank());
      if (pending.refusal != nullptr) throw Error(*pending.refusal);
      if (pending.plan_is_freed)
        throw Error(ErrorCode::state, who + ": " + words(mine) + ", which was freed");
      if (first == refused) return;  // rank 0 throws
      if (mine != first && words(mine) != words(first))
        throw Error(ErrorCode::mismatch, "the ranks do not do the same: " + words(first) + " on rank 0, " +
                                             words(mine) + " on " + who +
                                             " (plans are counted in the order in which they were made)");
    });
  });
  if (pending.refusal != nullptr) throw Error(*pending.refusal);  // all ranks refuse
  if (pending.plan_is_freed) throw Error(ErrorCode::state, "the plan was freed");
  return tags;
}

}  // namespace nuice::mpi
