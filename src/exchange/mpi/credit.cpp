// SPDX-License-Identifier: BSD-3-Clause
// What bind() makes of the executor `credit`, and who is granted the next chunk; credit_walk.cpp is the exchange itself.
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

/// Grants and chunks use plain requests, which are gone when complete.
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
  mpi::cancel_receives(std::span(requests_).first(send_slots_.begin));
}

}  // namespace nuice::mpi
