// SPDX-License-Identifier: BSD-3-Clause
// The plans of one communicator. Each has a duplicate of its own, so ranks that bind different plans would wait for each
// other on different communicators for ever; before anything else they compare on a common one what they are about to do.
//
// The common one is that of the first plan. It is found by an attribute of the user's communicator, which does not keep it:
// when the last plan goes, it goes, and the next plan begins a new family.
// Cost: an allreduce per plan and one per bind.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "mpi/communicator.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// What is bound.
enum class Form { buffers, array, fields, broadcast };

struct BindCall {
  Form form;
  Direction direction = Direction::forwards;
};

/// What a rank is about to do with a plan.
struct Doing {
  std::int64_t member;  // the plan's number
  BindCall call;
  bool plan_is_freed;
};

class Family {
 public:
  /// Collective over parent; comm: the new plan's duplicate of it. The family of the plans that exist, or a new one.
  static std::shared_ptr<Family> of(MPI_Comm parent, const std::shared_ptr<const Communicator>& comm);
  Family(MPI_Comm parent, std::shared_ptr<const Communicator> comm)
      : parent_(parent), comm_(std::move(comm)) {}
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family();

  /// The new plan's number: 1, 2, ... in the order in which they are made, the same on all ranks.
  std::int64_t add() { return ++num_members_; }
  /// Collective. Throws Error, the same on all ranks: mismatch unless all of them are here with the same plan and call; state
  /// where the plan was freed, be it on one rank.
  void require_same(const Doing& doing) const;

 private:
  static int key();
  static std::shared_ptr<Family> find(MPI_Comm parent);
  static int forget(MPI_Comm parent, int key, void* value, void* extra);

  MPI_Comm parent_;  // null once it is freed
  std::shared_ptr<const Communicator> comm_;
  std::int64_t num_members_ = 0;
};

/// A plan's place among the others. It keeps it when it is freed, so that a rank that binds it all the same is heard by the
/// others.
struct Membership {
  std::shared_ptr<Family> family;
  std::int64_t number = 0;
  bool plan_is_freed = false;

  /// Collective over parent.
  static Membership of(MPI_Comm parent, const std::shared_ptr<const Communicator>& comm) {
    const auto family = Family::of(parent, comm);
    return {.family = family, .number = family->add()};
  }
  void require_same(const BindCall& call) const { family->require_same({number, call, plan_is_freed}); }
  /// As it is after the plan was freed.
  Membership of_freed() const { return {.family = family, .number = number, .plan_is_freed = true}; }
};

}  // namespace nuice::mpi
