// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/replace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/support/watchdog.hpp"
#include "exchange/planless/engine.hpp"
#include "exchange/planless/travel.hpp"
#include "mpi/call.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::dropin {

using mpi::must;
using mpi::PlanlessEngine;
using mpi::Travel;

/// A communicator's engine, and memory that is kept from call to call.
struct Engine : private mpi::PlanlessListener {
  PlanlessEngine engine;
  std::vector<Travel> outgoing{};
  std::vector<Travel> incoming{};
  std::vector<mpi::PlanlessSend> sends{};
  std::vector<mpi::PlanlessReceive> receives{};

  Engine(const mpi::PlanlessChannel& channel, mpi::PlanlessSettings settings)
      : engine(channel, std::move(settings)) {}

  void land(std::size_t receive) override { incoming[receive].unpack(); }
  PlanlessEngine::Ongoing* begin(Bytes unasked_bytes) {
    return engine.begin(sends, receives, *this, unasked_bytes);
  }
};

namespace {

constexpr std::int64_t segment_bytes = 1448;  // of TCP on Ethernet

Bytes size_of(const Item& item) { return item.count == 0 ? 0 : item.count * mpi::size_of(item.type); }

double number_from(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

mpi::Segment segment_of(const Item& item) { return {item.at, item.count, item.type}; }

/// By rank, the lowest rank with which it shares memory. every_rank_alone: pretended.
std::vector<int> hosts_of_world(bool every_rank_alone) {
  int rank = 0;
  int num_ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  int lowest = rank;
  if (!every_rank_alone) {
    MPI_Comm host{};
    must(PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
         "MPI_Comm_split_type");
    must(PMPI_Bcast(&lowest, 1, MPI_INT, 0, host), "MPI_Bcast");
    must(PMPI_Comm_free(&host), "MPI_Comm_free");
  }
  std::vector<int> host_of(static_cast<std::size_t>(num_ranks));
  must(PMPI_Allgather(&lowest, 1, MPI_INT, host_of.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
  return host_of;
}

// MPI's own functions for this are objects of the MPI that the program has.
int keep_to_itself(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

}  // namespace

/// Never destroyed: programs call MPI until their very end.
Replacer& replacer() {
  static Replacer* const one = new Replacer();
  return *one;
}

void Replacer::begin() {
  const char* const mode = std::getenv("NUICE_DROPIN");
  const std::string name = mode == nullptr ? "" : mode;
  if (name != "on" && name != "check") return;
  checks_ = name == "check";
  is_forced_ = number_from("NUICE_DROPIN_FORCE", 0) != 0;
  unasked_bytes_ = static_cast<std::int64_t>(number_from("NUICE_DROPIN_UNASKED", 0));
  most_shadows_ = static_cast<std::int64_t>(number_from("NUICE_DROPIN_MAX_COMMS", 64));
  tells_ = number_from("NUICE_DROPIN_VERBOSE", 0) != 0;
  watchdog_s_ = number_from("NUICE_DROPIN_WATCHDOG", 0);
  PMPI_Comm_create_keyval(keep_to_itself, forget, &key_, this);
  host_of_ = hosts_of_world(is_forced_);
  is_on_ = true;
}

void Replacer::end() {
  is_ending_ = true;
  int rank = 0;
  if (tells_) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (tells_ && rank == 0)
    std::fprintf(stderr,
                 "nuice: rank 0: %lld calls replaced, %lld left to MPI, which was faster in %lld trials\n",
                 static_cast<long long>(num_replaced_), static_cast<long long>(num_left_),
                 static_cast<long long>(num_preferred_));
}

/// Kept as an attribute, as handles are used again when a communicator is freed.
Replacer::Place* Replacer::place_of(MPI_Comm comm, std::int64_t block_bytes) {
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_there);
  Place* const place = is_there != 0 ? static_cast<Place*>(value) : new_place(comm);
  const bool is_short = block_bytes >= 0 && block_bytes <= (is_forced_ ? 0 : segment_bytes);
  return place == nullptr || place->stays_with_mpi || is_short ? nullptr : place;
}

Replacer::Place* Replacer::new_place(MPI_Comm comm) {
  int is_inter = 0;
  int num_ranks = 0;
  // What is no communicator is left to MPI to complain of.
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &num_ranks) != MPI_SUCCESS)
    return nullptr;
  auto place = std::make_unique<Place>();
  PMPI_Comm_rank(comm, &place->rank);
  if (is_inter == 0) place->host_of = hosts_of(comm);
  // On one host messages cross no port.
  place->stays_with_mpi =
      std::ranges::adjacent_find(place->host_of, std::ranges::not_equal_to()) == place->host_of.end();
  PMPI_Comm_set_attr(comm, key_, place.get());
  return place.release();
}

/// Inside MPI_Comm_free, which is collective; at the end of the program MPI frees the rest.
int Replacer::forget(MPI_Comm, int, void* value, void* extra) {
  const std::unique_ptr<Place> place(static_cast<Place*>(value));
  auto& all = *static_cast<Replacer*>(extra);
  if (!place->engine) return MPI_SUCCESS;
  place->engine.reset();
  --all.num_shadows_;
  return all.is_ending_ ? MPI_SUCCESS : PMPI_Comm_free(&place->shadow);
}

/// 2, 16, 128, ...: an allreduce each, which short messages must be able to bear.
bool Replacer::is_asked(std::int64_t call) {
  const auto bits = static_cast<std::uint64_t>(call);
  return std::has_single_bit(bits) && std::countr_zero(bits) % 3 == 1;
}

/// By the number of the call, and what all ranks found in the trial before.
Replacer::Step Replacer::next_step(Place& place) const {
  const std::int64_t call = ++place.calls;
  if (!place.engine && !is_forced_ && call == 1) return {Way::mpi, true};
  if (!place.engine) return {is_forced_ || is_asked(call) ? Way::ask : Way::leave};
  if (is_forced_ || checks_) return {Way::replace};
  if (place.next_trial == 0) {
    place.next_trial = call + 1;  // there has been a call of ours, which made the connections
    return {Way::replace, true};
  }
  const std::int64_t from_trial = call - place.next_trial;
  if (place.prefers_mpi) {
    if (from_trial == -1) return {Way::mpi, true};
    if (from_trial == 0) return {Way::replace};
    return from_trial == 1 ? Step{Way::replace, true, true} : Step{Way::leave};
  }
  const bool is_first = place.trials == 0;
  if (from_trial == 0) return is_first ? Step{Way::replace, true, true} : Step{Way::mpi, true, true};
  return {Way::replace, call != place.last_trial + 1};
}

/// Whether any rank has a message that would be granted.
bool Replacer::ask(Place& place, MPI_Comm comm, const Items& items) {
  Bytes longest = 0;
  for (const Item& item : items.out) longest = std::max(longest, size_of(item));
  return ask_all(place, comm, longest > (is_forced_ ? 0 : segment_bytes));
}

bool Replacer::ask_all(Place& place, MPI_Comm comm, bool would_gain) {
  std::array<int, 2> told = {would_gain ? 1 : 0, num_shadows_ >= most_shadows_ ? 1 : 0};
  if (PMPI_Allreduce(MPI_IN_PLACE, told.data(), 2, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS) return false;
  if (told[1] != 0) place.stays_with_mpi = true;
  if (told[0] == 0 || told[1] != 0) return false;
  make_shadow(place, comm);
  return true;
}

int Replacer::begin_neighbours(const char* call, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return MPI_SUCCESS;
  return guarded(call, comm, [&] {
    Place* const place = place_of(comm, -1);
    if (place == nullptr) return MPI_SUCCESS;
    place->neighbours = neighbours_of(comm);
    auto most = static_cast<Rank>(place->neighbours.sources.size());
    must(PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    place->unasked_of_neighbours = unasked_bytes_ > 0 ? unasked_bytes_ : mpi::default_unasked_bytes(most);
    if (most > 0) (void)ask_all(*place, comm, true);
    return MPI_SUCCESS;
  });
}

/// Empty where one of its ranks is none of MPI_COMM_WORLD.
std::vector<int> Replacer::hosts_of(MPI_Comm comm) const {
  MPI_Group all{};
  MPI_Group own{};
  int num_ranks = 0;
  PMPI_Comm_size(comm, &num_ranks);
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_group(comm, &own);
  std::vector<int> ranks(static_cast<std::size_t>(num_ranks));
  for (int rank = 0; rank < num_ranks; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  std::vector<int> hosts(ranks.size());
  PMPI_Group_translate_ranks(own, num_ranks, ranks.data(), all, hosts.data());
  PMPI_Group_free(&own);
  PMPI_Group_free(&all);
  if (std::ranges::find(hosts, MPI_UNDEFINED) != hosts.end()) return {};
  for (int& each : hosts) each = host_of_[static_cast<std::size_t>(each)];
  return hosts;
}

/// Split off, not duplicated: the program's attributes are none of ours.
void Replacer::make_shadow(Place& place, MPI_Comm comm) {
  const auto num_ranks = static_cast<Rank>(place.host_of.size());
  must(PMPI_Comm_split(comm, 0, place.rank, &place.shadow), "MPI_Comm_split");
  must(PMPI_Comm_set_errhandler(place.shadow, NUICE_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  std::vector<Rank> near;
  const int own_host = place.host_of[static_cast<std::size_t>(place.rank)];
  for (Rank each = 0; each < num_ranks; ++each)
    if (place.host_of[static_cast<std::size_t>(each)] == own_host) near.push_back(each);
  const double share = 1.0 / static_cast<double>(near.size());
  const Bytes unasked = unasked_bytes_ > 0 ? unasked_bytes_ : mpi::default_unasked_bytes(num_ranks - 1);
  constexpr int numbers = 16000;  // of tags every MPI has 2^15
  place.engine =
      std::make_unique<Engine>(mpi::PlanlessChannel{place.shadow, place.rank, num_ranks, 0, numbers},
                               mpi::PlanlessSettings{.unasked_bytes = unasked,
                                                     .window_senders = 4,
                                                     .window = {.share = share},
                                                     .send_share = share,
                                                     .near = near});
  ++num_shadows_;
}

void Replacer::add(Rate& rate, const Place& place, const Items& items, double seconds) {
  for (const Item& item : items.out)
    if (item.rank != place.rank) rate.bytes += static_cast<double>(size_of(item));
  rate.seconds += seconds;
}

/// Over all ranks, which then choose alike. MPI must be clearly faster to be taken.
void Replacer::compare(Place& place, MPI_Comm comm) {
  std::array<double, 4> sums = {place.by_mpi.bytes, place.by_mpi.seconds, place.by_us.bytes,
                                place.by_us.seconds};
  if (PMPI_Allreduce(MPI_IN_PLACE, sums.data(), 4, MPI_DOUBLE, MPI_SUM, comm) != MPI_SUCCESS) return;
  constexpr double clearly = 1.03;
  constexpr double far_ahead = 2;
  const double mpi_rate = sums[0] * sums[3];
  const double our_rate = sums[2] * sums[1];
  place.prefers_mpi = mpi_rate > clearly * our_rate;
  place.last_trial = place.calls;
  place.next_trial = place.calls * (our_rate > far_ahead * mpi_rate ? 16 : 4);
  ++place.trials;
  if (place.prefers_mpi) ++num_preferred_;
  for (Rate* const rate : {&place.by_mpi, &place.by_us}) {  // the newer counts for more
    rate->bytes /= 2;
    rate->seconds /= 2;
  }
}

int Replacer::exchange(Place& place, MPI_Comm comm, const Items& items, const Step& step) {
  const double begin_s = PMPI_Wtime();
  carry_out(place, items);
  ++num_replaced_;
  if (step.is_timed) add(place.by_us, place, items, PMPI_Wtime() - begin_s);
  if (step.compares) compare(place, comm);
  return MPI_SUCCESS;
}

int Replacer::failed(const char* call, MPI_Comm comm, const std::exception& error) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::fprintf(stderr, "nuice: %s on rank %d: %s\n", call, rank, error.what());
  const auto* const known = dynamic_cast<const Error*>(&error);
  const bool differs = known != nullptr && known->code() == ErrorCode::mismatch;
  const int code = differs ? MPI_ERR_TRUNCATE : known != nullptr ? MPI_ERR_OTHER : MPI_ERR_NO_MEM;
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

void Replacer::carry_out(Place& place, const Items& items) const {
  Engine& own = *place.engine;
  if (own.engine.is_broken())  // its memory may still be read and written
    throw Error(ErrorCode::state, "a call on this communicator has failed before");
  own.outgoing.clear();
  own.incoming.clear();
  own.sends.clear();
  own.receives.clear();
  for (const Item& item : items.out) {
    if (item.count == 0) continue;
    Travel& travel = own.outgoing.emplace_back(std::array{segment_of(item)}, items.in_place);
    travel.pack();
    if (travel.bytes() > 0) own.sends.push_back({item.rank, travel.at(), travel.bytes()});
  }
  for (const Item& item : items.in) {
    if (item.count == 0) continue;
    Travel travel(std::array{segment_of(item)});
    if (travel.bytes() == 0) continue;
    own.receives.push_back({item.rank, travel.at(), travel.bytes()});
    own.incoming.push_back(std::move(travel));
  }
  PlanlessEngine::Ongoing* const ongoing =
      own.begin(items.are_of_neighbours ? place.unasked_of_neighbours : 0);
  try {
    wait_for(own.engine, *ongoing);
  } catch (const Error&) {
    own.engine.cancel(ongoing);  // the program has its memory back
    throw;
  }
  own.engine.end(ongoing);
}

void Replacer::wait_for(PlanlessEngine& engine, const PlanlessEngine::Ongoing& ongoing) const {
  mpi::Patience patience;
  double moved_s = PMPI_Wtime();
  while (!engine.is_done(ongoing)) {
    if (engine.look()) {
      patience.found_something();
      if (watchdog_s_ > 0) moved_s = PMPI_Wtime();
    } else {
      patience.found_nothing();
      if (watchdog_s_ > 0 && PMPI_Wtime() - moved_s > watchdog_s_)
        throw Error(ErrorCode::timeout, "nothing has moved for " + std::to_string(watchdog_s_) +
                                            " s; waiting for " + names_of(engine.waits_for(ongoing)));
    }
  }
}

Replacer::Comparison::Comparison(const Items& items) {
  if (items.in_place) input_ = packed(items.out);
}

Replacer::Comparison::Bytes Replacer::Comparison::packed(const std::vector<Item>& items) {
  Bytes all;
  for (const Item& item : items) {
    if (item.count == 0) continue;
    Travel travel(std::array{segment_of(item)});
    travel.pack();
    all.insert(all.end(), travel.at(), travel.at() + travel.bytes());
  }
  return all;
}

void Replacer::Comparison::restore(const Items& items) const {
  const std::byte* from = input_.data();
  for (const Item& item : items.in) {
    if (item.count == 0) continue;
    Travel travel(std::array{segment_of(item)});
    if (items.in_place) {
      std::copy_n(from, travel.bytes(), travel.at());
      from += travel.bytes();
    } else if (travel.bytes() > 0) {
      std::memset(travel.at(), 0xEE, static_cast<std::size_t>(travel.bytes()));  // what is not written shows
    }
    travel.unpack();
  }
}

void Replacer::Comparison::require_equal(const Bytes& by_mpi, const Bytes& by_us, const char* call) {
  if (by_mpi == by_us) return;
  std::fprintf(stderr, "nuice: %s: the result differs from MPI's\n", call);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace nuice::dropin
