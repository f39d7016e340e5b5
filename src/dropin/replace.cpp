// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/replace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
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
  MPI_Comm shadow;
  std::vector<Rank> near;
  // Than MPI, as was seen last.
  bool is_expected_faster = false;
  bool is_known_faster = false;
  PlanlessEngine engine;
  std::vector<Travel> outgoing{};
  std::vector<Travel> incoming{};
  std::vector<mpi::PlanlessSend> sends{};
  std::vector<mpi::PlanlessReceive> receives{};

  Engine(const mpi::PlanlessChannel& channel, mpi::PlanlessSettings settings)
      : shadow(channel.comm), near(settings.near), engine(channel, std::move(settings)) {}

  void land(std::size_t receive) override { incoming[receive].unpack(); }
  PlanlessEngine::Ongoing* begin(Bytes unasked_bytes) {
    return engine.begin(sends, receives, *this, unasked_bytes);
  }
};

namespace {

Bytes size_of(const Item& item) { return item.count == 0 ? 0 : item.count * mpi::size_of(item.type); }

double bytes_of_others(const std::vector<Item>& items, Rank me) {
  double bytes = 0;
  for (const Item& item : items)
    if (item.rank != me) bytes += static_cast<double>(size_of(item));
  return bytes;
}

double number_from(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

/// As the only thing that is under way.
void wait(MPI_Request request) { must(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait"); }

mpi::Segment segment_of(const Item& item) { return {item.at, item.count, item.type}; }

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

/// Empty where some are not in it.
std::vector<int> ranks_in_world(MPI_Comm comm, int num_ranks) {
  std::vector<int> ranks(static_cast<std::size_t>(num_ranks));
  std::vector<int> in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group own{};
  MPI_Group world{};
  must(PMPI_Comm_group(comm, &own), "MPI_Comm_group");
  must(PMPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  must(PMPI_Group_translate_ranks(own, num_ranks, ranks.data(), world, in_world.data()),
       "MPI_Group_translate_ranks");
  PMPI_Group_free(&own);
  PMPI_Group_free(&world);
  if (std::ranges::find(in_world, MPI_UNDEFINED) != in_world.end()) in_world.clear();
  return in_world;
}

/// As launchers tell. Not known: asked for later.
bool is_on_one_host() {
  int num_ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (static_cast<int>(number_from(name, 0)) == num_ranks) return true;
  return false;
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
  const char* const forced = std::getenv("NUICE_DROPIN_FORCE");
  are_hosts_pretended_ = forced != nullptr && std::string(forced) != "0";
  is_forced_ = are_hosts_pretended_ && std::string(forced) != "hosts";
  unasked_bytes_ = static_cast<std::int64_t>(number_from("NUICE_DROPIN_UNASKED", 0));
  most_shadows_ = static_cast<std::int64_t>(number_from("NUICE_DROPIN_MAX_COMMS", 64));
  tells_ = number_from("NUICE_DROPIN_VERBOSE", 0) != 0;
  watchdog_s_ = number_from("NUICE_DROPIN_WATCHDOG", 0);
  if (!are_hosts_pretended_ && is_on_one_host()) {
    say("all ranks are on one host: nothing is replaced");
    return;
  }
  PMPI_Comm_create_keyval(keep_to_itself, forget, &key_, this);
  host_ = number_of_host();
  int threads = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&threads);
  shares_ = threads != MPI_THREAD_MULTIPLE;
  is_on_ = true;
}

void Replacer::end() {
  is_ending_ = true;
  if (!is_on_) return;
  say(std::to_string(num_replaced_) + " calls replaced, " + std::to_string(num_left_) +
      " left to MPI, which was faster in " + std::to_string(num_preferred_) + " trials");
}

void Replacer::say(const std::string& text) const {
  int rank = 0;
  if (tells_) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (tells_ && rank == 0) std::fprintf(stderr, "nuice: rank 0: %s\n", text.c_str());
}

/// Kept as an attribute, as handles are used again when a communicator is freed.
Replacer::Place* Replacer::place_of(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_there);
  Place* const place = is_there != 0 ? static_cast<Place*>(value) : new_place(comm);
  return place == nullptr || place->stays_with_mpi ? nullptr : place;
}

/// are_neighbours: fewer senders than there are ranks, so more may come of each.
Bytes Replacer::unasked_bytes(const Place& place, bool are_neighbours) const {
  if (unasked_bytes_ > 0) return unasked_bytes_;
  return mpi::default_unasked_bytes(are_neighbours ? place.most_neighbours : place.num_ranks - 1);
}

/// A message that is not sent whole at once, as MPI would send it.
bool Replacer::may_gain(const Place& place, Bytes message, bool are_neighbours) const {
  if (is_forced_) return message > 0;
  return mpi::unasked_bytes_of(message, unasked_bytes(place, are_neighbours)) < message;
}

Replacer::Place* Replacer::new_place(MPI_Comm comm) {
  int is_inter = 0;
  int num_ranks = 0;
  // What is no communicator is left to MPI to complain of.
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &num_ranks) != MPI_SUCCESS)
    return nullptr;
  auto place = std::make_unique<Place>();
  PMPI_Comm_rank(comm, &place->rank);
  place->num_ranks = num_ranks;
  place->stays_with_mpi = is_inter != 0 || num_ranks == 1;
  PMPI_Comm_set_attr(comm, key_, place.get());
  return place.release();
}

/// Inside MPI_Comm_free, which is collective; at the end of the program MPI frees the rest.
int Replacer::forget(MPI_Comm, int, void* value, void* extra) {
  const std::unique_ptr<Place> place(static_cast<Place*>(value));
  auto& all = *static_cast<Replacer*>(extra);
  if (!place->engine) return MPI_SUCCESS;
  // One that others may share stays: each rank may free its communicators at another time (garbage collectors do), and all must
  // find the same.
  if (!place->group.empty()) return MPI_SUCCESS;
  MPI_Comm shadow = place->engine->shadow;
  place->engine.reset();
  --all.num_shadows_;
  return all.is_ending_ ? MPI_SUCCESS : PMPI_Comm_free(&shadow);
}

bool Replacer::share_shadow(Place& place, bool in_any_case) {
  if (place.group.empty()) return false;
  const auto found = shared_.find(place.group);
  if (found == shared_.end() || !(in_any_case || found->second->is_expected_faster)) return false;
  place.engine = found->second;
  place.near = place.engine->near;
  return true;
}

void Replacer::look_for_shared(Place& place, MPI_Comm comm) {
  place.has_looked_for_shared = true;
  if (place.engine) return;
  place.group = ranks_in_world(comm, place.num_ranks);
  if (share_shadow(place, is_forced_)) place.turns.share(place.engine->is_known_faster);
}

Replacer::Step Replacer::next_step(Place& place) const {
  if (is_forced_ || (checks_ && place.engine)) return {Way::replace};
  return place.turns.next(place.engine != nullptr);
}

MPI_Request Replacer::begin_to_tell(Place& place, MPI_Comm comm, double wants, std::size_t partners,
                                    double bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  const double host = host_of(place);
  const Turns::Experience seen = experience_;
  place.word = {.wants = wants,
                .has_one = has_had_neighbour_shadow_ ? 1.0 : 0.0,
                .is_full = num_shadows_ >= most_shadows_ ? 1.0 : 0.0,
                .host = host,
                .minus_host = -host,
                .partners = static_cast<double>(partners),
                .has_seen_mpi = seen == Turns::Experience::mpi ? 1.0 : 0.0,
                .has_not_seen_us = seen != Turns::Experience::ours ? 1.0 : 0.0,
                .bytes = bytes,
                .keeps = shares_ ? 0.0 : 1.0};
  constexpr int numbers = sizeof(Word) / sizeof(double);
  must(PMPI_Iallreduce(MPI_IN_PLACE, &place.word, numbers, MPI_DOUBLE, MPI_MAX, comm, &request),
       "MPI_Iallreduce");
  return request;
}

Replacer::Answer Replacer::all_told(Place& place) {
  using enum Turns::Experience;
  const Word& word = place.word;
  // On one host messages cross no port.
  const bool spans_hosts = word.host != -word.minus_host;
  const Answer answer{.any_wants = word.wants != 0,
                      .any_has_one = word.has_one != 0,
                      .all_may = word.is_full == 0 && spans_hosts,
                      .most_partners = static_cast<Rank>(word.partners),
                      // One that has seen MPI faster is enough; trusted is what all have seen.
                      .experience = word.has_seen_mpi != 0      ? mpi
                                    : word.has_not_seen_us != 0 ? none
                                                                : ours,
                      .most_bytes = word.bytes};
  if (word.keeps != 0) place.group.clear();  // each rank may have asked for another level of threads
  if (!answer.all_may && !place.engine) place.stays_with_mpi = true;
  return answer;
}

double Replacer::host_of(const Place& place) const {
  return are_hosts_pretended_ ? static_cast<double>(place.rank) : host_;
}

void Replacer::find_near(Place& place) const {
  place.near.clear();
  for (Rank each = 0; each < place.num_ranks; ++each)
    if (place.hosts[static_cast<std::size_t>(each)] == host_of(place)) place.near.push_back(each);
  place.hosts = {};
}

MPI_Request Replacer::begin_beside(Place& place, MPI_Comm comm, const Items& items, Beside what) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (what == Beside::ask) {  // has any rank a message that would be granted?
    Bytes longest = 0;
    for (const Item& item : items.out) longest = std::max(longest, size_of(item));
    return begin_to_tell(place, comm, may_gain(place, longest, false) ? 1 : 0, 0,
                         bytes_of_others(items.in, place.rank));
  }
  if (what == Beside::make_shadow && !share_shadow(place, true)) {
    place.hosts.assign(static_cast<std::size_t>(place.num_ranks), 0);
    place.hosts[static_cast<std::size_t>(place.rank)] = host_of(place);
    must(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DOUBLE, place.hosts.data(), 1, MPI_DOUBLE, comm,
                         &place.telling_hosts),
         "MPI_Iallgather");
    must(PMPI_Comm_idup(comm, &place.shadow, &request), "MPI_Comm_idup");
  }
  if (what == Beside::compare) {
    const auto& [mpi_bytes, mpi_s] = place.turns.by_mpi();
    const auto& [our_bytes, our_s] = place.turns.by_us();
    place.rates = {mpi_bytes, mpi_s, our_bytes, our_s};
    must(PMPI_Iallreduce(MPI_IN_PLACE, place.rates.data(), 4, MPI_DOUBLE, MPI_SUM, comm, &request),
         "MPI_Iallreduce");
  }
  return request;
}

void Replacer::make_shadow(Place& place, MPI_Comm comm) {
  end_beside(place, comm, begin_beside(place, comm, {}, Beside::make_shadow), Beside::make_shadow);
}

void Replacer::end_beside(Place& place, MPI_Comm comm, MPI_Request request, Beside what) {
  wait(request);
  if (what == Beside::ask) {
    const Answer answer = all_told(place);
    place.turns.answer(answer.any_wants && answer.all_may, answer.most_bytes, answer.experience);
    if (!place.turns.is_trusted()) return;
    make_shadow(place, comm);
    place.engine->is_expected_faster = true;
  }
  if (what == Beside::make_shadow && !place.engine) {
    wait(place.telling_hosts);
    start_engine(place);
  }
  if (what == Beside::compare) {
    place.turns.decide({place.rates[0], place.rates[1]}, {place.rates[2], place.rates[3]});
    if (place.turns.prefers_mpi()) ++num_preferred_;
    if (place.turns.experience() != Turns::Experience::none) experience_ = place.turns.experience();
    place.engine->is_known_faster = place.turns.experience() == Turns::Experience::ours;
    place.engine->is_expected_faster = !place.turns.prefers_mpi();
  }
}

bool Replacer::get_shadow(Place& place, MPI_Comm comm, const Items& items) {
  wait(begin_beside(place, comm, items, Beside::ask));
  const Answer answer = all_told(place);
  if (!answer.any_wants || !answer.all_may) return false;
  make_shadow(place, comm);
  return true;
}

/// Asked for the first, second, fourth, ... made of one communicator, and for every one where all know that such calls repeat.
int Replacer::begin_neighbours(const char* call, MPI_Comm parent, MPI_Comm made) {
  return guarded(call, parent, [&] {
    Place* const from = place_of(parent);
    if (from == nullptr) return MPI_SUCCESS;
    const auto number = static_cast<std::uint64_t>(++from->num_neighbourhoods);
    if (!is_forced_ && !from->has_repeated_calls && !std::has_single_bit(number)) return MPI_SUCCESS;
    Place* const place = made == MPI_COMM_NULL ? nullptr : place_of(made);
    if (place != nullptr) place->neighbours = neighbours_of(made);
    const std::size_t partners = place == nullptr ? 0 : place->neighbours.sources.size();
    wait(begin_to_tell(*from, parent, repeats_neighbour_calls_ ? 1 : 0, partners));
    const Answer answer = all_told(*from);
    from->has_repeated_calls = answer.any_wants;
    const bool is_worth_it = is_forced_ || !answer.any_has_one || answer.any_wants;
    if (place == nullptr || !answer.all_may || !is_worth_it || answer.most_partners == 0) return MPI_SUCCESS;
    place->most_neighbours = answer.most_partners;
    has_had_neighbour_shadow_ = true;
    wait(begin_to_tell(*place, made, 1, 0));
    if (all_told(*place).all_may) make_shadow(*place, made);
    return MPI_SUCCESS;
  });
}

void Replacer::start_engine(Place& place) {
  must(PMPI_Comm_set_errhandler(place.shadow, NUICE_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  find_near(place);
  const double share = 1.0 / static_cast<double>(place.near.size());
  const Bytes unasked = unasked_bytes_ > 0 ? unasked_bytes_ : mpi::default_unasked_bytes(place.num_ranks - 1);
  constexpr int numbers = 16000;  // of tags every MPI has 2^15
  place.engine =
      std::make_shared<Engine>(mpi::PlanlessChannel{place.shadow, place.rank, place.num_ranks, 0, numbers},
                               mpi::PlanlessSettings{.unasked_bytes = unasked,
                                                     .window_senders = 4,
                                                     .window = {.share = share},
                                                     .send_share = share,
                                                     .near = place.near});
  if (!place.group.empty()) shared_.emplace(place.group, place.engine);
  ++num_shadows_;
}

void Replacer::add(Place& place, bool is_ours, const Items& items, double seconds) {
  place.turns.add(is_ours, bytes_of_others(items.out, place.rank), seconds);
}

int Replacer::exchange(Place& place, const Items& items, bool is_timed) {
  const double begin_s = PMPI_Wtime();
  carry_out(place, items);
  ++num_replaced_;
  if (is_timed) add(place, true, items, PMPI_Wtime() - begin_s);
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
  PlanlessEngine::Ongoing* const ongoing = own.begin(unasked_bytes(place, items.are_of_neighbours));
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
