// SPDX-License-Identifier: BSD-3-Clause
// A planless exchange from what has come to what leaves:
//
//   whatever is complete:  a chunk came | a notice came | a chunk left | a notice left
//   then grant what fits the window, tell the sources, and send what is granted
#include <algorithm>
#include <functional>
#include <string>

#include "core/text/names.hpp"
#include "exchange/planless/ongoing.hpp"
#include "mpi/call.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

[[noreturn]] void fail_on_sizes(Rank src, Rank dst, const std::string& sent, Bytes expected) {
  throw Error(ErrorCode::mismatch, pair_name(src, dst) + ": rank " + std::to_string(src) + " sends " + sent +
                                       " bytes, but rank " + std::to_string(dst) + " expects " +
                                       std::to_string(expected));
}

}  // namespace

bool PlanlessEngine::look() {
  if (is_broken_) throw Error(ErrorCode::state, "an exchange on this communicator has failed before");
  if (requests_.empty()) return false;
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int found = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &found, indices_.data(),
                                statuses_.data());
  if (code != MPI_SUCCESS) fail_by_status(code, found);
  if (found <= 0) return false;
  now_s_ = MPI_Wtime();
  num_events_ += found;
  take_out(found);
  for (const Completed& completed : completed_) take(completed);
  grant();
  notify_all();
  send_granted();
  forget_done();
  return true;
}

/// Out of the requests into completed_.
void PlanlessEngine::take_out(int found) {
  completed_.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(found); ++i)
    completed_.push_back({uses_[static_cast<std::size_t>(indices_[i])], statuses_[i]});
  std::sort(indices_.begin(), indices_.begin() + found, std::greater<>());
  for (std::size_t i = 0; i < static_cast<std::size_t>(found); ++i) {
    const auto place = static_cast<std::size_t>(indices_[i]);
    if (requests_[place] != MPI_REQUEST_NULL)  // it was persistent
      must(MPI_Request_free(&requests_[place]), "MPI_Request_free");
    requests_[place] = requests_.back();
    uses_[place] = uses_.back();
    requests_.pop_back();
    uses_.pop_back();
  }
}

/// A message that is longer than its receive is an error of MPI.
void PlanlessEngine::fail_by_status(int code, int found) const {
  for (std::size_t i = 0; code == MPI_ERR_IN_STATUS && i < static_cast<std::size_t>(std::max(found, 0));
       ++i) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(statuses_[i].MPI_ERROR, &error_class);
    const Use& use = uses_[static_cast<std::size_t>(indices_[i])];
    if (error_class == MPI_ERR_TRUNCATE && use.kind == Kind::data_in) {
      const Source& source = use.ongoing->sources[use.index];
      fail_on_sizes(source.rank, channel_.rank, "more", source.bytes);
    }
    if (error_class != MPI_SUCCESS && error_class != MPI_ERR_PENDING)
      must(statuses_[i].MPI_ERROR, "MPI_Testsome");
  }
  fail(code, "MPI_Testsome");
}

void PlanlessEngine::take(const Completed& completed) {
  const Use& use = completed.use;
  --use.ongoing->requests;
  switch (use.kind) {
    case Kind::data_in:
      take_data(use, completed.status);
      break;
    case Kind::notice_in:
      take_notice(use);
      break;
    case Kind::notice_out:
      use.ongoing->sources[use.index].is_notice_leaving = false;
      will_notify(*use.ongoing, use.index);
      break;
    case Kind::data_out:
      break;
  }
}

void PlanlessEngine::take_data(const Use& use, const MPI_Status& status) {
  Ongoing& ongoing = *use.ongoing;
  Source& source = ongoing.sources[use.index];
  int came = 0;
  must(MPI_Get_count(&status, MPI_BYTE, &came), "MPI_Get_count");
  if (came != use.bytes) {
    // Chunks of an exchange that may be left have another length if the message has.
    const bool may_be_cut = ongoing.may_be_left && source.landed >= source.unasked;
    fail_on_sizes(source.rank, channel_.rank,
                  may_be_cut ? "another number of" : std::to_string(source.landed + came), source.bytes);
  }
  source.landed += use.bytes;
  source.in_flight -= use.bytes;
  ongoing.bytes_left -= use.bytes;
  if (source.landed == source.bytes) ongoing.listener->land(use.index);
  if (source.is_near) return;
  const bool was_asked = use.asked_at_s >= 0;
  (was_asked ? granted_in_flight_ : unasked_in_flight_) -= use.bytes;
  missing_ -= use.bytes;
  ongoing.far_bytes_left -= use.bytes;
  window_.land(now_s_, use.bytes, was_asked ? now_s_ - use.asked_at_s : -1);
  if (was_asked) {
    source.to_report += use.bytes;
    will_notify(ongoing, use.index);
  }
  if (ongoing.far_bytes_left == 0) window_.end(now_s_);
}

void PlanlessEngine::take_notice(const Use& use) {
  Ongoing& ongoing = *use.ongoing;
  Destination& destination = ongoing.destinations[use.index];
  const Notice& notice = destination.notice;
  window_.hear(notice.known);
  if (notice.bytes != destination.bytes)
    fail_on_sizes(channel_.rank, destination.rank, std::to_string(destination.bytes), notice.bytes);
  if (notice.granted > destination.granted && !ongoing.is_open) {
    if (!destination.grants.empty() && destination.grants.back().chunk == notice.chunk) {
      destination.grants.back().end = notice.granted;  // what was granted before ends with a whole chunk
    } else {
      destination.grants.push_back({notice.granted, notice.chunk});
    }
  }
  destination.granted = notice.granted;
  destination.missing = notice.missing;
  const bool is_last = destination.granted == destination.bytes;
  const Bytes reported = is_last || ongoing.is_open ? destination.in_flight : notice.landed;
  destination.in_flight -= reported;
  unreported_ -= reported;
  if (!is_last) listen(ongoing, use.index);
  if (destination.sent >= destination.granted || destination.is_queued) return;
  destination.is_queued = true;
  ready_.push_back({&ongoing, use.index});
}

/// What is under way to this rank. Of what comes unasked as much as there may be room for: a rank that is late must not hold up the
/// others.
Bytes PlanlessEngine::in_flight() const {
  return granted_in_flight_ + std::min(unasked_in_flight_, window_.window_bytes() / 2);
}

/// What one partner may have of a window. Those that are left at the end have it to themselves.
Bytes PlanlessEngine::share_of(Bytes window, std::size_t partners_left) const {
  return window / static_cast<Bytes>(std::clamp<std::size_t>(
                      partners_left, 1, static_cast<std::size_t>(settings_.window_senders)));
}

/// Those that have not begun may hold half of the window, and get it only if nobody else does.
void PlanlessEngine::grant() {
  if (sources_left_ == 0) return;
  grant_those(true, window_.window_bytes());
  grant_those(false, window_.window_bytes() / 2);
}

void PlanlessEngine::grant_those(bool are_here, Bytes window) {
  for (Ongoing* const ongoing : active_) {
    for (std::size_t i = 0; i < ongoing->open.size();) {
      const std::size_t index = ongoing->open[i];
      const Source& source = ongoing->sources[index];
      if (source.is_here() == are_here && !grant_source(*ongoing, index, window)) return;
      if (source.asked < source.bytes) {
        ++i;
      } else {
        ongoing->open.erase(ongoing->open.begin() + static_cast<std::ptrdiff_t>(i));
        --sources_left_;
      }
    }
  }
}

/// Whether any chunk that was asked for is still to come. are_here: only of senders that have begun counts, as others may begin only when
/// these have sent.
bool PlanlessEngine::is_any_granted(bool are_here) const {
  if (granted_in_flight_ == 0 || !are_here) return granted_in_flight_ > 0;
  const auto is_coming = [](const Source& source) { return source.is_here() && source.in_flight > 0; };
  return std::ranges::any_of(
      active_, [&](const Ongoing* each) { return std::ranges::any_of(each->sources, is_coming); });
}

/// As much as its share holds. False: the window is full.
bool PlanlessEngine::grant_source(Ongoing& ongoing, std::size_t index, Bytes window) {
  Source& source = ongoing.sources[index];
  const Bytes share = share_of(window_.window_bytes(), sources_left_);
  if (!ongoing.may_be_left && source.told == source.asked) {
    const Bytes share_of_all = share_of(window_.whole_window_bytes(), sources_left_);
    source.chunk = window_.chunk_for(source.bytes - source.asked, share_of_all);
  }
  while (source.asked < source.bytes) {
    const Bytes chunk = std::min(source.chunk, source.bytes - source.asked);
    if (in_flight() + chunk > window && is_any_granted(source.is_here())) return false;
    if (source.in_flight > 0 && source.in_flight + chunk > share) return true;
    receive_chunk(ongoing, index, chunk, now_s_);
    granted_in_flight_ += chunk;
    will_notify(ongoing, index);
  }
  return true;
}

void PlanlessEngine::will_notify(Ongoing& ongoing, std::size_t index) {
  Source& source = ongoing.sources[index];
  if (source.is_queued) return;
  source.is_queued = true;
  to_notify_.push_back({&ongoing, index});
}

void PlanlessEngine::notify_all() {
  for (const auto& [ongoing, index] : to_notify_) {
    ongoing->sources[index].is_queued = false;
    notify(*ongoing, index);
  }
  to_notify_.clear();
}

/// Of what it may send and what has come of it, unless the last notice is still leaving, or was the last.
void PlanlessEngine::notify(Ongoing& ongoing, std::size_t index) {
  Source& source = ongoing.sources[index];
  const bool knows_all = source.told == source.bytes;
  if (knows_all || source.is_notice_leaving || (source.told == source.asked && source.to_report == 0)) return;
  source.is_notice_leaving = true;
  send_notice(ongoing, index, source.notice);
}

void PlanlessEngine::send_notice(Ongoing& ongoing, std::size_t index, Notice& notice) {
  Source& source = ongoing.sources[index];
  notice = {source.asked, source.to_report, missing_, source.chunk, source.bytes, window_.knowledge()};
  source.to_report = 0;
  source.told = source.asked;
  MPI_Request* const request = add_request({Kind::notice_out, &ongoing, index, 0, -1});
  must(MPI_Isend(&notice, sizeof notice, MPI_BYTE, source.rank, source.tag + 1, channel_.comm, request),
       "MPI_Isend");
}

Bytes PlanlessEngine::next_chunk(const Destination& destination) {
  const auto& [end, chunk] = destination.grants.front();
  return std::min(chunk, end - destination.sent);
}

/// One chunk always may: it will be reported, or it is the last of its message and nothing is left to wait for.
bool PlanlessEngine::may_send(const Destination& destination) const {
  const Bytes window = window_.window_for(settings_.send_share);
  const Bytes bytes = next_chunk(destination);
  if (destination.in_flight > 0 && destination.in_flight + bytes > share_of(window, destinations_left_))
    return false;
  return unreported_ == 0 || unreported_ + bytes <= window;
}

/// The one whose port has most to do yet.
std::optional<std::size_t> PlanlessEngine::next_ready() const {
  std::optional<std::size_t> best;
  Bytes most = -1;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Destination& destination = ready_[i].ongoing->destinations[ready_[i].index];
    if (destination.missing <= most || !may_send(destination)) continue;
    best = i;
    most = destination.missing;
  }
  return best;
}

void PlanlessEngine::send_granted() {
  while (const std::optional<std::size_t> place = next_ready()) {
    const auto [ongoing, index] = ready_[*place];
    Destination& destination = ongoing->destinations[index];
    const Bytes bytes = next_chunk(destination);
    if (destination.granted < destination.bytes) {  // a notice is to come
      destination.in_flight += bytes;
      unreported_ += bytes;
    }
    send_chunk(*ongoing, index, bytes);
    if (destination.sent == destination.grants.front().end)
      destination.grants.erase(destination.grants.begin());
    if (destination.sent < destination.granted) continue;
    destination.is_queued = false;
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(*place));
  }
}

void PlanlessEngine::open(Ongoing& ongoing) {
  if (is_broken_ || ongoing.is_open || is_done(ongoing)) return;
  ongoing.is_open = true;
  now_s_ = MPI_Wtime();
  window_.stop_measuring();  // nobody sees when it lands
  grant_all(ongoing);
  send_all(ongoing);
}

void PlanlessEngine::grant_all(Ongoing& ongoing) {
  sources_left_ -= ongoing.open.size();
  ongoing.open.clear();
  for (std::size_t i = 0; i < ongoing.sources.size(); ++i) {
    Source& source = ongoing.sources[i];
    while (source.asked < source.bytes) {
      const Bytes chunk = std::min(source.chunk, source.bytes - source.asked);
      receive_chunk(ongoing, i, chunk, now_s_);
      granted_in_flight_ += chunk;
    }
    // The last notice, so no third can be wanted while these two leave.
    if (source.told < source.bytes) send_notice(ongoing, i, source.opening);
  }
}

/// What comes of these chunks' reports is not waited for.
void PlanlessEngine::send_all(Ongoing& ongoing) {
  std::erase_if(ready_, [&](const Place& place) { return place.ongoing == &ongoing; });
  for (const std::size_t i : ongoing.order) {
    Destination& destination = ongoing.destinations[i];
    destination.is_queued = false;
    destination.grants.clear();
    unreported_ -= destination.in_flight;
    destination.in_flight = 0;
    while (destination.sent < destination.bytes)
      send_chunk(ongoing, i, std::min(destination.chunk, destination.bytes - destination.sent));
  }
}

}  // namespace nuice::mpi
