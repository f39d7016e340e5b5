// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/planless/engine.hpp"

#include <algorithm>
#include <utility>

#include "exchange/planless/ongoing.hpp"
#include "mpi/call.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Bytes that MPI counts in one message.
constexpr Bytes most_bytes_at_once = Bytes{1} << 30;

}  // namespace

Bytes default_unasked_bytes(Rank num_senders) {
  return std::max(exchange::segment_bytes,
                  2 * exchange::least_window_bytes / std::max<Bytes>(1, num_senders));
}

Bytes unasked_bytes_of(Bytes message, Bytes unasked_bytes, Bytes whole_bytes) {
  const Bytes with_rest = unasked_bytes + std::min(unasked_bytes, exchange::segment_bytes);
  return message <= std::max(whole_bytes, with_rest) ? message : unasked_bytes;
}

Bytes chunk_bytes_of(Bytes message, Bytes unasked) {
  constexpr Bytes least = 2 * exchange::least_window_bytes / 4;
  constexpr Bytes most_chunks = 64;
  const Bytes rest = std::max<Bytes>(1, message - unasked);
  const Bytes wanted = std::clamp(rest / most_chunks, least, most_bytes_at_once / 2);
  const Bytes chunks = std::max<Bytes>(1, (rest + wanted / 2) / wanted);
  return (rest + chunks - 1) / chunks;
}

PlanlessEngine::PlanlessEngine(const PlanlessChannel& channel, PlanlessSettings settings)
    : channel_(channel),
      settings_(std::move(settings)),
      window_(settings_.window),
      sent_numbers_(static_cast<std::size_t>(channel.num_ranks)),
      received_numbers_(static_cast<std::size_t>(channel.num_ranks)) {}

/// Requests that are left belong to exchanges that were given up: what they write to or read from is left, too.
PlanlessEngine::~PlanlessEngine() {
  if (requests_.empty()) return;
  for (std::unique_ptr<Ongoing>& each : all_) (void)each.release();
}

int PlanlessEngine::next_tag(std::vector<std::int64_t>& numbers, Rank rank) {
  const std::int64_t number = numbers[static_cast<std::size_t>(rank)]++;
  return channel_.first_tag + 2 * static_cast<int>(number % channel_.numbers);
}

bool PlanlessEngine::is_near(Rank rank) const {
  return rank == channel_.rank || std::ranges::binary_search(settings_.near, rank);
}

/// The place for a request, which must be made at once.
MPI_Request* PlanlessEngine::add_request(const Use& use) {
  requests_.push_back(MPI_REQUEST_NULL);
  uses_.push_back(use);
  ++use.ongoing->requests;
  return &requests_.back();
}

PlanlessEngine::Ongoing* PlanlessEngine::begin(std::span<const PlanlessSend> sends,
                                               std::span<const PlanlessReceive> receives,
                                               PlanlessListener& listener, const PlanlessTerms& terms) {
  if (is_broken_) throw Error(ErrorCode::state, "an exchange on this communicator has failed before");
  if (idle_.empty()) idle_.push_back(all_.emplace_back(std::make_unique<Ongoing>()).get());
  Ongoing& ongoing = *idle_.back();
  ongoing.listener = &listener;
  ongoing.may_be_left = terms.may_be_left;
  ongoing.is_open = false;
  now_s_ = MPI_Wtime();
  idle_.pop_back();
  active_.push_back(&ongoing);
  PlanlessTerms own = terms;
  if (own.unasked_bytes == 0) own.unasked_bytes = settings_.unasked_bytes;
  begin_receives(ongoing, receives, own);
  begin_sends(ongoing, sends, own);
  grant();
  notify_all();
  forget_done();
  return &ongoing;
}

/// All receives are posted before anything is sent: what is sent at once then mostly finds them.
void PlanlessEngine::begin_receives(Ongoing& ongoing, std::span<const PlanlessReceive> receives,
                                    const PlanlessTerms& terms) {
  const Rank n = channel_.num_ranks;
  ongoing.sources.clear();
  ongoing.open.clear();
  ongoing.bytes_left = ongoing.far_bytes_left = 0;
  for (const auto& [rank, at, bytes, tag] : receives) {
    Source& source = ongoing.sources.emplace_back();
    source.rank = rank;
    source.at = at;
    source.bytes = bytes;
    source.tag = tag >= 0 ? tag : next_tag(received_numbers_, rank);
    source.is_near = is_near(rank);
    source.unasked = source.is_near ? bytes : unasked_bytes_of(bytes, terms.unasked_bytes, terms.whole_bytes);
    source.chunk = chunk_bytes_of(bytes, source.unasked);
    ongoing.bytes_left += bytes;
    if (!source.is_near) ongoing.far_bytes_left += bytes;
  }
  missing_ += ongoing.far_bytes_left;
  window_.begin(ongoing.far_bytes_left, active_.size() == 1);
  for (std::size_t i = 0; i < ongoing.sources.size(); ++i) {
    Source& source = ongoing.sources[i];
    while (source.asked < source.unasked)
      receive_chunk(ongoing, i, std::min(most_bytes_at_once, source.unasked - source.asked), -1);
    source.told = source.asked;
    if (!source.is_near) unasked_in_flight_ += source.unasked;
    if (source.asked < source.bytes) ongoing.open.push_back(i);
  }
  sources_left_ += ongoing.open.size();
  std::ranges::sort(ongoing.open, {}, [&](std::size_t i) {
    return std::pair((channel_.rank - ongoing.sources[i].rank + n) % n, i);
  });
}

void PlanlessEngine::begin_sends(Ongoing& ongoing, std::span<const PlanlessSend> sends,
                                 const PlanlessTerms& terms) {
  const Rank n = channel_.num_ranks;
  ongoing.destinations.clear();
  ongoing.destinations_left = sends.size();
  for (const auto& [rank, at, bytes, tag] : sends) {
    Destination& destination = ongoing.destinations.emplace_back();
    destination.rank = rank;
    destination.at = at;
    destination.bytes = bytes;
    destination.tag = tag >= 0 ? tag : next_tag(sent_numbers_, rank);
    destination.is_near = is_near(rank);
  }
  ongoing.order.resize(sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) ongoing.order[i] = i;
  std::ranges::sort(ongoing.order, {}, [&](std::size_t i) {
    return std::pair((ongoing.destinations[i].rank - channel_.rank + n) % n, i);
  });
  for (const std::size_t i : ongoing.order) {
    Destination& destination = ongoing.destinations[i];
    if (!destination.is_near) ++destinations_left_;
    destination.granted = destination.is_near
                              ? destination.bytes
                              : unasked_bytes_of(destination.bytes, terms.unasked_bytes, terms.whole_bytes);
    destination.chunk = chunk_bytes_of(destination.bytes, destination.granted);
    if (destination.granted < destination.bytes) listen(ongoing, i);
    while (destination.sent < destination.granted)
      send_chunk(ongoing, i, std::min(most_bytes_at_once, destination.granted - destination.sent));
  }
}

void PlanlessEngine::receive_chunk(Ongoing& ongoing, std::size_t index, Bytes bytes, double asked_at_s) {
  Source& source = ongoing.sources[index];
  MPI_Request* const request = add_request({Kind::data_in, &ongoing, index, bytes, asked_at_s});
  must(MPI_Irecv(source.at + source.asked, static_cast<int>(bytes), MPI_BYTE, source.rank, source.tag,
                 channel_.comm, request),
       "MPI_Irecv");
  source.asked += bytes;
  source.in_flight += bytes;
}

void PlanlessEngine::send_chunk(Ongoing& ongoing, std::size_t index, Bytes bytes) {
  Destination& destination = ongoing.destinations[index];
  MPI_Request* const request = add_request({Kind::data_out, &ongoing, index, bytes, -1});
  const std::byte* const at = destination.at + destination.sent;
  const auto count = static_cast<int>(bytes);
  if (destination.is_near)
    must(MPI_Isend(at, count, MPI_BYTE, destination.rank, destination.tag, channel_.comm, request),
         "MPI_Isend");
  else
    send_to_other_host(at, count, MPI_BYTE, destination.rank, destination.tag, channel_.comm, false, request);
  destination.sent += bytes;
  if (destination.sent < destination.bytes) return;
  --ongoing.destinations_left;
  if (!destination.is_near) --destinations_left_;
}

void PlanlessEngine::listen(Ongoing& ongoing, std::size_t index) {
  Destination& destination = ongoing.destinations[index];
  MPI_Request* const request = add_request({Kind::notice_in, &ongoing, index, 0, -1});
  must(MPI_Irecv(&destination.notice, sizeof destination.notice, MPI_BYTE, destination.rank,
                 destination.tag + 1, channel_.comm, request),
       "MPI_Irecv");
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): asked of the engine, as all about its exchanges
bool PlanlessEngine::is_done(const Ongoing& ongoing) const {
  return ongoing.requests == 0 && ongoing.bytes_left == 0 && ongoing.destinations_left == 0;
}

void PlanlessEngine::forget_done() {
  std::erase_if(active_, [this](const Ongoing* each) { return is_done(*each); });
}

void PlanlessEngine::end(Ongoing* ongoing) { idle_.push_back(ongoing); }

/// Others may be in the middle of a message to it, or wait for its notices: nothing more can be expected of the engine.
void PlanlessEngine::cancel(Ongoing* ongoing) noexcept {
  is_broken_ = true;
  const auto comes_in = [&](std::size_t i) {
    return uses_[i].ongoing == ongoing &&
           (uses_[i].kind == Kind::data_in || uses_[i].kind == Kind::notice_in);
  };
  std::size_t count = 0;  // brought to the front, as no memory can be had here
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if (!comes_in(i)) continue;
    std::swap(requests_[i], requests_[count]);
    std::swap(uses_[i], uses_[count]);
    ++count;
  }
  cancel_receives(std::span(requests_).first(count));
}

std::vector<Rank> PlanlessEngine::waits_for(const Ongoing& ongoing) const {
  std::vector<Rank> ranks;
  for (const Source& source : ongoing.sources)
    if (source.landed < source.bytes) ranks.push_back(source.rank);
  for (const Destination& destination : ongoing.destinations)
    if (destination.sent < destination.bytes) ranks.push_back(destination.rank);
  for (const Use& use : uses_) {
    if (use.ongoing != &ongoing) continue;
    if (use.kind == Kind::data_out) ranks.push_back(ongoing.destinations[use.index].rank);
    if (use.kind == Kind::notice_out) ranks.push_back(ongoing.sources[use.index].rank);
  }
  return ranks;
}

}  // namespace nuice::mpi
