// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicator.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Communicators that came from MPI sessions. Programs with sessions may have no MPI_COMM_SELF.
std::mutex mutex_of_sessions;
std::vector<MPI_Comm> comms_of_sessions;

}  // namespace

bool has_world() {
  int initialized = 0;
  must(MPI_Initialized(&initialized), "MPI_Initialized");
  return initialized != 0;
}

bool may_be_used(MPI_Comm comm) {
  if (is_finalized()) return false;
  const bool is_of_world = comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
  return has_world() || (MPI_VERSION >= 4 && !is_of_world && comm != MPI_Comm{});
}

MPI_Comm any_comm() {
  if (has_world()) return MPI_COMM_SELF;
  const std::scoped_lock lock(mutex_of_sessions);
  return comms_of_sessions.empty() ? MPI_COMM_NULL : comms_of_sessions.back();
}

void check_parent(MPI_Comm parent) {
  if (!may_be_used(parent))
    throw Error(ErrorCode::state, "MPI is needed here, between MPI_Init and MPI_Finalize");
  if (parent == MPI_COMM_NULL) throw Error(ErrorCode::invalid_argument, "the communicator is MPI_COMM_NULL");
  int inter = 0;
  must(MPI_Comm_test_inter(parent, &inter), "MPI_Comm_test_inter");
  if (inter != 0)
    throw Error(ErrorCode::invalid_argument,
                "the communicator is an intercommunicator: make one of both groups by MPI_Intercomm_merge");
}

/// Returns the same value for the whole run, even if MPI_COMM_WORLD, of which the largest tag is an
/// attribute, is initialised later.
int largest_tag() {
  static const int largest = [] {
    void* value = nullptr;
    int found = 0;
    must(MPI_Comm_get_attr(has_world() ? MPI_COMM_WORLD : any_comm(), MPI_TAG_UB, &value, &found),
         "MPI_Comm_get_attr");
    constexpr int guaranteed = 32767;
    return found != 0 ? *static_cast<const int*>(value) : guaranteed;
  }();
  return largest;
}

void take_tags(std::shared_ptr<const Communicator>& comm, int& next_tag, int last_tag) {
  constexpr int tags_each = 3;
  const bool has_more = last_tag - next_tag >= 2 * tags_each - 1;
  if (!has_more) comm = std::make_shared<const Communicator>(comm->get(), comm->watchdog_s(), comm.get());
  next_tag = has_more ? next_tag + tags_each : 0;
}

/// MPI writes the new communicator to heap memory, because it may write it after this rank has stopped
/// waiting.
void Communicator::duplicate(MPI_Comm parent, const Communicator* known) {
  if (watches_deaths_) outlive_broken_pipes();
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  must_duplicate(MPI_Comm_idup(parent, made.get(), &request));
  try {
    wait_for_duplicate(parent, request, watchdog_s_, watches_deaths_, known);
  } catch (const Error& error) {
    (void)made.release();
    if (error.code() != ErrorCode::mpi) throw;
    throw naming(error, dead_ranks(parent));
  } catch (...) {
    (void)made.release();
    throw;
  }
  comm_ = *made;
  must(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  must(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  must(MPI_Comm_size(comm_, &num_ranks_), "MPI_Comm_size");
  if (has_world()) return;
  const std::scoped_lock lock(mutex_of_sessions);
  comms_of_sessions.push_back(comm_);
}

Communicator::Communicator(MPI_Comm parent, double watchdog_s, const Communicator* known)
    : watchdog_s_(watchdog_s) {
  check_parent(parent);  // before any other call of MPI
  watches_deaths_ = tells_of_deaths();
  duplicate(parent, known);
  watches_ = true;  // until all ranks know whether any rank has a limit
  int any = watches_deaths_ || watchdog_s > 0 ? 1 : 0;
  all_reduce(*this, MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX);
  watches_ = any != 0;
}

Communicator::Communicator(const Communicator& parent, Watching)
    : watches_(true), watches_deaths_(tells_of_deaths()), watchdog_s_(parent.watchdog_s()) {
  duplicate(parent.get(), &parent);
}

Communicator::~Communicator() {
  {
    const std::scoped_lock lock(mutex_of_sessions);
    std::erase(comms_of_sessions, comm_);
  }
  if (!is_given_up_ && !is_finalized()) MPI_Comm_free(&comm_);
}

}  // namespace nuice::mpi
