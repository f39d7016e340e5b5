// SPDX-License-Identifier: BSD-3-Clause
// The plans of one communicator share a duplicate of it, on which each exchange has its own tags, because
// MPICH has only 2,048 communicators. A plan that watches for dead ranks (PlanOptions::watchdog_s, or an MPI
// that reports deaths) has its own communicator, because it may be given up. When no rank uses it any more,
// the next such plan takes it. So programs whose plans change make no new communicators. Making one takes
// milliseconds on a slow network, and a death during this time ends all ranks (Open MPI 5.0.11:
// ompi_comm_revoke_local()).
// If ranks bound different plans, or a rank made a plan while others bind, they would wait forever.
// So they first compare, on a common communicator, what they are about to do.
//
// The shared duplicate and the common communicator are made with the first plan. An attribute of the user's
// communicator keeps them as long as that communicator exists. So either all ranks have them or no rank has.
// Cost: an allreduce for each plan but the first, and one for each bind. Memory: two duplicates per user's
// communicator, and one more for each plan or halo with a watchdog that is in use at the same time.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// A kind of collective call. `buffers`, `array`, `fields`, `messages`: bind() of memory in this form.
/// `none`: a plan is made. `halo`: a halo is made. `follow`: a plan is made from another plan.
enum class Form { buffers, array, fields, none, halo, follow, messages };

struct BindCall {
  Form form;
  Direction direction = Direction::forwards;
  bool is_on_device = false;  ///< Whether any memory of this rank is on a device; other ranks may differ.
};

/// A communicator of plans, and the first free tag on it. The tag is the same on all ranks, because bind() is
/// collective.
struct TagSpace {
  std::shared_ptr<const Communicator> comm;
  int next = 0;

  /// Takes tags that no other exchange gets, and returns them with their communicator. Collective if the tags
  /// run out.
  TagSpace take() {
    const TagSpace taken = *this;
    take_tags(comm, next);
    return taken;
  }
};

/// A call that a rank is about to make.
struct PendingCall {
  std::int64_t member;  // the plan's number
  BindCall call;
  bool plan_is_freed;
  const Error* refusal = nullptr;  // why the rank cannot make the call
};

class PlanGroup {
 public:
  /// Collective over parent. Returns the group of earlier plans, or a new group. comm: the new plan's
  /// duplicate of parent.
  static std::shared_ptr<PlanGroup> of(MPI_Comm parent, const Communicator& comm);
  explicit PlanGroup(const Communicator& comm) : comm_(comm, Communicator::watching) {}
  PlanGroup(const PlanGroup&) = delete;
  PlanGroup& operator=(const PlanGroup&) = delete;

  /// Collective over parent. Returns the communicator that the plans share, or a new duplicate if this plan
  /// cannot share it. Throws like require_same() unless all ranks are about to make a plan, and like
  /// Communicator() if MPI cannot duplicate parent.
  static std::shared_ptr<TagSpace> tags_for_plan(MPI_Comm parent, double watchdog_s);
  /// Collective. Returns a communicator for a plan that is made from another plan. Throws like
  /// require_same().
  std::shared_ptr<TagSpace> tags_beside(const PendingCall& pending, double watchdog_s);
  /// Collective. Returns a communicator for a halo, which makes its plans on it. Throws like tags_for_plan().
  static std::shared_ptr<const Communicator> communicator_for_halo(MPI_Comm parent, double watchdog_s);

  /// Returns the new plan's number. Plans are numbered 1, 2, ... in the order in which they are made, on all
  /// ranks.
  std::int64_t add() { return ++num_members_; }
  /// Collective. Later plans share this communicator. If it has a watchdog, the next plan takes it once no
  /// rank uses it.
  void share(const std::shared_ptr<TagSpace>& tags);
  /// Collective. Throws the same Error on all ranks: `mismatch` unless all ranks make the same call with the
  /// same plan; `state` if any rank has freed the plan; or the error with which a rank refuses the call.
  /// Returns the shared communicator if all ranks have it and no rank has a watchdog. Otherwise returns a
  /// communicator that all ranks keep and no rank uses, or nothing if there is none. on_device: set to
  /// whether any rank uses device memory.
  std::shared_ptr<TagSpace> require_same(const PendingCall& pending, double watchdog_s,
                                         bool* on_device = nullptr);

 private:
  static std::shared_ptr<PlanGroup> find(MPI_Comm parent);

  bool has_shared() const { return shared_ && !shared_->comm->is_given_up(); }

  /// A communicator of plans and halos with a watchdog. number: the same on all ranks.
  struct Kept {
    std::int64_t number;
    std::shared_ptr<TagSpace> tags;
    bool is_idle() const { return tags.use_count() == 1 && tags->comm.use_count() == 1; }
  };
  /// The lowest number of a kept communicator that this rank does not use; -1 if there is none.
  std::int64_t first_idle();

  Communicator comm_;
  std::shared_ptr<TagSpace> shared_;
  std::vector<Kept> kept_;
  std::int64_t num_kept_ = 0;  // communicators that were ever kept
  std::int64_t num_members_ = 0;
};

/// A plan's membership in its group. It outlives the plan, so that a rank that binds a freed plan can still
/// tell the other ranks.
struct Membership {
  std::shared_ptr<PlanGroup> group;
  std::int64_t number = 0;
  bool plan_is_freed = false;
  double watchdog_s = 0;

  /// Collective over parent. Makes the membership of a new plan.
  static Membership of(MPI_Comm parent, const std::shared_ptr<const Communicator>& comm, double watchdog_s) {
    const auto group = PlanGroup::of(parent, *comm);
    return {.group = group, .number = group->add(), .watchdog_s = watchdog_s};
  }
  /// Collective. Makes the membership of a plan that follows this one. Throws Error `state` if this plan was
  /// freed, `mismatch` if ranks follow different plans or make other calls. tags: set to the communicator of
  /// the new plan.
  Membership beside(std::shared_ptr<TagSpace>& tags) const {
    tags = group->tags_beside({number, {Form::follow}, plan_is_freed}, watchdog_s);
    return {.group = group, .number = group->add(), .watchdog_s = watchdog_s};
  }
  /// Collective. Returns whether any rank has memory on a device.
  bool require_same(const BindCall& call) const {
    bool on_device = false;
    group->require_same({number, call, plan_is_freed}, watchdog_s, &on_device);
    return on_device;
  }
  /// Called instead of require_same(): all ranks throw `why`.
  void refuse(const Error& why) const {
    group->require_same({number, {Form::none}, plan_is_freed, &why}, watchdog_s);
  }
  /// Returns the membership after the plan was freed.
  Membership of_freed() const {
    return {.group = group, .number = number, .plan_is_freed = true, .watchdog_s = watchdog_s};
  }
};

}  // namespace nuice::mpi
