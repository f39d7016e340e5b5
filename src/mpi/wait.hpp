// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a request that ends when a rank dies or does not answer.
#pragma once

#include <mpi.h>

#include <span>
#include <thread>

#include "core/support/watchdog.hpp"
#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// What a loop of MPI's tests does when one found nothing. Where there are more ranks than cores, Open MPI gives the core away in every
/// test that finds nothing; elsewhere this does, now and then. A rank that does so while a program computes on its core comes back a time
/// slice later, some milliseconds: so such a loop calls MPI once per turn, and does not yield at every turn itself.
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

/// Of a rank that waits in memory: others may wait for a message of the program's that only this rank's MPI can send on. No message has
/// this tag of comm.
void let_mpi_go_on(const Communicator& comm, int tag);

/// A loop of tests on comm, as in wait(), whose end depends on other ranks.
class Watch {
 public:
  /// call: what is waited for, in errors.
  Watch(const Communicator& comm, const char* call);
  void found_something() { quiet_.restart(), patience_.found_something(); }
  /// Throws Error as wait().
  void found_nothing();

 private:
  void look();

  const Communicator& comm_;
  const char* call_;
  QuietTime quiet_;
  Patience patience_;
  double look_at_s_;  // when others' questions are answered next
  bool was_quick_ = true;
};

/// must() of a call on comm, which is given up where it fails; the error names the dead.
void must_naming(const Communicator& comm, int code, const char* call);

/// Waits for an operation on comm. Where comm watches, throws Error mpi when a rank has died, as far as MPI tells, and Error
/// timeout, naming the ranks that do not answer, after its watchdog_s; the operation is then still active, and the
/// communicator given up. Other ranks that wait here answer meanwhile.
void wait(const Communicator& comm, MPI_Request& request, const char* call,
          MPI_Status* status = MPI_STATUS_IGNORE);

/// The same for several, which may be null.
void wait_all(const Communicator& comm, std::span<MPI_Request> requests, const char* call);

/// The same for the making of a communicator, on which no rank can be asked yet: they are asked on `known`, one of the same ranks; null:
/// no rank is named but the dead.
void wait_for_duplicate(MPI_Comm parent, MPI_Request& request, double watchdog_s, bool watches_deaths,
                        const Communicator* known);

}  // namespace nuice::mpi
