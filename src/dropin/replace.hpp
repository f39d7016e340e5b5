// SPDX-License-Identifier: BSD-3-Clause
// Blocking MPI_Alltoall, v and w of an unmodified program, and MPI_Neighbor_alltoall, v and w, exchanged without a plan
// (src/exchange/planless) where that is faster.
//
// All ranks choose alike, by what all of them know without asking: how often the communicator has been used so, whether its ranks share one
// host, the size of MPI_Alltoall's blocks. What they do not know alike they ask, inside the call, which may synchronise:
//
//   call 1                 by MPI, and timed
//   calls 2, 16, 128, ...  is any message long enough to gain? Then a shadow communicator is made, and from there on calls are replaced
//   call 4, and trials     which has moved more bytes a second? That takes the calls until the next trial, at the fourfold number of the call, or
//                          at the sixteenfold where we are twice as fast. In a trial the other one has its turn; a call after one by MPI is
//                          not timed: TCP senders that have lost packets stay slow for a while
//
// Neighbourhoods know no calls in which all could be asked, as ranks without neighbours may stay away. What is collective is the making of the
// communicator: there it gets its shadow, and from there on all its calls are replaced, but MPI_Neighbor_alltoall with short blocks.
//
// A call costs one look-up where it is left to MPI.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "dropin/neighbours.hpp"
#include "exchange/planless/engine.hpp"

namespace nuice::dropin {

/// One message of a call, in the program's terms.
struct Item {
  int rank;
  std::byte* at;
  std::int64_t count;
  MPI_Datatype type;
};
struct Engine;  // replace.cpp

/// What a rank sends and receives in a call. in_place: `out` is what is received, which goes out before anything comes in.
struct Items {
  std::vector<Item> out;
  std::vector<Item> in;
  bool in_place = false;
  bool are_of_neighbours = false;
};

class Replacer {
 public:
  /// After MPI_Init: takes up what NUICE_DROPIN and its settings say.
  void begin();
  /// Before MPI_Finalize.
  void end();
  bool is_on() const { return is_on_; }

  /// A call that MPI would do by mpi(), which returns a code of MPI. block_bytes: of MPI_Alltoall; below 0: blocks differ. items(): this
  /// rank's part.
  template <typename GetItems, typename Mpi>
  int run(const char* call, MPI_Comm comm, std::int64_t block_bytes, GetItems&& items, Mpi&& mpi) {
    return guarded(call, comm, [&] {
      Place* const place = place_of(comm, block_bytes);
      if (place == nullptr) return leave(mpi);
      const Step step = next_step(*place);
      if (step.way == Way::leave) return leave(mpi);
      const Items all = items();
      if (step.way == Way::ask && !ask(*place, comm, all)) return leave(mpi);
      if (step.way == Way::mpi) return time_mpi(*place, comm, all, step.compares, mpi);
      return replace(call, *place, comm, all, step, mpi);
    });
  }

  /// The same for a neighbourhood. items(neighbours)
  template <typename GetItems, typename Mpi>
  int run_neighbours(const char* call, MPI_Comm comm, std::int64_t block_bytes, GetItems&& items, Mpi&& mpi) {
    return guarded(call, comm, [&] {
      Place* const place = place_of(comm, block_bytes);
      if (place == nullptr || !place->engine) return leave(mpi);
      return replace(call, *place, comm, items(place->neighbours), {Way::replace}, mpi);
    });
  }
  /// call has made a communicator that may have neighbourhoods; all its ranks come here. Null: this rank is none of them.
  int begin_neighbours(const char* call, MPI_Comm comm);

 private:
  /// Bytes that crossed this rank's port, and the seconds of the calls.
  struct Rate {
    double bytes = 0;
    double seconds = 0;
  };
  /// What is known of a communicator. Equal on all its ranks but for rates.
  struct Place {
    bool stays_with_mpi = false;  // for good
    bool prefers_mpi = false;     // until the next trial
    std::int64_t calls = 0;
    std::int64_t next_trial = 0;  // a call; 0: none was set
    std::int64_t last_trial = 0;
    int trials = 0;
    MPI_Comm shadow{};
    int rank = 0;
    std::vector<int> host_of;        // by rank
    std::unique_ptr<Engine> engine;  // none: no shadow yet
    Neighbours neighbours;
    std::int64_t unasked_of_neighbours = 0;  // they are fewer than ranks, so more may come of each
    Rate by_mpi;
    Rate by_us;
  };
  enum class Way : std::uint8_t { leave, ask, replace, mpi };
  struct Step {
    Way way;
    bool is_timed = false;
    bool compares = false;  ///< Afterwards.
  };

  /// What MPI delivers for the same input, to be held against what we do (NUICE_DROPIN=check).
  class Comparison {
   public:
    /// Before MPI's call.
    explicit Comparison(const Items& items);
    /// After it. Ends the program where a byte differs.
    template <typename Exchange>
    int with(const Items& items, const char* call, Exchange&& exchange) const {
      const Bytes expected = packed(items.in);
      restore(items);
      const int code = exchange();
      if (code == MPI_SUCCESS) require_equal(expected, packed(items.in), call);
      return code;
    }

   private:
    using Bytes = std::vector<std::byte>;
    static Bytes packed(const std::vector<Item>& items);
    void restore(const Items& items) const;
    static void require_equal(const Bytes& by_mpi, const Bytes& by_us, const char* call);
    Bytes input_;  // in place only
  };

  /// Nothing is thrown into the program: act() gives a code of MPI, or an error becomes one.
  template <typename Act>
  static int guarded(const char* call, MPI_Comm comm, Act&& act) {
    try {
      return act();
    } catch (const std::exception& error) {
      return failed(call, comm, error);
    }
  }
  static int failed(const char* call, MPI_Comm comm, const std::exception& error);

  template <typename Mpi>
  int leave(Mpi&& mpi) {
    ++num_left_;
    return mpi();
  }

  template <typename Mpi>
  int replace(const char* call, Place& place, MPI_Comm comm, const Items& items, const Step& step,
              Mpi&& mpi) {
    if (!checks_) return exchange(place, comm, items, step);
    const Comparison by_mpi(items);
    const int code = mpi();
    if (code != MPI_SUCCESS) return code;
    return by_mpi.with(items, call, [&] { return exchange(place, comm, items, step); });
  }

  template <typename Mpi>
  int time_mpi(Place& place, MPI_Comm comm, const Items& items, bool compares, Mpi&& mpi) {
    ++num_left_;
    const double begin_s = PMPI_Wtime();
    const int code = mpi();
    add(place.by_mpi, place, items, PMPI_Wtime() - begin_s);
    if (compares) compare(place, comm);
    return code;
  }

  /// Null: MPI does it, on all ranks.
  Place* place_of(MPI_Comm comm, std::int64_t block_bytes);
  Place* new_place(MPI_Comm comm);
  static bool is_asked(std::int64_t call);
  Step next_step(Place& place) const;
  bool ask(Place& place, MPI_Comm comm, const Items& items);
  /// On all ranks of comm: whether any of them would gain, and none has too many shadows. Then it is made.
  bool ask_all(Place& place, MPI_Comm comm, bool would_gain);
  void make_shadow(Place& place, MPI_Comm comm);
  std::vector<int> hosts_of(MPI_Comm comm) const;
  int exchange(Place& place, MPI_Comm comm, const Items& items, const Step& step);
  void carry_out(Place& place, const Items& items) const;
  void wait_for(mpi::PlanlessEngine& engine, const mpi::PlanlessEngine::Ongoing& ongoing) const;
  static void add(Rate& rate, const Place& place, const Items& items, double seconds);
  void compare(Place& place, MPI_Comm comm);
  static int forget(MPI_Comm comm, int key, void* value, void* extra);

  bool is_on_ = false;
  bool checks_ = false;
  bool is_forced_ = false;  // for tests: from the first call on, every rank a host of its own, no trial
  std::int64_t unasked_bytes_ = 0;
  std::int64_t most_shadows_ = 0;
  double watchdog_s_ = 0;
  int key_ = MPI_KEYVAL_INVALID;
  bool tells_ = false;
  std::vector<int> host_of_;  // by rank of MPI_COMM_WORLD: the lowest that shares memory with it
  std::atomic<std::int64_t> num_shadows_ = 0;
  // For NUICE_DROPIN_VERBOSE.
  std::atomic<std::int64_t> num_replaced_ = 0;
  std::atomic<std::int64_t> num_left_ = 0;
  std::atomic<std::int64_t> num_preferred_ = 0;  // communicators on which MPI was found to be faster
  std::atomic<bool> is_ending_ = false;
};

Replacer& replacer();

}  // namespace nuice::dropin
