// SPDX-License-Identifier: BSD-3-Clause
// An exchange by the executor `credit`, from start() to its end:
//
//   whatever request is complete first:  a chunk came | a notice came | a chunk left | a notice left
//   then grant what fits the window, tell the sources, and send what is granted
//
// Cost: credit.hpp.
#include <algorithm>
#include <climits>
#include <utility>

#include "exchange/credit/credit.hpp"
#include "mpi/call.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

/// From what all ranks have reported, if it is here.
void CreditRun::learn() {
  if (reported_after_ == 0 || !reports_->advance()) return;
  reported_after_ = 0;
  exchange::WindowControl::Report of_all;
  std::ranges::copy(reports_->result(), of_all.begin());
  control_.learn(of_all);
}

/// Nothing is under way: what was agreed on for this exchange counts from here on.
void CreditRun::begin_next_terms() {
  for (Peer& source : sources_) source.terms = source.next_terms;
  first_window_bytes_ = next_first_window_bytes_;
  const Bytes chunk = next_chunk_bytes_;
  const bool is_as_before = control_.first_window_bytes() == first_window_bytes_ &&
                            std::min<Bytes>(control_.chunk_bytes(), INT_MAX) == chunk;
  if (is_confirming_ && !is_as_before) plan_next_terms();
  cut_receives(chunk);
}

void CreditRun::start() {
  ++exchange_;
  is_over_ = false;
  is_confirming_ = control_.adapts() && exchange::WindowControl::is_confirmed(exchange_);
  now_s_ = MPI_Wtime();
  // One exchange later than it could be: by then it is here on all ranks as a rule, and they go on alike.
  if (exchange_ >= reported_after_ + 2)
    learn();
  else if (reported_after_ != 0)
    reports_->advance();  // of several rounds each needs a look
  begin_next_terms();
  if (is_confirming_) look_at_others_losses();
  control_.start(now_s_);
  receive_budget_.start();
  send_budget_.start();
  receives_left_ = num_receive_chunks_;
  reset_grants();
  last_notices_left_ = 0;
  for (Peer& source : sources_) {
    source.bytes_left = source.bytes;
    source.awaits_last = source.terms.granted < source.chunks || (is_confirming_ && !source.is_near);
  }
  for (Stretch& stretch : receives_) stretch.begin_receiving();
  free_sends_.free_all();
  destinations_left_ = num_far_destinations_;
  window_bytes_ = first_window_bytes_;
  grant_what_fits();  // just what was granted beforehand: no slot is taken yet
  send_window_bytes_ = 0;
  look_at_window();
  ready_.clear();
  unreported_ = 0;
  for (std::size_t i = 0; i < destinations_.size(); ++i) begin_destination(i);
  sends_left_ = num_send_chunks_;
  grant_what_fits();
  for (std::size_t i = num_near_sources_; is_confirming_ && i < sources_.size(); ++i)
    if (is_last_notice(sources_[i])) will_notify(i);
  notify_all();
  send_what_is_granted();
}

/// Within an exchange windows only grow: with less than what a late rank has been granted, nobody else would get anything.
void CreditRun::look_at_window() {
  const Bytes landed = far_receive_bytes_ - missing_;
  const Bytes first = std::min(first_window_bytes_, control_.window_bytes());
  window_bytes_ = std::max(window_bytes_, control_.window_after(first, landed, receive_budget_.share()));
  send_window_bytes_ =
      std::max(send_window_bytes_, control_.window_for(std::max(send_share_, send_budget_.share())));
}

void CreditRun::begin_destination(std::size_t index) {
  Peer& destination = destinations_[index];
  cut_sends(destination);
  destination.next = {};
  destination.sent = 0;
  destination.granted = destination.outstanding = 0;
  destination.is_queued = false;
  destination.missing = destination.all_kib;
  destination.awaits_last =
      destination.terms.granted < destination.chunks || (is_confirming_ && !destination.is_near);
  destination.is_confirmed = destination.is_source || destination.awaits_last;
  take_grant(index, destination.terms.granted);
  if (!destination.awaits_last) return;
  ++last_notices_left_;
  listen(index);
}

/// Posts receives for as many chunks as fit, and tells their senders unless they know beforehand.
void CreditRun::grant_what_fits() {
  while (const std::optional<Grant> grant = next_grant()) {
    const std::size_t from = source_of_[grant->stretch];
    Peer& source = sources_[from];
    const bool is_known = ++source.granted <= source.terms.granted;
    asked_at_s_[grant->slot] = is_known ? -1 : now_s_;
    post_receive(*grant);
    if (is_known) continue;
    arrivals_.trace().note(Trace::Kind::granted, source.rank, grant->chunk.bytes);
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
  receive_at_[slot] = static_cast<std::byte*>(chunk.at);
  receive_of_[slot] = grant.stretch;
}

/// With it the source knows of every chunk, and of the next exchange.
bool CreditRun::is_last_notice(const Peer& source) {
  return source.awaits_last && source.granted == source.chunks;
}

/// Notices end with the last one, so what came of a source's last chunks is never reported, and the sender does not count
/// them.
bool CreditRun::must_be_notified(const Peer& source) {
  return source.awaits_last && (source.waiting > 0 || source.landed > 0 || is_last_notice(source));
}

void CreditRun::start_send(const Stretch::Chunk& chunk, const Peer& to, MPI_Request& request) {
  const auto& [at, count, type, bytes] = chunk;
  if (to.is_near)
    must(MPI_Isend(at, count, type, to.rank, data_tag_, comm_->get(), &request), "MPI_Isend");
  else
    send_to_other_host(at, count, type, to.rank, data_tag_, comm_->get(), ends_unconfirmed(to), &request);
}

/// Tells a source what it may send and what has come of it, or leaves that for the next notice while the last is still
/// leaving.
void CreditRun::notify(std::size_t source) {
  Peer& peer = sources_[source];
  if (!must_be_notified(peer) || at(outgoing_slots_, source) != MPI_REQUEST_NULL) return;
  const int landed = static_cast<int>(std::min<Bytes>(peer.landed, INT_MAX));
  peer.landed -= landed;
  peer.awaits_last = !is_last_notice(peer);
  peer.notice = {std::exchange(peer.waiting, 0), landed, in_kib(missing_),
                 static_cast<int>(peer.next_terms.granted), static_cast<int>(peer.next_terms.chunk_bytes)};
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
  arrivals_.trace().note(Trace::Kind::may_send, peer.rank, peer.notice[granted_chunks]);
  take_grant(destination, peer.notice[granted_chunks]);
  peer.missing = peer.notice[missing_kib];
  const bool is_last = peer.granted == peer.chunks;
  const Bytes reported = is_last ? peer.outstanding : peer.notice[landed_bytes];
  peer.outstanding -= reported;
  unreported_ -= reported;
  if (is_last) {
    peer.awaits_last = false;
    peer.next_terms = {peer.notice[next_chunk], peer.notice[next_granted_chunks]};
    --last_notices_left_;
  } else {
    listen(destination);
  }
}

void CreditRun::take_grant(std::size_t destination, std::int64_t chunks) {
  Peer& peer = destinations_[destination];
  peer.granted += chunks;
  if (peer.granted == peer.sent || peer.is_queued) return;
  peer.is_queued = true;
  ready_.push_back(destination);
}

void CreditRun::listen(std::size_t destination) {
  Peer& peer = destinations_[destination];
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
  return is_last && !destination.is_near && !destination.is_confirmed;
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
    if (copies_ != nullptr) copies_->await({static_cast<std::byte*>(chunk.at), chunk.bytes});
    start_send(chunk, peer, at(send_slots_, slot));
    arrivals_.trace().note(Trace::Kind::sent, peer.rank, chunk.bytes);
    send_to_[slot] = destination;
    if (!peer.is_near && peer.granted < peer.chunks) {  // a notice is to come
      peer.outstanding += chunk.bytes;
      unreported_ += chunk.bytes;
    }
    if (!peer.is_near) send_budget_.note(chunk.bytes);
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
    arrivals_.trace().note(Trace::Kind::landed, source.rank, receive_bytes_[slot]);
    if (copies_ != nullptr) copies_->land({receive_at_[slot], receive_bytes_[slot]});
    source.bytes_left -= receive_bytes_[slot];
    if (source.bytes_left == 0) arrivals_.land_piece(source.arrival);
    if (!source.is_near) {
      control_.land(now_s_, receive_bytes_[slot], asked_at_s_[slot] < 0 ? -1 : now_s_ - asked_at_s_[slot]);
      outstanding_ -= receive_bytes_[slot];
      source.outstanding -= receive_bytes_[slot];
      missing_ -= receive_bytes_[slot];
      receive_budget_.note(receive_bytes_[slot]);
      source.landed += receive_bytes_[slot];
      will_notify(source_of_[receive_of_[slot]]);
    }
    free_receives_.give_back(slot, source.is_near);
    --receives_left_;
  } else if (slot < send_slots_.begin) {
    take_notice(slot - incoming_slots_.begin);
  } else if (slot < outgoing_slots_.begin) {
    if (requests_[slot] != MPI_REQUEST_NULL)  // it was persistent
      must(MPI_Request_free(&requests_[slot]), "MPI_Request_free");
    slot -= send_slots_.begin;
    free_sends_.give_back(slot, destinations_[send_to_[slot]].is_near);
    --sends_left_;
  } else {
    --notices_running_;
    notify(slot - outgoing_slots_.begin);
  }
}

bool CreditRun::is_done() const {
  return receives_left_ == 0 && sends_left_ == 0 && notices_running_ == 0 && last_notices_left_ == 0;
}

/// What was lost since the end of the exchange before. A rank that is through as a sender may still have bytes on their way,
/// but what the program's other messages have lost is none of the window's.
void CreditRun::look_at_others_losses() {
  constexpr double small_part = 0.5;  // of what an exchange sends
  const TcpLosses::Counts between = losses_.since_last();
  const double segments = static_cast<double>(far_send_bytes_) / exchange::segment_bytes;
  if (static_cast<double>(between.sent) < small_part * segments) sent_again_ += between.sent_again;
}

/// Of the bytes that left this host in the exchanges that were looked at since the last report, in whole segments.
double CreditRun::lost_share() {
  const auto exchanges = static_cast<double>(std::exchange(exchanges_with_losses_, 0));
  const auto sent_again = static_cast<double>(std::exchange(sent_again_, 0));
  const double segments = exchanges * static_cast<double>(far_send_bytes_) / exchange::segment_bytes;
  return segments > 0 ? sent_again / std::max(segments, 1.0) : 0;
}

/// Other ranks may not be through: what they took is learnt in a later start().
void CreditRun::finish_exchange() {
  if (std::exchange(is_over_, true) || !control_.adapts()) return;
  if (reported_after_ != 0) reports_->advance();
  control_.finish(MPI_Wtime());
  if (is_confirming_) {
    sent_again_ += losses_.since_last().sent_again;
    ++exchanges_with_losses_;
  }
  if (exchange::WindowControl::ends_block(exchange_)) reports_->owe();
  if (!reports_->may_begin()) return;
  learn();  // what came since start(), lest it be forgotten
  reported_after_ = exchange_;
  reports_->begin(control_.report(lost_share()));
}

/// block: not before the end, or (until_arrival) when a message can be handed over.
bool CreditRun::advance(bool block, bool until_arrival) {
  constexpr unsigned tests_per_look = 4;  // at reports, for which nobody waits: a call of MPI more
  Patience patience;
  while (!is_done()) {
    if (until_arrival && arrivals_.any()) return false;
    int found = 0;
    must(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &found, indices_.data(),
                      MPI_STATUSES_IGNORE),
         "MPI_Testsome");
    if (found == 0 && reported_after_ != 0 && ++empty_tests_ % tests_per_look == 0) reports_->advance();
    if (found == 0 && !block) return false;
    if (found == 0) {  // not MPI_Waitsome: reports go on meanwhile
      patience.found_nothing();
      continue;
    }
    patience.found_something();
    num_events_ += found;
    now_s_ = MPI_Wtime();
    for (int i = 0; i < found; ++i) finish(static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]));
    look_at_window();
    grant_what_fits();
    notify_all();
    send_what_is_granted();
  }
  finish_exchange();
  return true;
}

}  // namespace nuice::mpi
