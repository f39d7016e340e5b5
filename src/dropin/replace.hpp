// SPDX-License-Identifier: BSD-3-Clause
// Blocking MPI_Alltoall, v and w of an unmodified program, and MPI_Neighbor_alltoall, v and w, exchanged without a plan
// (src/exchange/planless) where that is faster.
//
// All ranks choose alike, by what all of them know without asking: the number of the communicator's call, which turns.hpp goes by, and the size of
// MPI_Alltoall's blocks. What they do not know alike they tell each other beside a call that MPI does, by nonblocking collectives which end with it: is
// any message long enough to gain, are they on several hosts, who is faster?
//
// Neighbourhoods know no calls in which all could be asked, as ranks without neighbours may stay away. What is collective is the making of the
// communicator, on all ranks of the one it is made of: there it may get its shadow, and from there on all its calls are replaced, but
// MPI_Neighbor_alltoall with short blocks. The first of a program gets it, and further ones once a rank has come to eight
// blocking neighbour collectives on one communicator: programs that set up make many for a call or two. Asked is for the first, second, fourth, ... made
// of one communicator, and from then on for every one.
//
// Communicators of the same ranks in the same order share a shadow: their blocking calls come in one order on all ranks, as anything else may
// deadlock. Not where the program's threads may call MPI at once, as these may take turns otherwise on each rank; and no neighbourhoods. It stays until
// the program ends, lest ranks that free communicators at different times disagree about who has one.
//
// Nothing is communicated before that, and a call costs one look-up where it is left to MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dropin/neighbours.hpp"
#include "dropin/turns.hpp"
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
      Place* const place = place_of(comm);
      if (place == nullptr || (block_bytes >= 0 && !may_gain(*place, block_bytes, false))) return leave(mpi);
      if (shares_ && !place->has_looked_for_shared) look_for_shared(*place, comm);
      const Step step = next_step(*place);
      if (step.way == Way::mpi && !step.is_timed && step.beside == Beside::nothing) return leave(mpi);
      const Items all = items();
      if (is_forced_ && !place->engine && !get_shadow(*place, comm, all)) return leave(mpi);
      MPI_Request beside = begin_beside(*place, comm, all, step.beside);
      const int code = step.way == Way::replace ? replace(call, *place, all, step.is_timed, mpi)
                                                : time_mpi(*place, all, step.is_timed, mpi);
      if (step.beside != Beside::nothing) end_beside(*place, comm, beside, step.beside);
      return code;
    });
  }

  /// The same for a neighbourhood. items(neighbours)
  template <typename GetItems, typename Mpi>
  int run_neighbours(const char* call, MPI_Comm comm, std::int64_t block_bytes, GetItems&& items, Mpi&& mpi) {
    return guarded(call, comm, [&] {
      Place* const place = place_of(comm);
      if (place == nullptr) return leave(mpi);
      if (++place->neighbour_calls == calls_that_repeat) repeats_neighbour_calls_ = true;
      if (!place->engine || place->most_neighbours == 0) return leave(mpi);
      if (block_bytes >= 0 && !may_gain(*place, block_bytes, true)) return leave(mpi);
      return replace(call, *place, items(place->neighbours), false, mpi);
    });
  }
  /// call has made `made` of `parent`, all of whose ranks come here; it may have neighbourhoods. Null: this rank is none of them.
  int begin_neighbours(const char* call, MPI_Comm parent, MPI_Comm made);

 private:
  static constexpr std::int64_t calls_that_repeat = 8;
  using Way = Turns::Way;
  using Beside = Turns::Beside;
  using Step = Turns::Step;
  /// What a rank tells the others of its communicator. All learn the greatest of each, in a message or two a rank: in an all-to-all of short
  /// blocks a question of one message to everybody costs as much as the call.
  struct Word {
    double wants = 0;    // a shadow
    double has_one = 0;  // of a neighbourhood, now or before
    double is_full = 0;  // has as many as it may
    double host = 0;
    double minus_host = 0;
    double partners = 0;
    double has_seen_mpi = 0;  // faster than us, where it was tried last
    double has_not_seen_us = 0;
    double bytes = 0;  // that come to it in this call
    double keeps = 0;  // does not share shadows
  };
  /// What is known of a communicator. Equal on all its ranks but for what was measured.
  struct Place {
    bool stays_with_mpi = false;  // for good
    Turns turns;
    MPI_Comm shadow{};  // being made
    int rank = 0;
    int num_ranks = 0;
    std::vector<Rank> near;          // this host's ranks
    std::shared_ptr<Engine> engine;  // none: no shadow yet
    bool has_looked_for_shared = false;
    std::vector<int> group;  // its ranks in MPI_COMM_WORLD, if it shares
    Neighbours neighbours;
    Rank most_neighbours = 0;             // of a rank; 0: its neighbours were not looked at
    std::int64_t num_neighbourhoods = 0;  // made of it
    bool has_repeated_calls = false;      // of these, or of others, on some rank
    std::int64_t neighbour_calls = 0;     // of its own, on this rank
    // Told beside a call.
    Word word;
    std::array<double, 4> rates{};
    std::vector<double> hosts;  // of all ranks
    MPI_Request telling_hosts{};
  };
  struct Answer {
    bool any_wants = false;
    bool any_has_one = false;
    bool all_may = false;
    Rank most_partners = 0;
    Turns::Experience experience = Turns::Experience::none;
    double most_bytes = 0;
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
  /// Rank 0, to who wants to know.
  void say(const std::string& text) const;
  static int failed(const char* call, MPI_Comm comm, const std::exception& error);

  template <typename Mpi>
  int leave(Mpi&& mpi) {
    ++num_left_;
    return mpi();
  }

  template <typename Mpi>
  int replace(const char* call, Place& place, const Items& items, bool is_timed, Mpi&& mpi) {
    if (!checks_) return exchange(place, items, is_timed);
    const Comparison by_mpi(items);
    const int code = mpi();
    if (code != MPI_SUCCESS) return code;
    return by_mpi.with(items, call, [&] { return exchange(place, items, is_timed); });
  }

  template <typename Mpi>
  int time_mpi(Place& place, const Items& items, bool is_timed, Mpi&& mpi) {
    ++num_left_;
    const double begin_s = PMPI_Wtime();
    const int code = mpi();
    if (is_timed) add(place, false, items, PMPI_Wtime() - begin_s);
    return code;
  }

  /// Null: MPI does it, on all ranks.
  Place* place_of(MPI_Comm comm);
  Place* new_place(MPI_Comm comm);
  Bytes unasked_bytes(const Place& place, bool are_neighbours) const;
  bool may_gain(const Place& place, Bytes message, bool are_neighbours) const;
  Step next_step(Place& place) const;
  MPI_Request begin_beside(Place& place, MPI_Comm comm, const Items& items, Beside what);
  void end_beside(Place& place, MPI_Comm comm, MPI_Request request, Beside what);
  void make_shadow(Place& place, MPI_Comm comm);
  /// Where there is one for the same ranks, on which we are expected to be faster; or in any case. Whether it has one now.
  bool share_shadow(Place& place, bool in_any_case);
  /// In the communicator's first call that all its ranks make.
  void look_for_shared(Place& place, MPI_Comm comm);
  /// At once. Whether it may be had.
  bool get_shadow(Place& place, MPI_Comm comm, const Items& items);
  MPI_Request begin_to_tell(Place& place, MPI_Comm comm, double wants, std::size_t partners,
                            double bytes = 0) const;
  static Answer all_told(Place& place);
  double host_of(const Place& place) const;
  /// Those of this host, from what all have told beside the making of the shadow.
  void find_near(Place& place) const;
  void start_engine(Place& place);
  int exchange(Place& place, const Items& items, bool is_timed);
  void carry_out(Place& place, const Items& items) const;
  void wait_for(mpi::PlanlessEngine& engine, const mpi::PlanlessEngine::Ongoing& ongoing) const;
  static void add(Place& place, bool is_ours, const Items& items, double seconds);
  static int forget(MPI_Comm comm, int key, void* value, void* extra);

  bool is_on_ = false;
  bool checks_ = false;
  bool are_hosts_pretended_ = false;  // for tests: every rank a host of its own
  bool is_forced_ = false;            // for tests: that, from the first call on, and no turns
  std::int64_t unasked_bytes_ = 0;
  std::int64_t most_shadows_ = 0;
  double watchdog_s_ = 0;
  int key_ = MPI_KEYVAL_INVALID;
  bool tells_ = false;
  double host_ = 0;  // its number: a hash that a double can hold
  std::atomic<std::int64_t> num_shadows_ = 0;
  bool shares_ = false;
  std::map<std::vector<int>, std::shared_ptr<Engine>> shared_;           // by the ranks in MPI_COMM_WORLD
  std::atomic<Turns::Experience> experience_ = Turns::Experience::none;  // the last one
  std::atomic<bool> repeats_neighbour_calls_ = false;
  std::atomic<bool> has_had_neighbour_shadow_ = false;
  // For NUICE_DROPIN_VERBOSE.
  std::atomic<std::int64_t> num_replaced_ = 0;
  std::atomic<std::int64_t> num_left_ = 0;
  std::atomic<std::int64_t> num_preferred_ = 0;  // communicators on which MPI was found to be faster
  std::atomic<bool> is_ending_ = false;
};

Replacer& replacer();

}  // namespace nuice::dropin
