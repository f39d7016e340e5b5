// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall, v and w of an unmodified program, and MPI_Neighbor_alltoall, v and w, blocking or not, exchanged without a plan
// (src/exchange/planless) where that is faster.
//
// All ranks choose alike, by what all of them know without asking: the number of the communicator's call, which turns.hpp goes by, and the size of
// MPI_Alltoall's blocks. What they do not know alike they tell each other before the first call and beside later ones, by nonblocking collectives which
// end with these: is any message long enough to gain, are they on several hosts, who is faster?
//
// Neighbourhoods know no calls in which all could be asked, as ranks without neighbours may stay away. What is collective is the making of the
// communicator, on all ranks of the one it is made of: there it gets what it needs, and from there on all its calls are replaced, but
// MPI_Neighbor_alltoall with short blocks. The first one makes the shadow of all that are made of these ranks. Further ones get tags of their own
// on it, by their number, for which nothing is communicated; how many neighbours there are is asked for at the first, second, fourth, ...
//
// Communicators of the same ranks in the same order share a shadow: their blocking calls come in one order on all ranks, as anything else may
// deadlock. Not where the program's threads may call MPI at once, as these may take turns otherwise on each rank. It stays until
// the program ends, lest ranks that free communicators at different times disagree about who has one.
//
// Calls that do not block (background.hpp) go by the shadow that their communicator has: of neighbourhoods all of them that blocking calls would,
// MPI_Ialltoall, v and w where blocking calls have found us faster or are trusted to, at that call of the communicator. They are begun in one order
// on all ranks, in other communicators perhaps in another, so that each has tags of its own. MPI_Alltoall_init, v and w may ask all, and so
// does the communicator's first MPI_Barrier, MPI_Allreduce or the like after the 2nd, 16th, ... of MPI_Ialltoall*.
//
// From there on these, and neighbourhoods from their making on, take turns with MPI's own calls, which go on in the background as ours do: trial.hpp.
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
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "dropin/background.hpp"
#include "dropin/failure.hpp"
#include "dropin/shadow.hpp"
#include "dropin/trials/turns.hpp"
#include "run/neighbours.hpp"

namespace nuice::dropin {

/// How the program begins a call that goes on without it.
template <typename Leave, typename Mpi>
struct Beginning {
  const char* call;
  MPI_Request* request;
  bool is_persistent;
  Leave leave;  // what it was meant to do
  Mpi by_mpi;   // the same with another address to receive at, and another request
};
template <typename Leave, typename Mpi>
Beginning(const char*, MPI_Request*, bool, Leave, Mpi) -> Beginning<Leave, Mpi>;

/// Of all ranks of comm, in another communicator. Empty where some are not in it.
std::vector<int> ranks_in(MPI_Comm other, MPI_Comm comm, int num_ranks);

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
      if (place == nullptr || (block_bytes >= 0 && !may_gain(*place, block_bytes))) return leave(mpi);
      if (shares_ && !place->has_looked_for_shared) look_for_shared(*place, comm);
      Step step = next_step(*place);
      if (step.way == Way::mpi && !step.is_timed && step.beside == Beside::nothing && !step.asks_first)
        return leave(mpi);
      const std::optional<Items> sound = items();
      if (!sound) return leave(mpi);
      const Items& all = *sound;
      if (step.asks_first) step = ask_first(*place, comm, all);
      if (is_forced_ && !place->all.shadow && !get_shadow(*place, comm, all)) return leave(mpi);
      MPI_Request beside = begin_beside(*place, comm, all, step.beside);
      const int code = step.way == Way::replace ? replace(call, *place, place->all, all, step.is_timed, mpi)
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
      if (place == nullptr || !replaces_neighbours(*place, block_bytes)) return leave(mpi);
      Lane& lane = place->near_by;
      const Trial::Step step = step_of(lane);
      if (step.way == Trial::Way::mpi && !step.is_timed) return leave(mpi);
      const std::optional<Items> sound = items(place->neighbours);
      if (!sound) return leave(mpi);
      const Items& all = *sound;
      const Timing timing = timing_of(*place, lane, step, all);
      const int code =
          step.way == Trial::Way::ours ? replace(call, *place, lane, all, false, mpi) : leave(mpi);
      end_timing(timing);
      return code;
    });
  }

  /// Calls that go on without the program, which receives at `base`.
  template <typename GetItems, typename How>
  int post(MPI_Comm comm, void* base, std::int64_t block_bytes, GetItems&& items, How&& how) {
    return guarded(how.call, comm, [&] {
      Place* const place = place_of(comm);
      if (place == nullptr || (block_bytes >= 0 && !may_gain(*place, block_bytes))) return leave(how.leave);
      if (!how.is_persistent) {
        if (place->all.trial) return post_tried(*place, place->all, comm, base, items, how);
        const bool is_ours = replaces_now(*place);
        if (!is_ours && !wants_to_ask(*place)) return leave(how.leave);
        const std::optional<Items> sound = items();
        if (sound && is_ours) return post_in(place->all, comm, base, *sound, how, {});
        if (sound) note_to_ask(*place, *sound);
        return leave(how.leave);
      }
      const std::optional<Items> sound = items();
      return sound && is_worth_init(*place, comm, *sound) ? post_in(place->all, comm, base, *sound, how, {})
                                                          : leave(how.leave);
    });
  }
  template <typename GetItems, typename How>
  int post_neighbours(MPI_Comm comm, void* base, std::int64_t block_bytes, GetItems&& items, How&& how) {
    return guarded(how.call, comm, [&] {
      Place* const place = place_of(comm);
      if (place == nullptr || !replaces_neighbours(*place, block_bytes)) return leave(how.leave);
      return post_tried(*place, place->near_by, comm, base, [&] { return items(place->neighbours); }, how);
    });
  }
  /// A collective call of comm in which every rank needs all others, which MPI is about to do.
  void reach(MPI_Comm comm) {
    if (num_to_ask_ > 0) ask_at(comm);
    if (num_trials_ > 0) meet_at(comm);
  }
  /// Which is about to be freed, by all its ranks.
  void free(MPI_Comm comm);
  /// call has made `made` of `parent`, all of whose ranks come here; it may have neighbourhoods. Null: this rank is none of them.
  /// kind: its topology, as MPI_Topo_test would say.
  int begin_neighbours(const char* call, int kind, MPI_Comm parent, MPI_Comm made);

 private:
  using Way = Turns::Way;
  using Beside = Turns::Beside;
  using Step = Turns::Step;
  /// What a rank tells the others of its communicator. All learn the greatest of each, in a message or two a rank: in an all-to-all of short
  /// blocks a question of one message to everybody costs as much as the call.
  struct Word {
    double wants = 0;    // a shadow
    double is_full = 0;  // has as many as it may
    double host = 0;
    double minus_host = 0;
    double partners = 0;
    double has_seen_mpi = 0;  // faster than us, where it was tried last
    double has_not_seen_us = 0;
    double bytes = 0;      // that come to it in this call
    double keeps = 0;      // does not share shadows
    double lacks_tcp = 0;  // to other hosts, and has much to exchange
  };
  /// What is known of a communicator. Equal on all its ranks but for what was measured.
  struct Place {
    bool stays_with_mpi = false;  // for good
    Turns turns;
    int rank = 0;
    int num_ranks = 0;
    Lane all;  // no shadow: not yet
    bool knows_group = false;
    bool has_looked_for_shared = false;
    std::shared_ptr<Shadow> shared;        // by its ranks, once it was found
    std::size_t num_shared_looked_at = 0;  // how many there were
    std::vector<int> group;                // its ranks in MPI_COMM_WORLD, if it shares
    run::Neighbours neighbours;
    Lane near_by;                               // of its own neighbourhoods; no shadow: they stay with MPI
    std::shared_ptr<Shadow> of_neighbourhoods;  // that are made of it
    std::int64_t num_neighbourhoods = 0;        // before there was one
    // Calls that do not block and were left to MPI; the next one of which a later collective call asks.
    std::int64_t num_begun = 0;
    std::int64_t next_to_ask = 2;
    bool is_to_ask = false;
    Bytes longest = 0;  // in that call
    double bytes = 0;   // likewise, that come to this rank
    // Told beside a call.
    Word word;
    std::array<double, 4> rates{};
    std::vector<double> hosts;  // of all ranks
  };
  struct Answer {
    bool any_wants = false;
    bool all_may = false;
    Rank most_partners = 0;
    Turns::Experience experience = Turns::Experience::none;
    double most_bytes = 0;
    bool by_tcp = false;
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
    void restore(const Items& items) const;
    static void require_equal(const Bytes& by_mpi, const Bytes& by_us, const char* call);
    Bytes input_;  // in place only
  };

  /// Nothing of ours is thrown into the program: act() gives a code of MPI, or an error becomes one.
  template <typename Act>
  static int guarded(const char* call, MPI_Comm comm, Act&& act) {
    try {
      return act();
    } catch (const Error& error) {  // what the program's own error handlers throw passes
      return failed(call, comm, error);
    } catch (const std::bad_alloc& error) {
      return failed(call, comm, error);
    }
  }
  static int failed(const char* call, MPI_Comm comm, const std::exception& error) {
    return told_handler(comm, report(call, comm, error));
  }
  /// Rank 0, to who wants to know.
  void say(const std::string& text) const;
  void say_rates(const Turns::Rate& by_mpi, const Turns::Rate& by_us) const;

  template <typename Mpi>
  int leave(Mpi&& mpi) {
    ++num_left_;
    return mpi();
  }

  template <typename Mpi>
  int replace(const char* call, Place& place, Lane& lane, const Items& items, bool is_timed, Mpi&& mpi) {
    const auto ours = [&] { return exchange(place, lane, items, is_timed); };
    if (!checks_) return ours();
    const Comparison by_mpi(items);
    const int code = mpi();
    return code == MPI_SUCCESS ? by_mpi.with(items, call, ours) : code;
  }

  template <typename How>
  int post_in(Lane& lane, MPI_Comm comm, void* base, const Items& items, How&& how, Timing timing) {
    Posting posting = posting_of(lane, items, how.is_persistent);
    posting.call = how.call;
    posting.comm = comm;
    posting.timing = std::move(timing);
    if (checks_) posting.shade = std::make_unique<Shade>(items, base, how.is_persistent, how.by_mpi);
    background().post(std::move(posting), how.request);
    ++num_replaced_;
    return MPI_SUCCESS;
  }

  /// MPI's own call, which is looked after and timed as ours are.
  template <typename How>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  int post_mpis(MPI_Comm comm, void* base, How&& how, Timing timing) {
    Posting posting{.call = how.call, .comm = comm, .timing = std::move(timing), .keep = how.by_mpi};
    const int code = posting.keep(base, &posting.mpis);
    if (code != MPI_SUCCESS) return code;
    background().post(std::move(posting), how.request);
    ++num_left_;
    return MPI_SUCCESS;
  }

  /// As the lane's trial has it.
  template <typename GetItems, typename How>
  int post_tried(Place& place, Lane& lane, MPI_Comm comm, void* base, GetItems&& items, How&& how) {
    if (how.is_persistent) {
      const bool is_ours = !lane.trial || lane.trial->next_kept() != Trial::Way::mpi;
      const std::optional<Items> sound = is_ours ? items() : std::nullopt;
      return sound ? post_in(lane, comm, base, *sound, how, {}) : leave(how.leave);
    }
    const Trial::Step step = step_of(lane);
    if (step.way == Trial::Way::mpi && !step.is_timed) return leave(how.leave);
    const std::optional<Items> sound = items();
    if (!sound) return leave(how.leave);
    const Items& all = *sound;
    Timing timing = timing_of(place, lane, step, all);
    return step.way == Trial::Way::ours ? post_in(lane, comm, base, all, how, std::move(timing))
                                        : post_mpis(comm, base, how, std::move(timing));
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
  Bytes unasked_bytes(Rank most_senders) const;
  /// A message of MPI_Alltoall.
  bool may_gain(const Place& place, Bytes message) const;
  bool may_gain(Bytes message, Bytes unasked, Bytes whole) const;
  bool replaces_neighbours(const Place& place, std::int64_t block_bytes) const;
  /// MPI_Ialltoall, v and w.
  bool replaces_now(const Place& place) const;
  /// MPI_Alltoall_init, v and w: all are asked.
  bool is_worth_init(Place& place, MPI_Comm comm, const Items& items);
  /// Of an MPI_Ialltoall* that is left to MPI: by its number.
  static bool wants_to_ask(Place& place);
  void note_to_ask(Place& place, const Items& items);
  void ask_at(MPI_Comm comm, bool may_try = true);
  /// Where others with the same ranks may try something: all tell each other how it goes.
  void meet_at(MPI_Comm comm);
  Shadow* shared_by_its_ranks(Place& place, MPI_Comm comm);
  /// From a collective call of the shadow's ranks on. None where these may not be counted.
  std::shared_ptr<Trial> begin_trial(const Place& place, Shadow& shadow, Trial::Way first, bool is_trusted);
  static Trial::Step step_of(Lane& lane) { return lane.trial ? lane.trial->next() : Trial::Step(); }
  static Timing timing_of(const Place& place, const Lane& lane, const Trial::Step& step, const Items& items);
  static void end_timing(const Timing& timing);
  static Posting posting_of(Lane& lane, const Items& items, bool is_persistent);
  Step next_step(Place& place) const;
  /// Before the communicator's first call, which all ranks make.
  Step ask_first(Place& place, MPI_Comm comm, const Items& items);
  void take_answer(Place& place, MPI_Comm comm);
  MPI_Request begin_beside(Place& place, MPI_Comm comm, const Items& items, Beside what);
  void end_beside(Place& place, MPI_Comm comm, MPI_Request request, Beside what);
  void make_shadow(Place& place, MPI_Comm comm);
  /// Where there is one for the same ranks, on which we are expected to be faster; or in any case. Whether it has one now.
  bool share_shadow(Place& place, bool in_any_case);
  /// In the communicator's first call that all its ranks make.
  void look_for_shared(Place& place, MPI_Comm comm);
  void know_group(Place& place, MPI_Comm comm) const;
  /// At once. Whether it may be had.
  bool get_shadow(Place& place, MPI_Comm comm, const Items& items);
  MPI_Request begin_to_tell(Place& place, MPI_Comm comm, double wants, std::size_t partners,
                            double bytes = 0);
  /// Whether this rank has talked to another host by TCP yet.
  bool has_tcp();
  static Answer all_told(Place& place);
  double host_of(const Place& place) const;
  std::shared_ptr<Shadow> new_shadow(Place& place, MPI_Comm comm);
  void wait(MPI_Request request) const;
  void say_ambiguous(const char* call);
  /// Those of this host, from what all have told beside the making of the shadow.
  std::vector<Rank> near_ranks(Place& place) const;
  void use(Place& place, std::shared_ptr<Shadow> shadow) const;
  /// made of `parent`, its neighbours are known, and this is its part of the shadow.
  void join(Place& place, MPI_Comm made, MPI_Comm parent, const std::shared_ptr<Shadow>& shadow,
            Numbers numbers) const;
  int exchange(Place& place, Lane& lane, const Items& items, bool is_timed);
  void carry_out(Lane& lane, const Items& items) const;
  void wait_for(Shadow& shadow, const mpi::PlanlessEngine::Ongoing& ongoing) const;
  static void add(Place& place, bool is_ours, const Items& items, double seconds);

  std::atomic<bool> is_on_ = false;
  bool checks_ = false;
  bool are_hosts_pretended_ = false;  // for tests: every rank a host of its own
  std::atomic<bool> has_tcp_ = false;
  bool is_forced_ = false;  // for tests: that, from the first call on, and no turns
  std::int64_t unasked_bytes_ = 0;
  std::int64_t most_shadows_ = 0;
  double watchdog_s_ = 0;
  int key_ = MPI_KEYVAL_INVALID;
  bool tells_ = false;
  bool has_said_ambiguous_ = false;
  double host_ = 0;  // its number: a hash that a double can hold
  std::atomic<std::int64_t> num_shadows_ = 0;
  bool shares_ = false;
  std::map<std::vector<int>, std::shared_ptr<Shadow>> shared_;           // by the ranks in MPI_COMM_WORLD
  std::atomic<Turns::Experience> experience_ = Turns::Experience::none;  // the last one
  // For NUICE_DROPIN_VERBOSE.
  std::atomic<std::int64_t> num_replaced_ = 0;
  std::atomic<std::int64_t> num_left_ = 0;
  std::atomic<std::int64_t> num_preferred_ = 0;  // communicators on which MPI was found to be faster
  std::atomic<std::int64_t> num_to_ask_ = 0;     // communicators
  std::atomic<std::int64_t> num_trials_ = 0;     // that this rank meets others for
};

Replacer& replacer();

}  // namespace nuice::dropin
