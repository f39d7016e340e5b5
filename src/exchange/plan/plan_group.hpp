// SPDX-License-Identifier: BSD-3-Clause
// The plans of one communicator. They share a duplicate of it, on which each exchange has tags of its own: MPICH has 2,048
// communicators. Plans that watch (PlanOptions::watchdog_s, an MPI that tells of deaths) have one each, as it may be given up; when
// no rank uses it any more, the next of them takes it. So programs whose plans change make no communicators: each takes
// MPI milliseconds on a slow network, and a death meanwhile ends all ranks (Open MPI 5.0.11: ompi_comm_revoke_local()).
// Ranks that bind different plans, or of which one makes a plan, would wait for each other forever; before anything else they
// compare on a common communicator what they are about to do.
//
// Both are made with the first plan, and an attribute of the user's communicator keeps them as long as that lives: so all
// ranks have them or none has.
// Cost: an allreduce per plan but the first and one per bind; two duplicates per communicator of the user's, and one for each
// plan or halo with a watchdog, in addition to others.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// What is bound; none: a plan is made; halo: one of these is made; follow: a plan is made from another.
enum class Form { buffers, array, fields, none, halo, follow, messages };

struct BindCall {
  Form form;
  Direction direction = Direction::forwards;
  bool is_on_device = false;  ///< Any memory of this rank, which others need not have.
};

/// A communicator of plans, and the tags of the next exchange on it: the same on all ranks, as bind() is collective.
struct TagSpace {
  std::shared_ptr<const Communicator> comm;
  int next = 0;

  /// Tags that no other exchange gets, and the communicator that has them. Collective where they run out.
  TagSpace take() {
    const TagSpace taken = *this;
    take_tags(comm, next);
    return taken;
  }
};

/// What a rank is about to do with a plan.
struct PendingCall {
  std::int64_t member;  // the plan's number
  BindCall call;
  bool plan_is_freed;
  const Error* refusal = nullptr;  // why it cannot
};

class PlanGroup {
 public:
  /// Collective over parent; comm: the new plan's duplicate of it. The group of the plans before, or a new one.
  static std::shared_ptr<PlanGroup> of(MPI_Comm parent, const Communicator& comm);
  explicit PlanGroup(const Communicator& comm) : comm_(comm, Communicator::watching) {}
  PlanGroup(const PlanGroup&) = delete;
  PlanGroup& operator=(const PlanGroup&) = delete;

  /// Collective over parent. The one that the plans share, or where there is none for this plan a new duplicate. Throws as
  /// require_same() does unless all ranks are about to make a plan, and as Communicator() for a communicator that cannot have one.
  static std::shared_ptr<TagSpace> tags_for_plan(MPI_Comm parent, double watchdog_s);
  /// Collective. Likewise, for one that is made from another; throws as require_same().
  std::shared_ptr<TagSpace> tags_beside(const PendingCall& pending, double watchdog_s);
  /// Collective. For a halo, which makes its plans on it. Throws likewise.
  static std::shared_ptr<const Communicator> communicator_for_halo(MPI_Comm parent, double watchdog_s);

  /// The new plan's number: 1, 2, ... in the order in which they are made, the same on all ranks.
  std::int64_t add() { return ++num_members_; }
  /// Collective. Plans to come share it, or if it has a watchdog, the next one takes it when no rank uses it.
  void share(const std::shared_ptr<TagSpace>& tags);
  /// Collective. Throws Error, the same on all ranks: mismatch unless all of them are here with the same plan and call; state
  /// where the plan was freed, be it on one rank; a rank's refusal, if there is one. Returns a communicator that will do: the shared one, if on all ranks it is there
  /// and none watches; or one that all ranks keep and none uses; or nothing.
  /// on_device: set if that of any rank is.
  std::shared_ptr<TagSpace> require_same(const PendingCall& pending, double watchdog_s,
                                         bool* on_device = nullptr);

 private:
  static std::shared_ptr<PlanGroup> find(MPI_Comm parent);

  bool has_shared() const { return shared_ && !shared_->comm->is_given_up(); }

  /// Of plans and halos that watch. number: the same on all ranks.
  struct Kept {
    std::int64_t number;
    std::shared_ptr<TagSpace> tags;
    bool is_idle() const { return tags.use_count() == 1 && tags->comm.use_count() == 1; }
  };
  /// The lowest number of an unused one on this rank; -1: none.
  std::int64_t first_idle();

  Communicator comm_;
  std::shared_ptr<TagSpace> shared_;
  std::vector<Kept> kept_;
  std::int64_t num_kept_ = 0;  // ever
  std::int64_t num_members_ = 0;
};

/// A plan's place among the others. It keeps it when it is freed, so that a rank that binds it all the same is heard by the
/// others.
struct Membership {
  std::shared_ptr<PlanGroup> group;
  std::int64_t number = 0;
  bool plan_is_freed = false;
  double watchdog_s = 0;

  /// Collective over parent.
  static Membership of(MPI_Comm parent, const std::shared_ptr<const Communicator>& comm, double watchdog_s) {
    const auto group = PlanGroup::of(parent, *comm);
    return {.group = group, .number = group->add(), .watchdog_s = watchdog_s};
  }
  /// Collective, of a plan that follows this one. Throws Error state where this was freed, mismatch where ranks follow different
  /// plans or do something else. tags: where the new plan sends from now on.
  Membership beside(std::shared_ptr<TagSpace>& tags) const {
    tags = group->tags_beside({number, {Form::follow}, plan_is_freed}, watchdog_s);
    return {.group = group, .number = group->add(), .watchdog_s = watchdog_s};
  }
  /// Returns whether any rank has memory on a device.
  bool require_same(const BindCall& call) const {
    bool on_device = false;
    group->require_same({number, call, plan_is_freed}, watchdog_s, &on_device);
    return on_device;
  }
  /// Instead of require_same(): all ranks throw it.
  void refuse(const Error& why) const {
    group->require_same({number, {Form::none}, plan_is_freed, &why}, watchdog_s);
  }
  /// As it is after the plan was freed.
  Membership of_freed() const {
    return {.group = group, .number = number, .plan_is_freed = true, .watchdog_s = watchdog_s};
  }
};

}  // namespace nuice::mpi
