// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/mpi/credit.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

#include "exchange/mpi/call.hpp"

namespace nuice::mpi {
namespace {

/// Requests that run at the same time; more wait for a slot. Enough for a window of small chunks, few enough that MPI
/// looks through them quickly.
constexpr std::size_t max_slots = 256;

/// Between ranks of one host, where chunks only cost.
constexpr Bytes near_chunk_bytes = Bytes{1} << 20;

constexpr int word_size = 3;

}  // namespace

CreditRun::CreditRun(std::shared_ptr<const Communicator> comm, std::span<const Elements> sends,
                     std::span<const Elements> receives, const Settings& settings)
    : comm_(std::move(comm)),
      data_tag_(settings.data_tag),
      grant_tag_(settings.grant_tag),
      window_bytes_(settings.window_bytes),
      send_window_bytes_(settings.send_window_bytes),
      window_senders_(settings.window_senders) {
  std::map<Rank, std::size_t> index;
  for (const bool near : {true, false}) {  // those from this host come first
    for (const auto& [partner, segment] : receives) {
      if (std::ranges::binary_search(settings.near, partner) != near) continue;
      const auto [found, is_new] = index.try_emplace(partner, sources_.size());
      if (is_new) sources_.push_back(new_peer(partner, settings));
      source_of_.push_back(found->second);
      Peer& source = sources_[found->second];
      receives_.emplace_back(partner, segment, source.chunk_bytes);
      source.chunks += receives_.back().num_chunks();
      num_receive_chunks_ += receives_.back().num_chunks();
      if (!near) far_receive_bytes_ += receives_.back().bytes();
    }
  }
  index.clear();
  for (const auto& [partner, segment] : sends) {
    const auto [found, is_new] = index.try_emplace(partner, destinations_.size());
    if (is_new) destinations_.push_back(new_peer(partner, settings));
    Peer& destination = destinations_[found->second];
    destination.stretches.emplace_back(partner, segment, destination.chunk_bytes);
    destination.chunks += destination.stretches.back().num_chunks();
    num_send_chunks_ += destination.stretches.back().num_chunks();
  }
  const auto slots_for = [](std::int64_t chunks) {
    return static_cast<std::size_t>(std::min<std::int64_t>(chunks, max_slots));
  };
  receive_slots_ = {0, slots_for(num_receive_chunks_)};
  hear_slots_ = {receive_slots_.begin + receive_slots_.count, destinations_.size()};
  send_slots_ = {hear_slots_.begin + hear_slots_.count, slots_for(num_send_chunks_)};
  tell_slots_ = {send_slots_.begin + send_slots_.count, sources_.size()};
  requests_.resize(tell_slots_.begin + tell_slots_.count, MPI_REQUEST_NULL);
  indices_.resize(requests_.size());
  receive_bytes_.resize(receive_slots_.count);
  receive_of_.resize(receive_slots_.count);
  send_to_.resize(send_slots_.count);
  free_receives_.reserve(receive_slots_.count);
  free_sends_.reserve(send_slots_.count);
  ready_.reserve(destinations_.size());
  to_tell_.reserve(sources_.size());
  plan_first_grants();
}

/// Grants and chunks use plain requests, which are gone when complete. One that was given up after an error of MPI is
/// left to MPI.
CreditRun::~CreditRun() {
  if (is_finalized()) return;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/// Both ends of a pair know whether they are near each other, so they cut alike.
CreditRun::Peer CreditRun::new_peer(Rank rank, const Settings& settings) {
  const bool is_near = std::ranges::binary_search(settings.near, rank);
  return {.rank = rank,
          .is_near = is_near,
          .chunk_bytes = is_near ? std::max(settings.chunk_bytes, near_chunk_bytes) : settings.chunk_bytes,
          .stretches = {}};
}

int CreditRun::in_chunks(Bytes bytes, const Peer& peer) {
  return static_cast<int>(std::min<Bytes>((bytes + peer.chunk_bytes - 1) / peer.chunk_bytes, INT_MAX));
}

void CreditRun::step(std::span<const Stretch> stretches, Cursor& cursor) {
  cursor.offset += stretches[cursor.stretch].chunk_bytes();
  if (cursor.offset >= stretches[cursor.stretch].bytes()) cursor = {cursor.stretch + 1, 0};
}

void CreditRun::reset_grants() {
  outstanding_ = 0;
  missing_ = far_receive_bytes_;
  open_.clear();
  to_tell_.clear();
  next_receive_ = 0;
  for (Peer& source : sources_) {
    source.granted = source.outstanding = 0;
    source.waiting = 0;
    source.landed = 0;
    source.is_queued = false;
  }
}

/// What one sender may have of the window. Those that are left at the end have it to themselves.
Bytes CreditRun::share() const {
  const std::size_t left = open_.size() + receives_.size() - next_receive_;
  return window_bytes_ / static_cast<Bytes>(std::min(left, static_cast<std::size_t>(window_senders_)));
}

/// Pieces from one sender stay in the order of the table: one of them at a time.
bool CreditRun::open_next() {
  if (next_receive_ == receives_.size()) return false;
  const auto from_same = [this](const Cursor& cursor) {
    return source_of_[cursor.stretch] == source_of_[next_receive_];
  };
  if (std::ranges::any_of(open_, from_same)) return false;
  open_.push_back({next_receive_++, 0});
  return true;
}

/// Accounts for the chunk that may be granted now, if there is one: of the first piece in the table whose sender has not
/// its share yet. Pieces from this host come before all others, and count for nothing.
std::optional<CreditRun::Grant> CreditRun::next_grant() {
  for (std::size_t i = 0; i < open_.size() || open_next(); ++i) {
    Cursor& cursor = open_[i];
    const Stretch& stretch = receives_[cursor.stretch];
    Peer& source = sources_[source_of_[cursor.stretch]];
    const Grant grant = {stretch.chunk_at(cursor.offset), cursor.stretch};
    const Bytes bytes = grant.chunk.bytes;
    if (!source.is_near) {
      if (outstanding_ > 0 && outstanding_ + bytes > window_bytes_) return {};
      if (source.outstanding > 0 && source.outstanding + bytes > share()) continue;
      outstanding_ += bytes;
      source.outstanding += bytes;
    }
    cursor.offset += stretch.chunk_bytes();
    if (cursor.offset >= stretch.bytes()) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    return grant;
  }
  return {};
}

void CreditRun::plan_first_grants() {
  open_.reserve(sources_.size());
  reset_grants();
  for (std::size_t used = 0; used < receive_slots_.count; ++used) {
    const std::optional<Grant> grant = next_grant();
    if (!grant) break;
    ++sources_[source_of_[grant->stretch]].first_word[granted_chunks];
  }
  for (Peer& source : sources_) source.first_word[missing_chunks] = in_chunks(far_receive_bytes_, source);
}

void CreditRun::agree_on_first_grants() {
  for (std::size_t i = 0; i < destinations_.size(); ++i)
    must(MPI_Irecv(destinations_[i].first_word.data(), word_size, MPI_INT, destinations_[i].rank, grant_tag_,
                   comm_->get(), &at(hear_slots_, i)),
         "MPI_Irecv");
  for (std::size_t i = 0; i < sources_.size(); ++i)
    must(MPI_Isend(sources_[i].first_word.data(), word_size, MPI_INT, sources_[i].rank, grant_tag_,
                   comm_->get(), &at(tell_slots_, i)),
         "MPI_Isend");
  must(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

void CreditRun::expect_chunks(Arrivals& arrivals) {
  for (Peer& source : sources_) {
    arrivals.expect_pieces(source.rank, source.chunks);
    source.arrival = arrivals.index_of(source.rank);
  }
}

void CreditRun::append_unsent(std::vector<Rank>& ranks) const {
  for (const Peer& destination : destinations_)
    if (destination.sent < destination.chunks) ranks.push_back(destination.rank);
  for (std::size_t slot = 0; slot < send_slots_.count; ++slot)
    if (requests_[send_slots_.begin + slot] != MPI_REQUEST_NULL)
      ranks.push_back(destinations_[send_to_[slot]].rank);
}

void CreditRun::cancel_receives() noexcept {
  for (std::size_t i = 0; i < send_slots_.begin; ++i)
    if (requests_[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[i]);
}

void CreditRun::start() {
  receives_left_ = num_receive_chunks_;
  sends_left_ = num_send_chunks_;
  reset_grants();
  for (Stretch& stretch : receives_) stretch.begin_receiving();
  free_receives_.clear();
  for (std::size_t i = receive_slots_.count; i-- > 0;) free_receives_.push_back(i);
  free_sends_.clear();
  for (std::size_t i = send_slots_.count; i-- > 0;) free_sends_.push_back(i);
  grant_what_fits();  // just the first grants: nothing has arrived yet, and no slot is taken
  ready_.clear();
  unreported_ = 0;
  for (std::size_t i = 0; i < destinations_.size(); ++i) {
    Peer& destination = destinations_[i];
    destination.next = {};
    destination.sent = 0;
    destination.granted = destination.outstanding = 0;
    destination.is_queued = false;
    destination.word = destination.first_word;
    hear(i);
  }
  send_what_is_granted();
}

/// Posts receives for as many chunks as fit, and tells their senders unless they know by bind().
void CreditRun::grant_what_fits() {
  while (!free_receives_.empty()) {
    const std::optional<Grant> grant = next_grant();
    if (!grant) return;
    post_receive(*grant);
    const std::size_t from = source_of_[grant->stretch];
    Peer& source = sources_[from];
    if (++source.granted <= source.first_word[granted_chunks]) continue;
    ++source.waiting;
    will_tell(from);
  }
}

void CreditRun::post_receive(const Grant& grant) {
  const std::size_t slot = free_receives_.back();
  const Stretch::Chunk& chunk = grant.chunk;
  must(MPI_Irecv(chunk.at, chunk.count, chunk.type, receives_[grant.stretch].partner(), data_tag_,
                 comm_->get(), &at(receive_slots_, slot)),
       "MPI_Irecv");
  free_receives_.pop_back();
  receive_bytes_[slot] = chunk.bytes;
  receive_of_[slot] = grant.stretch;
}

/// Words end with the last grant, so what came of a source's last chunks is never reported, and the sender does not count
/// them.
bool CreditRun::must_hear_more(const Peer& source) const {
  return source.waiting > 0 || (source.landed > 0 && source.granted < source.chunks);
}

/// Tells a source what it may send and what has come of it, or leaves that for the next word while the last is still
/// leaving.
void CreditRun::tell(std::size_t source) {
  Peer& peer = sources_[source];
  if (!must_hear_more(peer) || at(tell_slots_, source) != MPI_REQUEST_NULL) return;
  const int landed = static_cast<int>(std::min<Bytes>(peer.landed, INT_MAX));
  peer.landed -= landed;
  peer.word = {std::exchange(peer.waiting, 0), landed, in_chunks(missing_, peer)};
  must(MPI_Isend(peer.word.data(), word_size, MPI_INT, peer.rank, grant_tag_, comm_->get(),
                 &at(tell_slots_, source)),
       "MPI_Isend");
  ++tells_running_;
}

void CreditRun::will_tell(std::size_t source) {
  if (std::exchange(sources_[source].is_queued, true)) return;
  to_tell_.push_back(source);
}

void CreditRun::tell_all() {
  for (const std::size_t source : to_tell_) {
    sources_[source].is_queued = false;
    tell(source);
  }
  to_tell_.clear();
}

/// Takes up the word that has just come, and listens for the next one if there is to be one.
void CreditRun::hear(std::size_t destination) {
  Peer& peer = destinations_[destination];
  peer.granted += peer.word[granted_chunks];
  peer.missing = peer.word[missing_chunks];
  const bool is_last = peer.granted == peer.chunks;
  const Bytes reported = is_last ? peer.outstanding : peer.word[landed_bytes];
  peer.outstanding -= reported;
  unreported_ -= reported;
  if (peer.granted > peer.sent && !peer.is_queued) {
    peer.is_queued = true;
    ready_.push_back(destination);
  }
  if (!is_last)
    must(MPI_Irecv(peer.word.data(), word_size, MPI_INT, peer.rank, grant_tag_, comm_->get(),
                   &at(hear_slots_, destination)),
         "MPI_Irecv");
}

/// One chunk always may: it will be reported, or it is the last of its pair and nothing is left to wait for.
bool CreditRun::may_send(const Peer& destination) const {
  const Bytes bytes = destination.stretches[destination.next.stretch].chunk_at(destination.next.offset).bytes;
  return destination.is_near || unreported_ == 0 || unreported_ + bytes <= send_window_bytes_;
}

/// Place in ready_ of the destination that is served next: one on this host, or the one whose port has most to do yet.
std::optional<std::size_t> CreditRun::next_ready() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Peer& peer = destinations_[ready_[i]];
    if (peer.is_near) return i;
    if (!may_send(peer)) continue;
    if (!best || peer.missing > destinations_[ready_[*best]].missing) best = i;
  }
  return best;
}

void CreditRun::send_what_is_granted() {
  while (!free_sends_.empty()) {
    const std::optional<std::size_t> place = next_ready();
    if (!place) return;
    const std::size_t destination = ready_[*place];
    Peer& peer = destinations_[destination];
    Stretch& stretch = peer.stretches[peer.next.stretch];
    if (peer.next.offset == 0) stretch.pack();
    const Stretch::Chunk chunk = stretch.chunk_at(peer.next.offset);
    must(MPI_Isend(chunk.at, chunk.count, chunk.type, peer.rank, data_tag_, comm_->get(),
                   &at(send_slots_, free_sends_.back())),
         "MPI_Isend");
    send_to_[free_sends_.back()] = destination;
    free_sends_.pop_back();
    if (!peer.is_near && peer.granted < peer.chunks) {  // a word is to come
      peer.outstanding += chunk.bytes;
      unreported_ += chunk.bytes;
    }
    step(peer.stretches, peer.next);
    if (++peer.sent < peer.granted) continue;
    peer.is_queued = false;
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(*place));
  }
}

/// The request in this slot is complete.
void CreditRun::finish(std::size_t slot, Arrivals& arrivals) {
  if (slot < hear_slots_.begin) {
    receives_[receive_of_[slot]].receive(receive_bytes_[slot]);
    Peer& source = sources_[source_of_[receive_of_[slot]]];
    arrivals.land_piece(source.arrival);
    if (!source.is_near) {
      outstanding_ -= receive_bytes_[slot];
      source.outstanding -= receive_bytes_[slot];
      missing_ -= receive_bytes_[slot];
      source.landed += receive_bytes_[slot];
      will_tell(source_of_[receive_of_[slot]]);
    }
    free_receives_.push_back(slot);
    --receives_left_;
  } else if (slot < send_slots_.begin) {
    hear(slot - hear_slots_.begin);
  } else if (slot < tell_slots_.begin) {
    free_sends_.push_back(slot - send_slots_.begin);
    --sends_left_;
  } else {
    --tells_running_;
    tell(slot - tell_slots_.begin);
  }
}

bool CreditRun::is_done() const { return receives_left_ == 0 && sends_left_ == 0 && tells_running_ == 0; }

bool CreditRun::advance(bool block, Arrivals& arrivals, bool until_arrival) {
  while (!is_done()) {
    if (until_arrival && arrivals.any()) return false;
    int found = 0;
    const auto ready = block ? MPI_Waitsome : MPI_Testsome;
    must(ready(static_cast<int>(requests_.size()), requests_.data(), &found, indices_.data(),
               MPI_STATUSES_IGNORE),
         block ? "MPI_Waitsome" : "MPI_Testsome");
    if (found == 0) return false;
    num_events_ += found;
    for (int i = 0; i < found; ++i)
      finish(static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]), arrivals);
    grant_what_fits();
    tell_all();
    send_what_is_granted();
  }
  return true;
}

}  // namespace nuice::mpi
