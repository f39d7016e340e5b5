// SPDX-License-Identifier: BSD-3-Clause
// Waits for requests that end with an error if a rank dies or does not answer.
#pragma once

#include <mpi.h>

#include <span>
#include <thread>

#include "core/support/watchdog.hpp"
#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// What a polling loop does when a test has found nothing. If there are more ranks than cores, Open MPI
/// yields the core in every test that finds nothing. Otherwise this class yields in every 16th test. If a
/// program computes on the same core, a rank that yields runs again only after a time slice of some
/// milliseconds. A polling loop therefore calls MPI once per iteration, and does not itself yield in every
/// iteration.
class Patience {
 public:
  void found_something() { tests_ = 0; }
  void found_nothing() {
    if (++tests_ % tests_per_yield == 0) std::this_thread::yield();
  }

 private:
  static constexpr unsigned tests_per_yield = 16;
  unsigned tests_ = 0;
};

/// Lets MPI progress while this rank waits in shared memory, because other ranks may wait for a message that
/// only this rank's MPI can forward. No message of comm may have this tag.
void let_mpi_go_on(const Communicator& comm, int tag);

/// Watches a polling loop on comm whose end depends on other ranks, as wait() watches an operation.
class Watch {
 public:
  /// call: the name of what the loop waits for, for error texts.
  Watch(const Communicator& comm, const char* call);
  void found_something() { quiet_.restart(), patience_.found_something(); }
  /// Throws Error like wait().
  void found_nothing();

 private:
  void look();

  const Communicator& comm_;
  const char* call_;
  QuietTime quiet_;
  Patience patience_;
  double look_at_s_;  // when questions of other ranks are answered next
  bool was_quick_ = true;
};

/// Checks the result of a call on comm like must(). If the call failed, gives comm up, and names the dead
/// ranks in the error.
void must_naming(const Communicator& comm, int code, const char* call);

/// Waits for an operation on comm, and answers other ranks that wait in this function. If comm watches,
/// throws Error `mpi` if MPI reports that a rank has died, and Error `timeout`, naming the ranks that do not
/// answer, after watchdog_s. After such an error the operation is still active, and the communicator is given
/// up.
void wait(const Communicator& comm, MPI_Request& request, const char* call,
          MPI_Status* status = MPI_STATUS_IGNORE);

/// Waits for several requests like wait(). Requests may be null.
void wait_all(const Communicator& comm, std::span<MPI_Request> requests, const char* call);

/// Waits like wait() while MPI duplicates `parent`. The new communicator cannot carry questions yet, so ranks
/// are asked on `known`, another communicator of the same ranks. If `known` is null, errors name dead ranks
/// only.
void wait_for_duplicate(MPI_Comm parent, MPI_Request& request, double watchdog_s, bool watches_deaths,
                        const Communicator* known);

}  // namespace nuice::mpi
