// SPDX-License-Identifier: BSD-3-Clause
// A phase table turned into MPI requests, and how far they have come. bind.cpp fills it; exchange.cpp runs
// it.
#pragma once

#include <memory>
#include <vector>

#include "exchange/mpi/communicator.hpp"
#include "exchange/mpi/credit.hpp"
#include "exchange/mpi/requests.hpp"
#include "nuice/mpi.hpp"

namespace nuice::mpi {

/// The requests of one step are those before its ends and not before the ends of the step before.
struct StepEnd {
  std::size_t receive = 0;
  std::size_t send = 0;
};

/// A rank's message to itself.
struct SelfCopy {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
};

struct Exchange::State {
  class RequestMaker;

  // Fixed by bind(). Destroyed in the opposite order: the requests before what they were made of.
  std::shared_ptr<const Communicator> comm;
  std::unique_ptr<const Communicator> barrier_comm;  // only for Executor::barrier
  std::unique_ptr<std::byte[]> stage;                // what is forwarded waits here
  std::vector<Datatype> types;
  Requests receives;                // in the order of the table
  Requests sends;                   // likewise
  std::vector<StepEnd> step_ends;   // async: one step; phased: this rank's busy phases; barrier: all phases
  bool receives_repeat = false;     // some source sends several pieces: receives must be started in order
  bool sends_repeat = false;        // likewise for destinations
  std::vector<MPI_Request> window;  // max_sends_in_flight places for running sends; empty without that limit
  SelfCopy self;
  std::unique_ptr<CreditRun> credit;  // only for Executor::credit, which then does all but the copy to itself

  // Where a running exchange stands.
  bool running = false;
  bool broken = false;  // MPI returned an error: nothing more can be expected of the requests
  std::size_t step = 0;
  std::size_t next_send = 0;  // window only: the next send to start
  MPI_Request barrier = MPI_REQUEST_NULL;

  void start();
  bool advance(bool block);  // true when the exchange is complete; block: not before
  void finish_quietly() noexcept;

 private:
  StepEnd step_begin() const { return step == 0 ? StepEnd{} : step_ends[step - 1]; }
  void start_sends();
  bool step_is_done(bool block);
  bool window_is_done(bool block);
  bool barrier_is_done(bool block);
  bool advance_steps(bool block);
};

}  // namespace nuice::mpi
