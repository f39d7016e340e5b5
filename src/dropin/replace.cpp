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
#include <utility>

#include "core/support/watchdog.hpp"
#include "dropin/pmpi.hpp"
#include "exchange/planless/engine.hpp"
#include "mpi/call.hpp"
#include "mpi/host/tcp_losses.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::dropin {

using mpi::must;
using mpi::PlanlessEngine;

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

void wait(MPI_Request request) {
  background().wait_for({}, [&] {
    int is_done = 0;
    if (background().any()) must(PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0 || !background().any();
  });
  const Leaving leaving;
  must(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
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
  static auto* const one = new Replacer();
  return *one;
}

void Replacer::begin() {
  const char* const mode = std::getenv("NUICE_DROPIN");
  const std::string name = mode == nullptr ? "" : mode;
  if (name != "on" && name != "check") return;
  checks_ = name == "check";
  const char* const forced = std::getenv("NUICE_DROPIN_FORCE");
  are_hosts_pretended_ = forced != nullptr && std::string(forced) != "0";
  has_tcp_ = are_hosts_pretended_ && std::string(forced) == "tcp";
  is_forced_ = are_hosts_pretended_ && std::string(forced) != "hosts" && !has_tcp_;
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
  background().begin(!shares_, watchdog_s_);
  is_on_ = true;
}

void Replacer::end() {
  is_ending_ = true;
  if (!is_on_) return;
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

bool Replacer::is_worth_init(Place& place, MPI_Comm comm, const Items& items) {
  note_to_ask(place, items);
  ask_at(comm, false);
  return replaces_now(place);
}

bool Replacer::wants_to_ask(Place& place) {
  if (++place.num_begun != place.next_to_ask) return false;
  place.next_to_ask *= 8;
  return true;
}

void Replacer::note_to_ask(Place& place, const Items& items) {
  place.longest = 0;
  for (const Item& item : items.out) place.longest = std::max(place.longest, size_of(item));
  place.bytes = bytes_of_others(items.in, place.rank);
  if (!std::exchange(place.is_to_ask, true)) ++num_to_ask_;
}

/// What is trusted is replaced from here on, whatever may gain is tried.
void Replacer::ask_at(MPI_Comm comm, bool may_try) {
  guarded("a question", comm, [&] {
    Place* const place = place_of(comm);
    if (place == nullptr || !std::exchange(place->is_to_ask, false)) return MPI_SUCCESS;
    --num_to_ask_;
    if (shares_ && !place->has_looked_for_shared) look_for_shared(*place, comm);
    wait(begin_to_tell(*place, comm, may_gain(*place, place->longest) ? 1 : 0, 0, place->bytes));
    const Answer answer = all_told(*place);
    const bool is_trusted = is_forced_ || Turns::would_trust(answer.most_bytes, answer.experience);
    const bool is_new = !place->all.shadow;
    const bool tries = may_try && !place->group.empty();
    if (!answer.any_wants || !answer.all_may || (is_new && !is_trusted && !tries)) return MPI_SUCCESS;
    make_shadow(*place, comm);
    const bool are_ours = is_new && is_trusted;
    if (are_ours) place->turns.share(false);
    if (tries && place->all.numbers)
      place->all.trial =
          begin_trial(*place, *place->all.shadow, are_ours ? Trial::Way::ours : Trial::Way::mpi, are_ours);
    return MPI_SUCCESS;
  });
}

std::shared_ptr<Trial> Replacer::begin_trial(const Place& place, Shadow& shadow, Trial::Way first,
                                             bool is_trusted) {
  if (is_forced_ || checks_ || place.group.empty()) return nullptr;
  auto trial = std::make_shared<Trial>(first, is_trusted);
  if (shadow.trials.add(trial)) ++num_trials_;
  return trial;
}

Timing Replacer::timing_of(const Place& place, const Lane& lane, const Trial::Step& step,
                           const Items& items) {
  if (!step.is_timed) return {};
  return {lane.trial, step, bytes_of_others(items.in, place.rank), PMPI_Wtime()};
}

void Replacer::end_timing(const Timing& timing) {
  if (timing.trial) timing.trial->add(timing.step, timing.bytes, PMPI_Wtime() - timing.begin_s);
}

/// Shared ones stay until the end, so one that was found need not be looked for again.
Shadow* Replacer::shared_by_its_ranks(Place& place, MPI_Comm comm) {
  if (!place.shared && place.num_shared_looked_at != shared_.size()) {
    place.num_shared_looked_at = shared_.size();
    know_group(place, comm);
    const auto found = shared_.find(place.group);
    if (found != shared_.end() && !place.group.empty()) place.shared = found->second;
  }
  return place.shared.get();
}

void Replacer::meet_at(MPI_Comm comm) {
  guarded("a question", comm, [&] {
    Place* const place = place_of(comm);
    Shadow* const shadow = place == nullptr ? nullptr : shared_by_its_ranks(*place, comm);
    if (shadow == nullptr || !shadow->trials.reach()) return MPI_SUCCESS;
    std::vector<double> most = shadow->trials.most();
    std::vector<double> sums = shadow->trials.sums();
    std::array<MPI_Request, 2> told{};
    must(PMPI_Iallreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_DOUBLE, MPI_MAX, comm,
                         told.data()),
         "MPI_Iallreduce");
    must(PMPI_Iallreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm,
                         &told[1]),
         "MPI_Iallreduce");
    for (const MPI_Request each : told) wait(each);
    const auto [num_over, num_lost, decided] = shadow->trials.hear(most, sums);
    num_trials_ -= num_over;
    num_preferred_ += num_lost;
    for (const Trial::Sums& each : decided)
      say_rates({each.mpi_bytes, each.mpi_s}, {each.our_bytes, each.our_s});
    return MPI_SUCCESS;
  });
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
int Replacer::forget(MPI_Comm comm, int, void* value, void* extra) {
  const std::unique_ptr<Place> place(static_cast<Place*>(value));
  auto& all = *static_cast<Replacer*>(extra);
  const bool may_start_again = background().finish(comm);
  for (const Lane* const lane : {&place->all, &place->near_by})
    if (lane->trial) lane->trial->end();
  // One that others may share stays: each rank may free its communicators at another time (garbage collectors do), and all must
  // find the same.
  if (!place->all.shadow || !place->group.empty() || may_start_again) return MPI_SUCCESS;
  MPI_Comm shadow = place->all.shadow->comm;
  place->all.shadow.reset();
  --all.num_shadows_;
  return all.is_ending_ ? MPI_SUCCESS : PMPI_Comm_free(&shadow);
}

void Replacer::use(Place& place, std::shared_ptr<Shadow> shadow) const {
  place.all.unasked = unasked_bytes(place.num_ranks - 1);
  place.all.numbers = shadow->next_numbers();
  place.all.shadow = std::move(shadow);
}

bool Replacer::share_shadow(Place& place, bool in_any_case) {
  if (place.group.empty()) return false;
  const auto found = shared_.find(place.group);
  if (found == shared_.end() || !(in_any_case || found->second->is_expected_faster)) return false;
  use(place, found->second);
  return true;
}

void Replacer::know_group(Place& place, MPI_Comm comm) const {
  if (!shares_ || std::exchange(place.knows_group, true)) return;
  place.group = ranks_in(MPI_COMM_WORLD, comm, place.num_ranks);
}

void Replacer::look_for_shared(Place& place, MPI_Comm comm) {
  place.has_looked_for_shared = true;
  know_group(place, comm);
  if (place.all.shadow) return;
  if (share_shadow(place, is_forced_)) place.turns.share(place.all.shadow->is_known_faster);
}

Replacer::Step Replacer::next_step(Place& place) const {
  if (is_forced_ || (checks_ && place.all.shadow)) return {Way::replace};
  return place.turns.next(place.all.shadow != nullptr);
}

/// Looked for until it is found, as MPI may connect late.
bool Replacer::has_tcp() {
  if (has_tcp_) return true;
  mpi::TcpLosses sockets;
  sockets.find_sockets();
  return has_tcp_ = sockets.any_to_others();
}

Replacer::Step Replacer::ask_first(Place& place, MPI_Comm comm, const Items& items) {
  wait(begin_beside(place, comm, items, Beside::ask));
  take_answer(place, comm);
  return place.turns.first();
}

void Replacer::take_answer(Place& place, MPI_Comm comm) {
  const Answer answer = all_told(place);
  place.turns.answer(answer.any_wants && answer.all_may, answer.most_bytes, answer.experience, answer.by_tcp);
  if (!place.turns.is_trusted()) return;
  make_shadow(place, comm);
  Shadow& shadow = *place.all.shadow;
  shadow.is_expected_faster = true;
  shadow.is_known_faster = shadow.is_known_faster || place.turns.is_decided();
}

MPI_Request Replacer::begin_to_tell(Place& place, MPI_Comm comm, double wants, std::size_t partners,
                                    double bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const double host = host_of(place);
  const Turns::Experience seen = experience_;
  place.word = {.wants = wants,
                .is_full = num_shadows_ >= most_shadows_ ? 1.0 : 0.0,
                .host = host,
                .minus_host = -host,
                .partners = static_cast<double>(partners),
                .has_seen_mpi = seen == Turns::Experience::mpi ? 1.0 : 0.0,
                .has_not_seen_us = seen != Turns::Experience::ours ? 1.0 : 0.0,
                .bytes = bytes,
                .keeps = shares_ ? 0.0 : 1.0,
                .lacks_tcp = Turns::would_trust(bytes, seen) && !has_tcp() ? 1.0 : 0.0};
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
                      .all_may = word.is_full == 0 && spans_hosts,
                      .most_partners = static_cast<Rank>(word.partners),
                      // One that has seen MPI faster is enough; trusted is what all have seen.
                      .experience = word.has_seen_mpi != 0      ? mpi
                                    : word.has_not_seen_us != 0 ? none
                                                                : ours,
                      .most_bytes = word.bytes,
                      .by_tcp = word.lacks_tcp == 0};
  if (word.keeps != 0) place.group.clear();  // each rank may have asked for another level of threads
  if (!answer.all_may && !place.all.shadow && !place.of_neighbourhoods) place.stays_with_mpi = true;
  return answer;
}

double Replacer::host_of(const Place& place) const {
  return are_hosts_pretended_ ? static_cast<double>(place.rank) : host_;
}

std::vector<Rank> Replacer::near_ranks(Place& place) const {
  std::vector<Rank> near;
  for (Rank each = 0; each < place.num_ranks; ++each)
    if (place.hosts[static_cast<std::size_t>(each)] == host_of(place)) near.push_back(each);
  place.hosts = {};
  return near;
}

MPI_Request Replacer::begin_duplicate(Place& place, MPI_Comm comm) const {
  MPI_Request request = MPI_REQUEST_NULL;
  place.hosts.assign(static_cast<std::size_t>(place.num_ranks), 0);
  place.hosts[static_cast<std::size_t>(place.rank)] = host_of(place);
  must(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DOUBLE, place.hosts.data(), 1, MPI_DOUBLE, comm,
                       &place.telling_hosts),
       "MPI_Iallgather");
  must(PMPI_Comm_idup(comm, &place.shadow, &request), "MPI_Comm_idup");
  return request;
}

std::shared_ptr<Shadow> Replacer::end_duplicate(Place& place) {
  wait(place.telling_hosts);
  must(PMPI_Comm_set_errhandler(place.shadow, NUICE_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  const std::vector<Rank> near = near_ranks(place);
  const double share = 1.0 / static_cast<double>(near.size());
  constexpr int numbers = 16000;  // of tags every MPI has 2^15
  auto shadow =
      std::make_shared<Shadow>(mpi::PlanlessChannel{place.shadow, place.rank, place.num_ranks, 0, numbers},
                               mpi::PlanlessSettings{.unasked_bytes = unasked_bytes(place.num_ranks - 1),
                                                     .window_senders = 4,
                                                     .window = {.share = share},
                                                     .send_share = share,
                                                     .near = near});
  if (!place.group.empty()) shared_.emplace(place.group, shadow);
  ++num_shadows_;
  return shadow;
}

MPI_Request Replacer::begin_beside(Place& place, MPI_Comm comm, const Items& items, Beside what) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (what == Beside::ask) {  // has any rank a message that would be granted?
    Bytes longest = 0;
    for (const Item& item : items.out) longest = std::max(longest, size_of(item));
    return begin_to_tell(place, comm, may_gain(place, longest) ? 1 : 0, 0,
                         bytes_of_others(items.in, place.rank));
  }
  if (what == Beside::make_shadow && !share_shadow(place, true)) request = begin_duplicate(place, comm);
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
  if (place.all.shadow) return;
  end_beside(place, comm, begin_beside(place, comm, {}, Beside::make_shadow), Beside::make_shadow);
}

void Replacer::end_beside(Place& place, MPI_Comm comm, MPI_Request request, Beside what) {
  wait(request);
  if (what == Beside::ask) take_answer(place, comm);
  if (what == Beside::make_shadow && !place.all.shadow) use(place, end_duplicate(place));
  if (what == Beside::compare) {
    place.turns.decide({place.rates[0], place.rates[1]}, {place.rates[2], place.rates[3]});
    say_rates({place.rates[0], place.rates[1]}, {place.rates[2], place.rates[3]});
    if (place.turns.prefers_mpi()) ++num_preferred_;
    if (place.turns.experience() != Turns::Experience::none) experience_ = place.turns.experience();
    place.all.shadow->is_known_faster = place.turns.experience() == Turns::Experience::ours;
    place.all.shadow->is_expected_faster = !place.turns.prefers_mpi();
  }
}

bool Replacer::get_shadow(Place& place, MPI_Comm comm, const Items& items) {
  wait(begin_beside(place, comm, items, Beside::ask));
  const Answer answer = all_told(place);
  if (!answer.any_wants || !answer.all_may) return false;
  make_shadow(place, comm);
  return true;
}

/// Asked for the first, second, fourth, ... that all of them can count.
int Replacer::begin_neighbours(const char* call, MPI_Comm parent, MPI_Comm made) {
  return guarded(call, parent, [&] {
    Place* const from = place_of(parent);
    if (from == nullptr) return MPI_SUCCESS;
    know_group(*from, parent);
    std::shared_ptr<Shadow>& shadow = from->of_neighbourhoods;
    if (const auto found = shared_.find(from->group);
        !shadow && !from->group.empty() && found != shared_.end())
      shadow = found->second;
    const std::int64_t number = ++(shadow ? shadow->num_neighbourhoods : from->num_neighbourhoods);
    Place* const place = made == MPI_COMM_NULL ? nullptr : place_of(made);
    if (place != nullptr) place->neighbours = neighbours_of(made);
    if (is_forced_ || std::has_single_bit(static_cast<std::uint64_t>(number))) {
      wait(begin_to_tell(*from, parent, 0, place == nullptr ? 0 : place->neighbours.sources.size()));
      const Answer answer = all_told(*from);
      if (!shadow && answer.all_may && answer.most_partners > 0) {
        wait(begin_duplicate(*from, parent));
        shadow = end_duplicate(*from);
        shadow->num_neighbourhoods = number;
      }
      if (shadow && answer.most_partners > 0) shadow->most_neighbours = answer.most_partners;
    }
    if (!shadow) return MPI_SUCCESS;
    std::optional<Numbers> numbers = shadow->next_numbers();  // on all ranks of the parent
    if (!numbers) return MPI_SUCCESS;
    const std::shared_ptr<Trial> trial = begin_trial(*from, *shadow, Trial::Way::ours, false);
    if (place == nullptr) return MPI_SUCCESS;
    join(*place, made, parent, shadow, *std::move(numbers));
    place->near_by.trial = trial;
    return MPI_SUCCESS;
  });
}

/// Up to twice what goes unasked, messages go whole: together they are the first flights of four senders of TCP, which any network must bear, and a grant
/// costs them more than it saves. Nothing of it crosses a port where all of its ranks are on one host.
void Replacer::join(Place& place, MPI_Comm made, MPI_Comm parent, const std::shared_ptr<Shadow>& shadow,
                    Numbers numbers) const {
  std::vector<int> ranks = ranks_in(parent, made, place.num_ranks);
  const auto is_near = [&](int rank) { return std::ranges::binary_search(shadow->near, rank); };
  if (ranks.empty() || std::ranges::all_of(ranks, is_near)) return;
  const Rank most = shadow->most_neighbours > 0 ? shadow->most_neighbours : place.num_ranks - 1;
  place.near_by = {.shadow = shadow,
                   .unasked = unasked_bytes(most),
                   .whole = unasked_bytes_ > 0 ? 0 : 2 * unasked_bytes(most),
                   .numbers = std::move(numbers),
                   .numbers_all = true,
                   .ranks = std::move(ranks),
                   .trial = {}};
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
