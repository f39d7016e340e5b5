// SPDX-License-Identifier: BSD-3-Clause
// A phase table turned into MPI requests, and how far they have come. bind.cpp fills it; exchange.cpp runs
// it, and follow.cpp message by message or with an eye on the clock.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/credit/credit.hpp"
#include "exchange/exec/arrivals.hpp"
#include "exchange/exec/barrier.hpp"
#include "exchange/exec/packed.hpp"
#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"
#include "nuice/mpi/plan.hpp"

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

/// Some memory as MPI takes it.
struct Memory {
  void* at;
  int count;
  MPI_Datatype type;
};

/// The same where the message has datatypes: MPI copies it.
struct SelfMessage {
  Memory from;
  Memory to;
  int tag;
};

struct Exchange::State {
  class RequestMaker;

  // Fixed by bind(). Destroyed in the opposite order: the requests before what they were made of.
  std::shared_ptr<const Communicator> comm;
  std::unique_ptr<std::byte[]> stage;  // what is forwarded waits here
  std::vector<Datatype> types;
  Requests receives;                           // in the order of the table
  Requests sends;                              // likewise
  std::vector<PackedMessage> packed_receives;  // by receive; empty where nothing is forwarded
  std::vector<PackedMessage> packed_sends;     // likewise
  std::vector<StepEnd> step_ends;  // async: one step; phased: this rank's busy phases; barrier: all phases
  bool receives_repeat = false;    // some source sends several pieces: receives must be started in order
  bool sends_repeat = false;       // likewise for destinations
  bool is_plain = false;  // one step in any order, with nothing to pack: started and waited for as a whole
  std::vector<MPI_Request> window;  // max_sends_in_flight places for running sends; empty without that limit
  SelfCopy self;
  std::optional<SelfMessage> self_message;
  std::optional<Barrier> barrier;     // only for Executor::barrier
  std::unique_ptr<CreditRun> credit;  // only for Executor::credit, which then does all but the copy to itself
  Arrivals arrivals;
  std::vector<Rank> receive_from;  // by receive; empty for credit
  std::vector<Rank> send_to;       // by send
  double watchdog_s = 0;           // give up after so long without progress; 0: never
  bool watches_deaths = false;     // where MPI tells of them: give up when a rank of the plan has died

  // Where a running exchange stands.
  bool running = false;
  bool broken = false;  // MPI returned an error: nothing more can be expected of the requests
  std::size_t step = 0;
  std::size_t next_send = 0;    // window only: the next send to start
  bool follows = false;         // somebody asks for single messages: all receives are to be noted
  std::int64_t num_events = 0;  // steps and requests that came to an end while somebody followed or watched
  double quiet_s = 0;           // watchdog only
  double last_look_s = 0;       // likewise

  void reserve();  // after bind() has made the requests
  void start();
  bool advance(bool block);  // true when the exchange is complete; block: not before
  /// The next message, which was not handed over before. Nothing: no message is here (block: the exchange is complete).
  std::optional<Arrival> next(bool block);
  void finish_quietly() noexcept;
  static void let_go(std::unique_ptr<State> state) noexcept;  // what destroying an exchange does
  void give_up() noexcept;                                    // nothing is received any more
  template <typename Act>
  auto guarded(Act&& act);

 private:
  /// A request in `watched`, and whose it is.
  struct Watched {
    enum class Kind { receive, send, place } kind;
    std::size_t index;
  };

  std::int64_t events() const {
    return num_events + (credit ? credit->num_events() : 0) + (barrier ? barrier->num_rounds_over() : 0);
  }
  StepEnd step_begin() const { return step == 0 ? StepEnd{} : step_ends[step - 1]; }
  bool requests_are_done(const StepEnd& begin, const StepEnd& end, bool block);
  void start_plain();
  bool plain_is_done(bool block);
  void start_sends();
  void scatter(std::size_t begin, std::size_t end);
  bool step_is_done(bool block);
  bool window_is_done(bool block);
  void refill_window(std::size_t place);
  bool advance_steps(bool block);
  void begin_next_step();
  // follow.cpp
  void follow();
  void start_arrivals();
  bool advance_following(bool block);
  bool advance_watching(bool block, bool is_first_look = true);
  int take_what_is_complete(bool block);
  bool watches() const { return watchdog_s > 0 || watches_deaths; }
  void check_watchdog(std::int64_t events_before, double most_s);
  void check_deaths() const;
  std::string waits_for() const;

  // Copies, step by step its receives and then its sends: one call of MPI takes a step. Of a plain exchange that nobody
  // follows they are the requests.
  std::vector<MPI_Request> both_;
  std::vector<MPI_Request> watched_;
  std::vector<Watched> watched_what_;
  std::vector<int> indices_;
};

}  // namespace nuice::mpi
