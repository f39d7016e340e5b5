// SPDX-License-Identifier: BSD-3-Clause
// What a loop asks that waits for several things at once (wait.hpp waits for one): whether it must end because a rank has died
// or does not answer.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi/communicator.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

class Watch {
 public:
  /// call: what the loop waits in, for its error.
  Watch(const Communicator& comm, const char* call);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// At every turn of the loop in which nothing was found, and in which MPI was called once (Patience, wait.hpp). events: a
  /// number that grows with every progress. Throws as wait().
  void look(std::int64_t events = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;  // null where nothing is watched
  Patience patience_;
};

}  // namespace nuice::mpi
