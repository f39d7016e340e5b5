// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/shared_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "am/doorbell.hpp"

namespace nuice::am::mpi {
namespace {

std::size_t ring_bytes_for(const Options& options) {
  if (options.ring_bytes != 0) return options.ring_bytes;
  return std::bit_ceil(4 * (options.max_message_bytes + 2 * sizeof(Header)));
}

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

SharedMemory::SharedMemory(std::unique_ptr<Host> host, const Options& options,
                           std::unique_ptr<Transport> remote)
    : host_(std::move(host)),
      remote_(std::move(remote)),
      ring_bytes_(ring_bytes_for(options)),
      max_message_bytes_(std::min(ring_max_payload(ring_bytes_), remote_->max_message_bytes())),
      has_remote_ranks_(host_->ranks.size() < static_cast<std::size_t>(remote_->num_ranks())),
      to_rank_(static_cast<std::size_t>(remote_->num_ranks()), nullptr) {
  const std::size_t peers = host_->ranks.size();
  const std::size_t controls_at = sizeof(Doorbell);
  const std::size_t rings_at = round_up(controls_at + peers * sizeof(RingControl), cache_line_bytes);
  const std::size_t bytes = rings_at + peers * ring_bytes_ + cache_line_bytes;
  MPI_Info info = MPI_INFO_NULL;
  must(MPI_Info_create(&info), "MPI_Info_create");
  must(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "MPI_Info_set");
  void* mine = nullptr;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, host_->comm,
                                           static_cast<void*>(&mine), &window_);
  MPI_Info_free(&info);
  must(code, "MPI_Win_allocate_shared");
  std::memset(mine, 0, bytes);
  allow_doorbells();
  must(MPI_Barrier(host_->comm), "MPI_Barrier");

  producers_.reserve(peers);
  for (std::size_t peer = 0; peer < peers; ++peer) {
    if (std::cmp_equal(peer, host_->me)) continue;  // messages to itself stay in the endpoint
    std::byte* const theirs = segment(static_cast<int>(peer));
    const auto me = static_cast<std::size_t>(host_->me);
    auto* const their_bell = reinterpret_cast<Doorbell*>(theirs);
    auto* const to = reinterpret_cast<RingControl*>(theirs + controls_at) + me;
    producers_.emplace_back(to, theirs + rings_at + me * ring_bytes_, ring_bytes_, their_bell);
    to_rank_[static_cast<std::size_t>(host_->ranks[peer])] = &producers_.back();
    std::byte* const own = segment(host_->me);
    auto* const from = reinterpret_cast<RingControl*>(own + controls_at) + peer;
    sources_.push_back(
        {host_->ranks[peer], RingConsumer(from, own + rings_at + peer * ring_bytes_, ring_bytes_)});
  }
  bell_ = reinterpret_cast<Doorbell*>(segment(host_->me));
}

SharedMemory::~SharedMemory() {
  if (!is_finalized() && window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

std::byte* SharedMemory::segment(int host_rank) const {
  MPI_Aint size = 0;
  int unit = 0;
  void* base = nullptr;
  must(MPI_Win_shared_query(window_, host_rank, &size, &unit, static_cast<void*>(&base)),
       "MPI_Win_shared_query");
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  return static_cast<std::byte*>(base) + (round_up(address, cache_line_bytes) - address);
}

std::string SharedMemory::name() const { return remote_->name() == "mpi" ? "shm" : "shm+" + remote_->name(); }

bool SharedMemory::try_send(Rank dst, Header header, std::span<const std::byte> a,
                            std::span<const std::byte> b) {
  if (RingProducer* const ring = to_rank_[static_cast<std::size_t>(dst)])
    return ring->try_push(header, a.data(), a.size(), b.data(), b.size());
  return remote_->try_send(dst, header, a, b);
}

int SharedMemory::poll_rings(Inbox& inbox, int limit) {
  int handled = 0;
  for (Source& source : sources_)
    handled += source.ring.poll(
        limit, [&](Header header, const std::byte* payload) { inbox.deliver(source.rank, header, payload); });
  return handled;
}

int SharedMemory::poll(Inbox& inbox, int limit) {
  int handled = poll_rings(inbox, limit);
  if (has_remote_ranks_ || remote_->bulk_pending()) handled += remote_->poll(inbox, limit);
  return handled;
}

bool SharedMemory::arm_doorbell(int signal) {
  if (!allow_doorbells()) return false;
  signal_ = signal;
  arm(*bell_, signal);
  return true;
}

void SharedMemory::rearm_doorbell() { rearm(*bell_, signal_); }
void SharedMemory::disarm_doorbell() { disarm(*bell_); }
int SharedMemory::poll_from_signal(Inbox& inbox) { return poll_rings(inbox, 1000); }

}  // namespace nuice::am::mpi
