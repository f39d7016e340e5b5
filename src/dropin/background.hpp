// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that go on while the program does something else: nonblocking collectives and persistent ones.
//
// The program gets a request of MPI's own, a receive of no bytes from itself, persistent or not (its token). It is fulfilled when the exchange is
// complete, so that all of MPI's calls that complete, start or free requests do so with it, among any others.
//
// Whoever waits in a call of MPI that can be turned into a loop of tests (MPI_Wait and the like) looks after all exchanges meanwhile; tests
// and probes look once. Whoever is about to block in another one leaves: what is under way is opened (engine.hpp), and MPI alone brings it to its
// end. blocking_calls.hpp lists these calls. Where threads may call MPI at once, what begins while another thread is in such a call is opened
// at once.
//
// Cost where nothing is under way: a branch on a counter in each of these calls.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/support/watchdog.hpp"
#include "dropin/shadow.hpp"
#include "dropin/trials/trial.hpp"
#include "mpi/wait.hpp"

namespace nuice::dropin {

/// look() until is_done(); give_up() whenever nothing has been found for watchdog_s (0: never).
template <typename IsDone, typename Look, typename GiveUp>
void look_until(double watchdog_s, IsDone&& is_done, Look&& look, GiveUp&& give_up) {
  mpi::Patience patience;
  QuietTime quiet;
  while (!is_done()) {
    if (look()) {
      patience.found_something();
      quiet.restart();
      continue;
    }
    patience.found_nothing();
    if (watchdog_s <= 0) continue;
    quiet.look(0, PMPI_Wtime(), watchdog_s / 10);
    if (quiet.seconds() < watchdog_s) continue;
    quiet.restart();
    give_up();
  }
}

/// What MPI delivers for the same input, into other memory, to be held against what we do (NUICE_DROPIN=check).
class Shade {
 public:
  /// MPI's own call with another address to receive at.
  using Begin = std::function<int(void* receive, MPI_Request* request)>;

  /// base: where the program receives. Throws Error where MPI fails.
  Shade(const Items& items, void* base, bool is_persistent, Begin by_mpi);
  Shade(const Shade&) = delete;
  Shade& operator=(const Shade&) = delete;
  ~Shade();
  /// Of a persistent one, before the exchange begins.
  void start();
  bool is_done();
  /// Ends the program where a byte differs.
  void require_equal(const char* call) const;

 private:
  void take_input();

  Items items_;                       // of what is received only
  std::vector<Item> shaded_;          // the same in other memory
  std::vector<mpi::Datatype> types_;  // theirs, which the program may free
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  bool is_persistent_;
  Begin by_mpi_;  // with what MPI may look at until it is done
  MPI_Request request_{};
};

/// What a call takes is told to a trial.
struct Timing {
  std::shared_ptr<Trial> trial{};  // none: nobody wants to know
  Trial::Step step = {};
  double bytes = 0;
  double begin_s = 0;
};

/// A call that is begun, or may be started again and again.
struct Posting {
  const char* call = "";
  MPI_Comm comm{};
  std::shared_ptr<Shadow> shadow{};  // none: it is MPI's own
  std::unique_ptr<Call> messages{};
  mpi::PlanlessTerms terms = {};
  std::shared_ptr<Overlap> overlap{};
  bool is_persistent = false;
  std::unique_ptr<Shade> shade{};  // in check mode
  Timing timing = {};
  MPI_Request mpis{};   // of MPI's own
  Shade::Begin keep{};  // with what MPI may look at until it is done
};

class Background {
 public:
  /// threads: the program's may call MPI at once.
  void begin(bool threads, double watchdog_s);
  /// Before MPI_Finalize: brings to an end what nobody has waited for.
  void end();

  /// Whether MPI takes this as what a call sends or receives.
  bool takes(const void* at, int count, MPI_Datatype type) const;
  bool any() const { return num_active_.load() != 0; }
  /// Gives the token, and begins the exchange unless it is persistent.
  void post(Posting posting, MPI_Request* request);
  /// After MPI has started these: those of ours begin.
  int start(std::span<const MPI_Request> requests);
  /// Before MPI frees it.
  void forget(MPI_Request request);
  bool has(MPI_Request request);
  /// As MPI has it: Open MPI frees no nonblocking collective, which the standard forbids; MPICH does.
  bool may_be_freed(MPI_Request request);
  bool is_under_way(MPI_Request request);
  bool knows_any() const { return num_known_.load() != 0; }

  /// At what has come, once. Whether anything has.
  bool look();
  /// This thread waits for something else from now on, or does so no more.
  void leave();
  void come_back() {
    if (threads_) --num_away_;
  }
  /// Whose communicator is being freed: what is under way comes to its end. Whether requests are left that may be started.
  bool finish(MPI_Comm comm);

  /// Looks after all that is under way until is_done(). Once nothing has moved for the watchdog's time, what stops these requests fails.
  template <typename IsDone>
  void wait_for(std::span<const MPI_Request> requests, IsDone&& is_done) {
    look_until(watchdog_s_, is_done, [this] { return look(); }, [&] { give_up(requests); });
  }
  bool has_failed() const { return num_failed_.load() != 0; }
  /// Of a request that is complete: MPI_SUCCESS, or what its communicator's handler has been told.
  int verdict(MPI_Request request);

 private:
  struct Entry;

  /// Looks after all until none under way is_awaited(entry); which fail once nothing has moved for the watchdog's time.
  template <typename IsAwaited>
  void bring_to_end(IsAwaited&& is_awaited);
  void give_up(std::span<const MPI_Request> requests);

  using Entries = std::unordered_map<MPI_Request, std::unique_ptr<Entry>>;
  // With the lock.
  bool look_at_all();
  static bool look_at(Shadow& shadow);
  void begin_exchange(Entry& entry);
  void begin_ours(Entry& entry);
  bool complete_done();
  static bool ends_ours(Entry& entry);
  bool ends_mpis(Entry& entry);
  void fulfil(Entry& entry);
  void remove(Entry& entry);
  void fail_all(Shadow& shadow, const std::exception& error);
  void fail_as_quiet(const Entry& entry);
  void make_token(Entry& entry);

  bool threads_ = false;
  double watchdog_s_ = 0;
  std::atomic<std::int64_t> num_active_ = 0;
  std::atomic<std::int64_t> num_known_ = 0;
  std::atomic<std::int64_t> num_failed_ = 0;
  std::atomic<std::int64_t> num_away_ = 0;

  std::mutex mutex_;  // of what follows; before that of a shadow
  MPI_Comm self_{};   // where tokens travel; from begin() on
  std::vector<int> free_tags_;
  int next_tag_ = 0;
  Entries entries_;                            // by token
  std::vector<std::unique_ptr<Entry>> freed_;  // by the program, and under way
  std::vector<Entry*> active_;                 // the oldest first
  /// What the program hears of a request that has failed.
  struct Failure {
    MPI_Comm comm;  // whose handler is told
    int code;
    bool is_told = false;
  };
  std::unordered_map<MPI_Request, Failure> failed_;
};

Background& background();

/// Around a call of MPI that may wait for other ranks.
class Leaving {
 public:
  Leaving() { background().leave(); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() { background().come_back(); }
};

}  // namespace nuice::dropin
