// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/shared_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "am/endpoint_core.hpp"
#include "am/transport/doorbell.hpp"

namespace nuice::am::mpi {
namespace {

std::size_t ring_bytes_for(const Options& options) {
  if (options.ring_bytes != 0) return options.ring_bytes;
  return std::bit_ceil(4 * (options.max_message_bytes + 2 * sizeof(Header)));
}

/// Marks keys of direct copies. Keys of the other transport count up from 0.
constexpr std::uint64_t copied_directly = std::uint64_t{1} << 63;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// With more hosts quiesce() uses reductions, because a wave of counts has a word for every host.
constexpr std::size_t max_hosts_counted = 1024;

class SumsOfLeaders : public TerminationDetector::Sums {
 public:
  explicit SumsOfLeaders(MPI_Comm leaders) : leaders_(leaders) {}
  void start(std::span<std::int64_t> values) override {
    must(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM,
                        leaders_, &request_),
         "MPI_Iallreduce");
  }
  bool test() override {
    int done = 0;
    must(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

 private:
  MPI_Comm leaders_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

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
  const std::size_t handover_at = round_up(controls_at + peers * sizeof(RingControl), cache_line_bytes);
  const std::size_t counts_at = round_up(handover_at + sizeof(Handover), cache_line_bytes);
  const std::size_t rings_at = counts_at + TerminationDetector::bytes_of(host_->num_hosts);
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
    if (std::cmp_equal(peer, host_->me)) continue;  // messages of a rank to itself stay in the endpoint
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
  if (host_->num_hosts <= max_hosts_counted) detector_ = make_detector(counts_at);
  bell_ = reinterpret_cast<Doorbell*>(segment(host_->me));
  handovers_.assign(to_rank_.size(), nullptr);
  if (options.copy_blocks) find_processes();
  for (std::size_t peer = 0; peer < peers && !processes_.empty(); ++peer)
    handovers_[static_cast<std::size_t>(host_->ranks[peer])] =
        reinterpret_cast<Handover*>(segment(static_cast<int>(peer)) + handover_at);
}

std::unique_ptr<TerminationDetector> SharedMemory::make_detector(std::size_t counts_at) const {
  TerminationDetector::Setup setup;
  for (std::size_t peer = 0; peer < host_->ranks.size(); ++peer)
    setup.counts.push_back(segment(static_cast<int>(peer)) + counts_at);
  setup.place = static_cast<std::size_t>(host_->me);
  setup.host_of = host_->host_of;
  setup.own_host = host_->host_of[static_cast<std::size_t>(rank())];
  setup.num_hosts = host_->num_hosts;
  for (std::size_t peer = 0; host_->oversubscribed && peer < host_->ranks.size(); ++peer)
    setup.bells.push_back(reinterpret_cast<Doorbell*>(segment(static_cast<int>(peer))));
  if (host_->me == 0) setup.sums = std::make_unique<SumsOfLeaders>(host_->leaders);
  return std::make_unique<TerminationDetector>(std::move(setup));
}

/// Collective over the host. Returns whether all ranks can read each other's memory. words: three per rank of
/// the host: its process, an address, and the value there.
bool SharedMemory::can_read_all(const std::vector<std::uint64_t>& words) const {
  int possible = 1;
  for (std::size_t peer = 0; peer < host_->ranks.size(); ++peer)
    if (std::cmp_not_equal(peer, host_->me) &&
        !can_read(static_cast<int>(words[3 * peer]), words[3 * peer + 1], words[3 * peer + 2]))
      possible = 0;
  must(MPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MIN, host_->comm), "MPI_Allreduce");
  return possible != 0;
}

/// Collective over the host. Returns the nearest process from which all ranks of the host descend, usually
/// their launcher; 0 if it is unknown.
int SharedMemory::common_ancestor() const {
  constexpr std::size_t most = 16;
  std::vector<int> mine = ancestors();
  mine.resize(most, 0);
  std::vector<int> all(most * host_->ranks.size());
  must(MPI_Allgather(mine.data(), most, MPI_INT, all.data(), most, MPI_INT, host_->comm), "MPI_Allgather");
  for (const int candidate : mine) {
    bool is_common = candidate != 0;
    for (std::size_t peer = 0; peer < host_->ranks.size(); ++peer) {
      const auto theirs = std::span(all).subspan(most * peer, most);
      is_common = is_common && std::ranges::find(theirs, candidate) != theirs.end();
    }
    if (is_common) return candidate;
  }
  return 0;
}

/// Collective over the host. Fills processes_, unless some rank of this host cannot read another's memory.
void SharedMemory::find_processes() {
  const std::uint64_t word = 0x6e75696365000000U + static_cast<std::uint64_t>(rank());
  const std::array<std::uint64_t, 3> mine = {static_cast<std::uint64_t>(getpid()),
                                             reinterpret_cast<std::uintptr_t>(&word), word};
  std::vector<std::uint64_t> all(3 * host_->ranks.size());
  must(MPI_Allgather(mine.data(), 3, MPI_UINT64_T, all.data(), 3, MPI_UINT64_T, host_->comm),
       "MPI_Allgather");
  if (!can_read_all(all)) {
    const int ancestor = common_ancestor();
    if (ancestor != 0) leave_.emplace(ancestor);
    must(MPI_Barrier(host_->comm), "MPI_Barrier");
    if (!can_read_all(all)) {
      leave_.reset();
      return;
    }
  }
  processes_.resize(to_rank_.size());
  for (std::size_t peer = 0; peer < host_->ranks.size(); ++peer)
    processes_[static_cast<std::size_t>(host_->ranks[peer])] = static_cast<int>(all[3 * peer]);
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
    handled += source.ring.poll(limit, [&](Header header, const std::byte* payload) {
      inbox.core().deliver(source.rank, header, payload);
    });
  return handled;
}

std::uint64_t SharedMemory::start_bulk_send(Rank dst, std::span<const std::byte> data) {
  const auto to = static_cast<std::size_t>(dst);
  if (handovers_[to] == nullptr) return remote_->start_bulk_send(dst, data);
  offer(*handovers_[static_cast<std::size_t>(rank())], data);
  block_receiver_ = processes_[to];
  return copied_directly;
}

bool SharedMemory::bulk_sent(std::uint64_t key) {
  if ((key & copied_directly) == 0) return remote_->bulk_sent(key);
  Handover& handover = *handovers_[static_cast<std::size_t>(rank())];
  help_sending(handover, block_receiver_);
  return is_taken(handover);
}

void SharedMemory::start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                                      std::uint64_t cookie) {
  if ((key & copied_directly) == 0) {
    remote_->start_bulk_receive(src, key, data, cookie);
    return;
  }
  const auto from = static_cast<std::size_t>(src);
  accept(*handovers_[from], data);
  blocks_.push_back({handovers_[from], processes_[from], cookie});
}

int SharedMemory::poll_blocks(Inbox& inbox) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!help_receiving(*blocks_[i].handover, blocks_[i].process)) continue;
    const std::uint64_t cookie = blocks_[i].cookie;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    inbox.bulk_arrived(cookie);  // may throw, and may start other receives
    return 1;
  }
  return 0;
}

int SharedMemory::poll(Inbox& inbox, int limit) {
  int handled = poll_rings(inbox, limit);
  if (!blocks_.empty()) handled += poll_blocks(inbox);
  if (has_remote_ranks_ || remote_->bulk_pending()) {
    const TerminationDetector::FromAfar counting(detector_.get(), inbox.core().handled_);
    handled += remote_->poll(inbox, limit);
  }
  return handled;
}

bool SharedMemory::arm_doorbell(int signal) {
  if (!allow_doorbells()) return false;
  signal_ = signal;
  arm(*bell_, signal);
  return true;
}

void SharedMemory::rearm_doorbell() { rearm(*bell_, signal_); }
void SharedMemory::disarm_doorbell() {
  signal_ = 0;
  disarm(*bell_);
}

bool SharedMemory::sleep(double seconds, const std::function<bool()>& is_ready) {
  if (!host_->oversubscribed || signal_ != 0) return false;
  sleep_on(*bell_, seconds, [&] {
    return is_ready() || std::ranges::any_of(sources_, [](const Source& s) { return !s.ring.empty(); });
  });
  return true;
}

int SharedMemory::poll_from_signal(Inbox& inbox) {
  int handled = 0;
  for (Source& source : sources_)
    handled += source.ring.poll_while(
        1000, [&](Header header) { return inbox.core().takes_in_signal(header); },
        [&](Header header, const std::byte* payload) { inbox.core().deliver(source.rank, header, payload); });
  return handled;
}

}  // namespace nuice::am::mpi
