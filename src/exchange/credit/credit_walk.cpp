// SPDX-License-Identifier: BSD-3-Clause
// An exchange by the executor `credit`, from start() to its end:
//
//   whatever request is complete first:  a chunk came | a notice came | a chunk left | a notice left
//   then grant what fits the window, tell the sources, and send what is granted
//
// Cost: credit.hpp.
#include <algorithm>
#include <climits>
#include <thread>
#include <utility>

#include "exchange/credit/credit.hpp"
#include "mpi/call.hpp"

namespace nuice::mpi {

void CreditRun::start() {
  receives_left_ = num_receive_chunks_;
  sends_left_ = num_send_chunks_;
  reset_grants();
  for (Stretch& stretch : receives_) stretch.begin_receiving();
  free_sends_.free_all();
  destinations_left_ = num_far_destinations_;
  grant_what_fits();  // just the first grants: nothing has arrived yet, and no slot is taken
  ready_.clear();
  unreported_ = 0;
  for (std::size_t i = 0; i < destinations_.size(); ++i) {
    Peer& destination = destinations_[i];
    destination.next = {};
    destination.sent = 0;
    destination.granted = destination.outstanding = 0;
    destination.is_queued = false;
    destination.notice = destination.first_notice;
    take_notice(i);
  }
  send_what_is_granted();
}

/// Posts receives for as many chunks as fit, and tells their senders unless they know by bind().
void CreditRun::grant_what_fits() {
  while (const std::optional<Grant> grant = next_grant()) {
    post_receive(*grant);
    const std::size_t from = source_of_[grant->stretch];
    Peer& source = sources_[from];
    if (++source.granted <= source.first_notice[granted_chunks]) continue;
    ++source.waiting;
    will_notify(from);
  }
}

void CreditRun::post_receive(const Grant& grant) {
  const std::size_t slot = grant.slot;
  const Stretch::Chunk& chunk = grant.chunk;
  must(MPI_Irecv(chunk.at, chunk.count, chunk.type, receives_[grant.stretch].partner(), data_tag_,
                 comm_->get(), &at(receive_slots_, slot)),
       "MPI_Irecv");
  receive_bytes_[slot] = chunk.bytes;
  receive_of_[slot] = grant.stretch;
}

/// Notices end with the last grant, so what came of a source's last chunks is never reported, and the sender does not count
/// them.
bool CreditRun::must_be_notified(const Peer& source) {
  return source.waiting > 0 || (source.landed > 0 && source.granted < source.chunks);
}

/// Tells a source what it may send and what has come of it, or leaves that for the next notice while the last is still
/// leaving.
void CreditRun::notify(std::size_t source) {
  Peer& peer = sources_[source];
  if (!must_be_notified(peer) || at(outgoing_slots_, source) != MPI_REQUEST_NULL) return;
  const int landed = static_cast<int>(std::min<Bytes>(peer.landed, INT_MAX));
  peer.landed -= landed;
  peer.notice = {std::exchange(peer.waiting, 0), landed, in_chunks(missing_, peer)};
  must(MPI_Isend(peer.notice.data(), notice_size, MPI_INT, peer.rank, grant_tag_, comm_->get(),
                 &at(outgoing_slots_, source)),
       "MPI_Isend");
  ++notices_running_;
}

void CreditRun::will_notify(std::size_t source) {
  if (std::exchange(sources_[source].is_queued, true)) return;
  to_notify_.push_back(source);
}

void CreditRun::notify_all() {
  for (const std::size_t source : to_notify_) {
    sources_[source].is_queued = false;
    notify(source);
  }
  to_notify_.clear();
}

/// Takes up the notice that has just come, and listens for the next one if there is to be one.
void CreditRun::take_notice(std::size_t destination) {
  Peer& peer = destinations_[destination];
  peer.granted += peer.notice[granted_chunks];
  peer.missing = peer.notice[missing_chunks];
  const bool is_last = peer.granted == peer.chunks;
  const Bytes reported = is_last ? peer.outstanding : peer.notice[landed_bytes];
  peer.outstanding -= reported;
  unreported_ -= reported;
  if (peer.granted > peer.sent && !peer.is_queued) {
    peer.is_queued = true;
    ready_.push_back(destination);
  }
  if (!is_last)
    must(MPI_Irecv(peer.notice.data(), notice_size, MPI_INT, peer.rank, grant_tag_, comm_->get(),
                   &at(incoming_slots_, destination)),
         "MPI_Irecv");
}

/// One chunk always may: it will be reported, or it is the last of its pair and nothing is left to wait for.
bool CreditRun::may_send(const Peer& destination) const {
  if (!free_sends_.any(destination.is_near)) return false;
  if (destination.is_near) return true;
  const Bytes bytes = destination.stretches[destination.next.stretch].chunk_at(destination.next.offset).bytes;
  const Bytes share = share_of(send_window_bytes_, destinations_left_);
  if (destination.outstanding > 0 && destination.outstanding + bytes > share) return false;
  return unreported_ == 0 || unreported_ + bytes <= send_window_bytes_;
}

/// The chunk that is sent next is the last, and this rank gets nothing in this exchange, no notice either, that says that
/// the receiver has begun. Not before that may it be through, lest it be several exchanges ahead.
bool CreditRun::ends_unconfirmed(const Peer& destination) {
  const bool is_last = destination.sent + 1 == destination.chunks;
  const bool is_confirmed =
      destination.is_source || destination.first_notice[granted_chunks] < destination.chunks;
  return is_last && !destination.is_near && !is_confirmed;
}

/// Place in ready_ of the destination that is served next: one on this host, or the one whose port has most to do yet.
std::optional<std::size_t> CreditRun::next_ready() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Peer& peer = destinations_[ready_[i]];
    if (!may_send(peer)) continue;
    if (peer.is_near) return i;
    if (!best || peer.missing > destinations_[ready_[*best]].missing) best = i;
  }
  return best;
}

void CreditRun::send_what_is_granted() {
  while (const std::optional<std::size_t> place = next_ready()) {
    const std::size_t destination = ready_[*place];
    Peer& peer = destinations_[destination];
    Stretch& stretch = peer.stretches[peer.next.stretch];
    if (peer.next.offset == 0) stretch.pack();
    const Stretch::Chunk chunk = stretch.chunk_at(peer.next.offset);
    const std::size_t slot = free_sends_.take(peer.is_near);
    const bool waits_for_receive = ends_unconfirmed(peer);
    const auto send = waits_for_receive ? MPI_Issend : MPI_Isend;
    must(send(chunk.at, chunk.count, chunk.type, peer.rank, data_tag_, comm_->get(), &at(send_slots_, slot)),
         waits_for_receive ? "MPI_Issend" : "MPI_Isend");
    send_to_[slot] = destination;
    if (!peer.is_near && peer.granted < peer.chunks) {  // a notice is to come
      peer.outstanding += chunk.bytes;
      unreported_ += chunk.bytes;
    }
    step(peer.stretches, peer.next);
    ++peer.sent;
    if (peer.sent == peer.chunks && !peer.is_near) --destinations_left_;
    if (peer.sent < peer.granted) continue;
    peer.is_queued = false;
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(*place));
  }
}

/// The request in this slot is complete.
void CreditRun::finish(std::size_t slot) {
  if (slot < incoming_slots_.begin) {
    receives_[receive_of_[slot]].receive(receive_bytes_[slot]);
    Peer& source = sources_[source_of_[receive_of_[slot]]];
    arrivals_.land_piece(source.arrival);
    if (!source.is_near) {
      outstanding_ -= receive_bytes_[slot];
      source.outstanding -= receive_bytes_[slot];
      missing_ -= receive_bytes_[slot];
      source.landed += receive_bytes_[slot];
      will_notify(source_of_[receive_of_[slot]]);
    }
    free_receives_.give_back(slot, source.is_near);
    --receives_left_;
  } else if (slot < send_slots_.begin) {
    take_notice(slot - incoming_slots_.begin);
  } else if (slot < outgoing_slots_.begin) {
    slot -= send_slots_.begin;
    free_sends_.give_back(slot, destinations_[send_to_[slot]].is_near);
    --sends_left_;
  } else {
    --notices_running_;
    notify(slot - outgoing_slots_.begin);
  }
}

bool CreditRun::is_done() const { return receives_left_ == 0 && sends_left_ == 0 && notices_running_ == 0; }

/// block: not before the end, or (until_arrival) when a message can be handed over.
bool CreditRun::advance(bool block, bool until_arrival) {
  while (!is_done()) {
    if (until_arrival && arrivals_.any()) return false;
    int found = 0;
    must(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &found, indices_.data(),
                      MPI_STATUSES_IGNORE),
         "MPI_Testsome");
    if (found == 0 && !block) return false;
    if (found == 0) {  // not MPI_Waitsome: grants are answered by ranks that may need this core
      std::this_thread::yield();
      continue;
    }
    num_events_ += found;
    for (int i = 0; i < found; ++i) finish(static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]));
    grant_what_fits();
    notify_all();
    send_what_is_granted();
  }
  return true;
}

}  // namespace nuice::mpi
