// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other of a communicator's calls: before the first one, beside later ones and where asking is free; and
// the shadow communicators and trials that come of it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <utility>

#include "dropin/pmpi.hpp"
#include "dropin/replace.hpp"
#include "mpi/call.hpp"
#include "mpi/host/tcp_losses.hpp"

namespace nuice::dropin {

using mpi::must;

namespace {

/// Of the same ranks in the same order, and nothing of the program's: its attributes' functions are not called, as they would be
/// for a duplicate. All ranks come here, and are in a call for which all are needed anyway.
MPI_Comm bare_copy_of(MPI_Comm comm) {
  MPI_Comm copy{};
  MPI_Group group{};
  must(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
  {
    const Leaving leaving;
    must(PMPI_Comm_create(comm, group, &copy), "MPI_Comm_create");
  }
  PMPI_Group_free(&group);
  must(PMPI_Comm_set_errhandler(copy, NUICE_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return copy;
}

}  // namespace

/// Looks after what goes on in the background meanwhile. Throws Error timeout once the watchdog's time is over: another rank has
/// not come.
void Replacer::wait(MPI_Request request) const {
  int is_done = 0;
  const auto test = [&] {
    must(PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  };
  const auto give_up = [&] {
    throw Error(ErrorCode::timeout, "not all ranks of the communicator have come to this call for " +
                                        std::to_string(watchdog_s_) + " s");
  };
  const auto look = [] { return background().any() && background().look(); };
  const auto may_wait = [&] { return test() || (watchdog_s_ <= 0 && !background().any()); };
  look_until(watchdog_s_, may_wait, look, give_up);
  const Leaving leaving;
  if (is_done == 0) must(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
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
  place.longest = longest_of(items.out);
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

/// Looked for until it is found, as MPI may connect late.
bool Replacer::has_tcp() {
  if (has_tcp_) return true;
  mpi::TcpLosses sockets;
  sockets.find_sockets();
  return has_tcp_ = sockets.any_to_others();
}

Replacer::Step Replacer::ask_first(Place& place, MPI_Comm comm, const Items& items) {
  end_beside(place, comm, begin_beside(place, comm, items, Beside::ask), Beside::ask);
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

std::shared_ptr<Shadow> Replacer::new_shadow(Place& place, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  place.hosts.assign(static_cast<std::size_t>(place.num_ranks), 0);
  place.hosts[static_cast<std::size_t>(place.rank)] = host_of(place);
  must(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DOUBLE, place.hosts.data(), 1, MPI_DOUBLE, comm, &request),
       "MPI_Iallgather");
  wait(request);
  MPI_Comm copy = bare_copy_of(comm);
  const std::vector<Rank> near = near_ranks(place);
  const double share = 1.0 / static_cast<double>(near.size());
  constexpr int numbers = 16000;  // of tags every MPI has 2^15
  auto shadow =
      std::make_shared<Shadow>(mpi::PlanlessChannel{copy, place.rank, place.num_ranks, 0, numbers},
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
  if (what == Beside::ask)  // has any rank a message that would be granted?
    return begin_to_tell(place, comm, may_gain(place, longest_of(items.out)) ? 1 : 0, 0,
                         bytes_of_others(items.in, place.rank));
  if (what == Beside::make_shadow && !share_shadow(place, true)) use(place, new_shadow(place, comm));
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
int Replacer::begin_neighbours(const char* call, int kind, MPI_Comm parent, MPI_Comm made) {
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
    int told = MPI_UNDEFINED;
    if (place != nullptr) PMPI_Topo_test(made, &told);
    const bool is_as_made =
        told == kind;  // Open MPI 5 says of a graph that was made of a grid that it is one
    if (place != nullptr && is_as_made) place->neighbours = run::neighbours_of(made);
    if (is_forced_ || std::has_single_bit(static_cast<std::uint64_t>(number))) {
      wait(begin_to_tell(*from, parent, 0, place == nullptr ? 0 : place->neighbours.sources.size()));
      const Answer answer = all_told(*from);
      if (!shadow && answer.all_may && answer.most_partners > 0) {
        shadow = new_shadow(*from, parent);
        shadow->num_neighbourhoods = number;
      }
      if (shadow && answer.most_partners > 0) shadow->most_neighbours = answer.most_partners;
    }
    if (!shadow) return MPI_SUCCESS;
    std::optional<Numbers> numbers = shadow->next_numbers();  // on all ranks of the parent
    if (!numbers) return MPI_SUCCESS;
    const std::shared_ptr<Trial> trial = begin_trial(*from, *shadow, Trial::Way::ours, false);
    if (place == nullptr) return MPI_SUCCESS;
    if (place->neighbours.is_ambiguous)
      say_ambiguous(call);
    else if (is_as_made)
      join(*place, made, parent, shadow, *std::move(numbers));
    if (place->near_by.shadow) place->near_by.trial = trial;
    return MPI_SUCCESS;
  });
}

/// Open MPI 5 has blocks of the same neighbour in another order in nonblocking calls than in blocking ones.
void Replacer::say_ambiguous(const char* call) {
  if (!checks_ || std::exchange(has_said_ambiguous_, true)) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr,
                 "nuice: %s has made a periodic grid with a dimension of 1 or 2: its neighbourhood "
                 "collectives are left to MPI "
                 "and not checked, as MPIs differ there (docs/how-to/run-limits.md)\n",
                 call);
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

}  // namespace nuice::dropin
