// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/replace.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/support/environment.hpp"
#include "core/support/watchdog.hpp"
#include "dropin/pmpi.hpp"
#include "exchange/planless/engine.hpp"
#include "mpi/call.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::dropin {

using mpi::must;
using mpi::PlanlessEngine;

namespace {

/// On rank 0: all ranks have the same environment, as a rule.
void tell(const std::vector<std::string>& complaints) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const std::string& one : complaints)
    if (rank == 0) std::fprintf(stderr, "nuice: %s\n", one.c_str());
}

/// Alike where ranks share memory: a machine that has booted once, and in it what MPI takes for a host. Not asked of MPI_Comm_split_type,
/// which communicates. A whole number that a double holds.
double number_of_host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  PMPI_Get_processor_name(name.data(), &length);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  constexpr int bits_of_double = 52;
  return static_cast<double>(std::hash<std::string>{}(name.data() + boot) >> (64 - bits_of_double));
}

/// As launchers tell. Not known: asked for later.
bool is_on_one_host() {
  int num_ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  core::Environment environment;
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (environment.whole(name, 1, std::numeric_limits<int>::max(), 0) == num_ranks) return true;
  return false;
}

// MPI's own functions for this are objects of the MPI that the program has.
int keep_to_itself(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}
/// MPI calls this whenever it likes: in MPI_Test, too, of whatever has kept a communicator (MPICH). Replacer::free() has the rest.
int nothing_to_free(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

}  // namespace

/// Of all ranks of comm, in another communicator. Empty where some are not in it.
std::vector<int> ranks_in(MPI_Comm other, MPI_Comm comm, int num_ranks) {
  std::vector<int> ranks(static_cast<std::size_t>(num_ranks));
  std::vector<int> in_other(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group own{};
  MPI_Group others{};
  must(PMPI_Comm_group(comm, &own), "MPI_Comm_group");
  must(PMPI_Comm_group(other, &others), "MPI_Comm_group");
  must(PMPI_Group_translate_ranks(own, num_ranks, ranks.data(), others, in_other.data()),
       "MPI_Group_translate_ranks");
  PMPI_Group_free(&own);
  PMPI_Group_free(&others);
  if (std::ranges::find(in_other, MPI_UNDEFINED) != in_other.end()) in_other.clear();
  return in_other;
}

/// Never destroyed: programs call MPI until their very end.
Replacer& replacer() {
  static auto* const one = new Replacer();
  return *one;
}

void Replacer::begin() {
  core::Environment environment;
  const std::string mode = environment.word("NUICE_DROPIN", {"off", "on", "check", "record"});
  checks_ = mode == "check";
  const std::string forced = environment.word("NUICE_DROPIN_FORCE", {"0", "1", "hosts", "tcp"});
  are_hosts_pretended_ = forced != "0";
  has_tcp_ = forced == "tcp";
  is_forced_ = forced == "1";
  unasked_bytes_ = environment.whole("NUICE_DROPIN_UNASKED", 0, std::numeric_limits<int>::max(), 0);
  most_shadows_ = environment.whole("NUICE_DROPIN_MAX_COMMS", 0, std::numeric_limits<int>::max(), 64);
  tells_ = environment.word("NUICE_DROPIN_VERBOSE", {"0", "1"}) == "1";
  watchdog_s_ = environment.number("NUICE_DROPIN_WATCHDOG", 0, 0);
  tell(environment.complaints());
  if (mode != "on" && mode != "check") return;
  if (!are_hosts_pretended_ && is_on_one_host()) {
    say("all ranks are on one host: nothing is replaced");
    return;
  }
  PMPI_Comm_create_keyval(keep_to_itself, nothing_to_free, &key_, nullptr);
  host_ = number_of_host();
  int threads = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&threads);
  shares_ = threads != MPI_THREAD_MULTIPLE;
  background().begin(!shares_, watchdog_s_);
  is_on_ = true;
}

/// From here on everything is MPI's, in the program's attribute functions inside MPI_Finalize, too.
void Replacer::end() {
  if (!is_on_.exchange(false)) return;
  background().end();
  say(std::to_string(num_replaced_) + " calls replaced, " + std::to_string(num_left_) +
      " left to MPI, which was faster in " + std::to_string(num_preferred_) + " trials");
}

void Replacer::say(const std::string& text) const {
  int rank = 0;
  if (tells_) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (tells_ && rank == 0) std::fprintf(stderr, "nuice: rank 0: %s\n", text.c_str());
}

void Replacer::say_rates(const Turns::Rate& by_mpi, const Turns::Rate& by_us) const {
  if (!tells_) return;
  const auto rate_of = [](const Turns::Rate& rate) {
    return std::to_string(static_cast<std::int64_t>(rate.seconds > 0 ? rate.bytes / rate.seconds : 0));
  };
  say("bytes a second and rank: " + rate_of(by_mpi) + " by MPI, " + rate_of(by_us) + " by us");
}

/// Kept as an attribute, as handles are used again when a communicator is freed.
Replacer::Place* Replacer::place_of(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return nullptr;  // MPI complains of it
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_there);
  Place* const place = is_there != 0 ? static_cast<Place*>(value) : new_place(comm);
  return place == nullptr || place->stays_with_mpi ? nullptr : place;
}

/// most_senders: to one rank.
Bytes Replacer::unasked_bytes(Rank most_senders) const {
  return unasked_bytes_ > 0 ? unasked_bytes_ : mpi::default_unasked_bytes(most_senders);
}

/// One that is not sent whole at once, as MPI would send it.
bool Replacer::may_gain(Bytes message, Bytes unasked, Bytes whole) const {
  if (is_forced_) return message > 0;
  return mpi::unasked_bytes_of(message, unasked, whole) < message;
}

bool Replacer::may_gain(const Place& place, Bytes message) const {
  return may_gain(message, unasked_bytes(place.num_ranks - 1), 0);
}

bool Replacer::replaces_neighbours(const Place& place, std::int64_t block_bytes) const {
  const Lane& lane = place.near_by;
  return lane.shadow && (block_bytes < 0 || may_gain(block_bytes, lane.unasked, lane.whole));
}

bool Replacer::replaces_now(const Place& place) const {
  if (!place.all.shadow || !place.all.numbers) return false;
  return is_forced_ || checks_ || place.turns.are_ours();
}

Timing Replacer::timing_of(const Place& place, const Lane& lane, const Trial::Step& step,
                           const Items& items) {
  if (!step.is_timed) return {};
  return {lane.trial, step, bytes_of_others(items.in, place.rank), PMPI_Wtime()};
}

void Replacer::end_timing(const Timing& timing) {
  if (timing.trial) timing.trial->add(timing.step, timing.bytes, PMPI_Wtime() - timing.begin_s);
}

Posting Replacer::posting_of(Lane& lane, const Items& items, bool is_persistent) {
  Posting posting{.shadow = lane.shadow,
                  .terms = {lane.unasked, lane.whole, true},
                  .overlap = lane.overlap,
                  .is_persistent = is_persistent};
  {
    const std::scoped_lock lock(lane.shadow->mutex);
    posting.messages = lane.shadow->take_call();
  }
  posting.messages->take(items, lane.ranks);
  is_persistent ? lane.numbers->give_to_keep(*posting.messages) : lane.numbers->give(*posting.messages);
  return posting;
}

Replacer::Place* Replacer::new_place(MPI_Comm comm) {
  int is_inter = 0;
  int num_ranks = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  PMPI_Comm_size(comm, &num_ranks);
  auto place = std::make_unique<Place>();
  PMPI_Comm_rank(comm, &place->rank);
  place->num_ranks = num_ranks;
  // Processes that were spawned, or have connected, may have been started in another way: all ranks see that some are not in
  // their own MPI_COMM_WORLD.
  place->stays_with_mpi =
      is_inter != 0 || num_ranks == 1 || ranks_in(MPI_COMM_WORLD, comm, num_ranks).empty();
  PMPI_Comm_set_attr(comm, key_, place.get());
  return place.release();
}

void Replacer::free(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_there);
  if (is_there == 0) return;
  const std::unique_ptr<Place> place(static_cast<Place*>(value));
  const bool may_start_again = background().finish(comm);
  PMPI_Comm_delete_attr(comm, key_);
  for (const Lane* const lane : {&place->all, &place->near_by})
    if (lane->trial) lane->trial->end();
  // One that others may share stays: each rank may free its communicators at another time (garbage collectors do), and all must
  // find the same.
  if (!place->all.shadow || !place->group.empty() || may_start_again) return;
  MPI_Comm shadow = place->all.shadow->comm;
  place->all.shadow.reset();
  --num_shadows_;
  PMPI_Comm_free(&shadow);
}

Replacer::Step Replacer::next_step(Place& place) const {
  if (is_forced_ || (checks_ && place.all.shadow)) return {Way::replace};
  return place.turns.next(place.all.shadow != nullptr);
}

void Replacer::add(Place& place, bool is_ours, const Items& items, double seconds) {
  place.turns.add(is_ours, bytes_of_others(items.out, place.rank), seconds);
}

int Replacer::exchange(Place& place, Lane& lane, const Items& items, bool is_timed) {
  const double begin_s = PMPI_Wtime();
  carry_out(lane, items);
  ++num_replaced_;
  if (is_timed) add(place, true, items, PMPI_Wtime() - begin_s);
  return MPI_SUCCESS;
}

void Replacer::carry_out(Lane& lane, const Items& items) const {
  Shadow& shadow = *lane.shadow;
  std::unique_lock lock(shadow.mutex);
  std::unique_ptr<Call> call = shadow.take_call();
  call->take(items, lane.ranks);
  call->pack();
  if (lane.numbers_all) lane.numbers->give(*call);
  PlanlessEngine::Ongoing* const ongoing =
      shadow.engine.begin(call->sends, call->receives, *call, {lane.unasked, lane.whole});
  lock.unlock();
  try {
    wait_for(shadow, *ongoing);
  } catch (const Error&) {
    lock.lock();
    shadow.engine.cancel(ongoing);  // the program has its memory back
    (void)call.release();           // ours may still be read and written
    throw;
  }
  lock.lock();
  shadow.engine.end(ongoing);
  shadow.give_back(std::move(call));
}

/// Whatever else goes on in the background does so meanwhile.
void Replacer::wait_for(Shadow& shadow, const PlanlessEngine::Ongoing& ongoing) const {
  const auto is_done = [&] {
    const std::scoped_lock lock(shadow.mutex);
    return shadow.engine.is_done(ongoing);
  };
  const auto look = [&] {
    const bool has_found = background().any() && background().look();
    const std::scoped_lock lock(shadow.mutex);
    return (!shadow.engine.is_done(ongoing) && shadow.engine.look()) || has_found;
  };
  const auto give_up = [&] { throw timeout_of(watchdog_s_, shadow.engine.waits_for(ongoing)); };
  look_until(watchdog_s_, is_done, look, give_up);
}

Replacer::Comparison::Comparison(const Items& items) {
  if (items.in_place) input_ = packed(items.out);
}

/// What is not written shows.
void Replacer::Comparison::restore(const Items& items) const {
  if (items.in_place) return unpack(input_, items.in);
  unpack(Bytes(packed(items.in).size(), std::byte{0xEE}), items.in);
}

void Replacer::Comparison::require_equal(const Bytes& by_mpi, const Bytes& by_us, const char* call) {
  if (by_mpi == by_us) return;
  std::fprintf(stderr, "nuice: %s: the result differs from MPI's\n", call);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace nuice::dropin
