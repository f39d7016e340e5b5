// SPDX-License-Identifier: BSD-3-Clause
// What bind() makes of the executor `credit`, and who is granted the next chunk; credit_walk.cpp is the exchange itself.
#include "exchange/credit/credit.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <utility>

#include "exchange/exec/rows.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

/// Between ranks of one host, where chunks only cost.
constexpr Bytes near_chunk_bytes = Bytes{1} << 20;

/// Behind the last piece of a source.
constexpr std::size_t no_stretch = static_cast<std::size_t>(-1);

}  // namespace

CreditRun::CreditRun(TableElements elements, const Binding& binding)
    : comm_(binding.comm),
      types_(std::move(elements.types)),
      arrivals_(binding.arrivals),
      copies_(binding.settings.copies),
      data_tag_(binding.tag),
      grant_tag_(binding.tag + 1),
      control_(binding.settings.window),
      send_share_(binding.settings.send_share),
      window_senders_(binding.settings.window_senders) {
  if (control_.adapts())
    reports_ = std::make_unique<Reports>(comm_, binding.tag + 2, exchange::WindowControl::num_figures);
  const std::int64_t near_receive_chunks = list_receives(elements.receives, binding.settings);
  const std::int64_t near_send_chunks = list_sends(elements.sends, binding.settings);
  free_receives_ = SlotPool(num_receive_chunks_ - near_receive_chunks, near_receive_chunks);
  free_sends_ = SlotPool(num_send_chunks_ - near_send_chunks, near_send_chunks);
  receive_slots_ = {0, free_receives_.size()};
  incoming_slots_ = {receive_slots_.begin + receive_slots_.count, destinations_.size()};
  send_slots_ = {incoming_slots_.begin + incoming_slots_.count, free_sends_.size()};
  outgoing_slots_ = {send_slots_.begin + send_slots_.count, sources_.size()};
  requests_.resize(outgoing_slots_.begin + outgoing_slots_.count, MPI_REQUEST_NULL);
  indices_.resize(requests_.size());
  receive_bytes_.resize(receive_slots_.count);
  receive_at_.resize(receive_slots_.count);
  receive_of_.resize(receive_slots_.count);
  asked_at_s_.resize(receive_slots_.count);
  send_to_.resize(send_slots_.count);
  ready_.reserve(destinations_.size());
  to_notify_.reserve(sources_.size());
  open_.reserve(sources_.size());
  if (binding.settings.budgets) {
    budgets_ = binding.settings.budgets;
    auto* const counters =
        reinterpret_cast<PortBudget::Counters*>(budgets_->data()) + 2 * binding.settings.budget;
    receive_budget_ = PortBudget(counters, far_receive_bytes_);
    send_budget_ = PortBudget(counters + 1, far_send_bytes_);
  }
  plan_next_terms();
  for (Peer& source : sources_) {
    arrivals_.expect_pieces(source.rank, 1);
    source.arrival = arrivals_.index_of(source.rank);
  }
}

/// Those from this host come first. Returns their chunks.
std::int64_t CreditRun::list_receives(const Elements& receives, const RunSettings& settings) {
  std::map<Rank, std::size_t> index;
  std::int64_t near_chunks = 0;
  for (const bool near : {true, false}) {
    for (const auto& [partner, segment] : receives) {
      if (std::ranges::binary_search(settings.near, partner) != near) continue;
      const std::size_t stretch = receives_.size();
      const auto [found, is_new] = index.try_emplace(partner, sources_.size());
      if (is_new) sources_.push_back(new_peer(partner, settings));
      Peer& source = sources_[found->second];
      if (is_new) {
        source.first_stretch = stretch;
      } else {
        next_of_same_[source.last_stretch] = stretch;
      }
      source.last_stretch = stretch;
      source_of_.push_back(found->second);
      next_of_same_.push_back(no_stretch);
      receives_.emplace_back(partner, segment, source.terms.chunk_bytes);
      source.bytes += receives_.back().bytes();
      source.chunks += receives_.back().num_chunks();
      num_receive_chunks_ += receives_.back().num_chunks();
      if (!near) far_receive_bytes_ += receives_.back().bytes();
    }
    if (!near) break;
    num_near_receives_ = receives_.size();
    num_near_sources_ = sources_.size();
    near_chunks = num_receive_chunks_;
  }
  return near_chunks;
}

/// After list_receives(). Returns the chunks to this host.
std::int64_t CreditRun::list_sends(const Elements& sends, const RunSettings& settings) {
  std::set<Rank> sources;
  for (const Peer& source : sources_) sources.insert(source.rank);
  std::map<Rank, std::size_t> index;
  std::int64_t near_chunks = 0;
  for (const auto& [partner, segment] : sends) {
    const auto [found, is_new] = index.try_emplace(partner, destinations_.size());
    if (is_new) destinations_.push_back(new_peer(partner, settings));
    Peer& destination = destinations_[found->second];
    if (is_new && !destination.is_near) ++num_far_destinations_;
    destination.is_source = sources.contains(partner);
    destination.stretches.emplace_back(partner, segment, destination.terms.chunk_bytes);
    const std::int64_t chunks = destination.stretches.back().num_chunks();
    destination.chunks += chunks;
    num_send_chunks_ += chunks;
    if (destination.is_near) near_chunks += chunks;
    if (!destination.is_near) far_send_bytes_ += destination.stretches.back().bytes();
  }
  return near_chunks;
}

/// No request outlives its chunk or grant: plain ones are gone when complete, those of chunks to other hosts are freed then.
CreditRun::~CreditRun() {
  if (reports_) Reports::leave(std::move(reports_));
  if (is_finalized()) return;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/// Both ends of a pair know whether they are near each other, so they cut alike. First into the smallest chunks there may be.
CreditRun::Peer CreditRun::new_peer(Rank rank, const RunSettings& settings) {
  const bool is_near = std::ranges::binary_search(settings.near, rank);
  const Bytes far = exchange::WindowControl::least_chunk_bytes(settings.window);
  const Bytes near =
      settings.window.adapts ? near_chunk_bytes : std::max(settings.window.chunk_bytes, near_chunk_bytes);
  const Terms terms = {is_near ? near : far};
  return {.rank = rank, .is_near = is_near, .terms = terms, .next_terms = terms, .stretches = {}};
}

int CreditRun::in_kib(Bytes bytes) {
  return static_cast<int>(std::min<Bytes>((bytes + 1023) / 1024, INT_MAX));
}

void CreditRun::step(std::span<const Stretch> stretches, Cursor& cursor) {
  cursor.offset += stretches[cursor.stretch].chunk_bytes();
  if (cursor.offset >= stretches[cursor.stretch].bytes()) cursor = {cursor.stretch + 1, 0};
}

void CreditRun::reset_grants() {
  outstanding_ = 0;
  missing_ = far_receive_bytes_;
  next_near_ = {};
  open_.clear();
  next_source_ = num_near_sources_;
  to_notify_.clear();
  free_receives_.free_all();
  for (Peer& source : sources_) {
    source.granted = source.outstanding = 0;
    source.waiting = 0;
    source.landed = 0;
    source.is_queued = false;
  }
}

/// What one partner may have of a window. Those that are left at the end have it to themselves.
Bytes CreditRun::share_of(Bytes window, std::size_t partners_left) const {
  return window / static_cast<Bytes>(std::min(partners_left, static_cast<std::size_t>(window_senders_)));
}

/// Whether a source stands at this place of those that have something left, in the order of the table. One that the table
/// has before it and that has not begun does now.
bool CreditRun::is_open(std::size_t place) {
  if (next_source_ < sources_.size()) {
    const std::size_t first = sources_[next_source_].first_stretch;
    if (place == open_.size() || first < open_[place].stretch) {
      open_.insert(open_.begin() + static_cast<std::ptrdiff_t>(place), {first, 0});
      ++next_source_;
    }
  }
  return place < open_.size();
}

/// Past the chunk that was granted; with the last of a piece to where the source's next piece stands.
void CreditRun::step_open(std::size_t place) {
  const std::size_t stretch = open_[place].stretch;
  step(receives_, open_[place]);
  if (open_[place].stretch == stretch) return;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place));
  const std::size_t next = next_of_same_[stretch];
  if (next == no_stretch) return;
  open_.insert(std::ranges::upper_bound(open_, next, {}, &Cursor::stretch), {next, 0});
}

/// What comes from this host counts for nothing: the next chunk in the table, as long as there are slots.
std::optional<CreditRun::Grant> CreditRun::next_near_grant() {
  const std::size_t stretch = next_near_.stretch;
  if (stretch == num_near_receives_ || !free_receives_.any(true)) return {};
  const Grant grant = {receives_[stretch].chunk_at(next_near_.offset), stretch, free_receives_.take(true)};
  step(receives_, next_near_);
  return grant;
}

/// Of the first source in the table that has not its share yet. The pieces of one source stay in their order.
std::optional<CreditRun::Grant> CreditRun::next_far_grant() {
  if (!free_receives_.any(false)) return {};
  for (std::size_t i = 0; is_open(i); ++i) {
    const auto [stretch, offset] = open_[i];
    Peer& source = sources_[source_of_[stretch]];
    const Stretch::Chunk chunk = receives_[stretch].chunk_at(offset);
    const std::size_t sources_left = open_.size() + sources_.size() - next_source_;
    if (outstanding_ > 0 && outstanding_ + chunk.bytes > window_bytes_) return {};
    if (source.outstanding > 0 && source.outstanding + chunk.bytes > share_of(window_bytes_, sources_left))
      continue;
    outstanding_ += chunk.bytes;
    source.outstanding += chunk.bytes;
    step_open(i);
    return Grant{chunk, stretch, free_receives_.take(false)};
  }
  return {};
}

/// Accounts for the chunk that may be granted now, if there is one.
std::optional<CreditRun::Grant> CreditRun::next_grant() {
  const std::optional<Grant> near = next_near_grant();
  return near ? near : next_far_grant();
}

/// What comes from other hosts. Cost: O(receives), unless it is cut so already.
void CreditRun::cut_receives(Bytes chunk_bytes) {
  if (std::exchange(cut_bytes_, chunk_bytes) == chunk_bytes) return;
  for (std::size_t i = num_near_sources_; i < sources_.size(); ++i) sources_[i].chunks = 0;
  num_receive_chunks_ = 0;
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    Peer& source = sources_[source_of_[i]];
    if (!source.is_near) receives_[i].cut(chunk_bytes);
    if (!source.is_near) source.chunks += receives_[i].num_chunks();
    num_receive_chunks_ += receives_[i].num_chunks();
  }
}

/// By what the receiver has said for this exchange. Cost: O(stretches), only when that has changed.
void CreditRun::cut_sends(Peer& destination) {
  const bool is_cut = destination.terms.chunk_bytes == destination.next_terms.chunk_bytes;
  destination.terms = destination.next_terms;
  if (is_cut) return;
  num_send_chunks_ -= destination.chunks;
  destination.chunks = 0;
  for (Stretch& stretch : destination.stretches) {
    stretch.cut(destination.terms.chunk_bytes);
    destination.chunks += stretch.num_chunks();
  }
  num_send_chunks_ += destination.chunks;
}

/// What sources may send in the next exchange without being told, and in what chunks, as the window is now.
void CreditRun::plan_next_terms() {
  const Bytes chunk = next_chunk_bytes_ = std::min<Bytes>(control_.chunk_bytes(), INT_MAX);
  next_first_window_bytes_ = control_.first_window_bytes();
  cut_receives(chunk);
  reset_grants();
  window_bytes_ = next_first_window_bytes_;
  while (const std::optional<Grant> grant = next_grant()) ++sources_[source_of_[grant->stretch]].granted;
  for (Peer& source : sources_)
    source.next_terms = {source.is_near ? source.terms.chunk_bytes : chunk, source.granted};
}

void CreditRun::agree() {
  const int all_kib = in_kib(far_receive_bytes_);
  for (std::size_t i = 0; i < destinations_.size(); ++i)
    must(MPI_Irecv(destinations_[i].notice.data(), notice_size, MPI_INT, destinations_[i].rank, grant_tag_,
                   comm_->get(), &at(incoming_slots_, i)),
         "MPI_Irecv");
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Peer& source = sources_[i];
    source.notice = {0, 0, all_kib, static_cast<int>(source.next_terms.granted),
                     static_cast<int>(source.next_terms.chunk_bytes)};
    must(MPI_Isend(source.notice.data(), notice_size, MPI_INT, source.rank, grant_tag_, comm_->get(),
                   &at(outgoing_slots_, i)),
         "MPI_Isend");
  }
  wait_all(*comm_, requests_, "MPI_Irecv");
  if (control_.adapts()) losses_.find_sockets();  // the notices have made the connections
  for (Peer& destination : destinations_) {
    destination.all_kib = destination.notice[missing_kib];
    destination.next_terms = {destination.notice[next_chunk], destination.notice[next_granted_chunks]};
  }
}

void CreditRun::describe(ExchangeInfo& info) const {
  info.window_bytes = control_.window_bytes();
  info.chunk_bytes = control_.chunk_bytes();
  info.is_settled = control_.is_settled();
  info.changed_after = control_.changed_after();
  info.trials.clear();
  control_.for_trials([&](Bytes window, Bytes chunk, int reports, double mean_s) {
    info.trials.push_back({window, chunk, reports, mean_s});
  });
}

std::string CreditRun::waits_for() const {
  std::vector<Rank> ranks;
  arrivals_.append_missing(ranks);
  for (const Peer& destination : destinations_)
    if (destination.sent < destination.chunks || destination.awaits_last) ranks.push_back(destination.rank);
  for (std::size_t slot = 0; slot < send_slots_.count; ++slot)
    if (requests_[send_slots_.begin + slot] != MPI_REQUEST_NULL)
      ranks.push_back(destinations_[send_to_[slot]].rank);
  for (std::size_t i = 0; i < sources_.size(); ++i)
    if (requests_[outgoing_slots_.begin + i] != MPI_REQUEST_NULL) ranks.push_back(sources_[i].rank);
  return names_of(ranks);
}

void CreditRun::cancel() noexcept {
  mpi::cancel_receives(std::span(requests_).first(send_slots_.begin));
  if (reports_) reports_->cancel();
}

BoundRun bind_credit(const Binding& binding) {
  // Nobody would ask: sent at once, by persistent requests.
  if (exchange::WindowControl::holds_all(binding.settings.window)) {
    BoundRun bound = bind_async(binding);
    bound.why = "what every rank is to receive fits its window, so nothing has to be granted";
    return bound;
  }
  return {std::make_unique<CreditRun>(list_elements(binding), binding), "credit"};
}

}  // namespace nuice::mpi
