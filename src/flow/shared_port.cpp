// SPDX-License-Identifier: BSD-3-Clause
#include "flow/shared_port.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace nuice::flow {
namespace {

constexpr double slot_is_free_after_s = 10;  // much longer than between two looks at a busy port

std::string name_of(const std::string& address) {
  struct stat network{};
  if (stat("/proc/self/ns/net", &network) != 0) network.st_ino = 0;
  return "/nuice-port-" + std::to_string(geteuid()) + "-" + std::to_string(network.st_ino) + "-" + address;
}

/// Returns null on failure. The file's blocks are allocated at once: if the system ran out of memory later, a
/// write would end the program.
void* map_file(const std::string& name, std::size_t bytes) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  struct stat status{};
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_uid == geteuid() &&
      posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

SharedPort::SharedPort(const std::string& address) : name_(name_of(address)) {
  static std::atomic<std::int64_t> made = 0;
  token_ = (static_cast<std::int64_t>(getpid()) << 20) + ++made;
  slots_ = static_cast<Slot*>(map_file(name_, most_processes * sizeof(Slot)));
}

SharedPort::SharedPort(SharedPort&& other) noexcept { *this = std::move(other); }

SharedPort& SharedPort::operator=(SharedPort&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(slots_, other.slots_);
  std::swap(own_, other.own_);
  std::swap(token_, other.token_);
  std::swap(base_, other.base_);
  return *this;
}

SharedPort::~SharedPort() { leave(); }

/// The counts stay in the slot, so that no sum decreases.
void SharedPort::leave() {
  if (slots_ == nullptr) return;
  if (own_ != nullptr && own_->owner == token_) own_->told_s = 0;
  const std::span<Slot> slots(slots_, most_processes);
  if (std::ranges::all_of(slots, [](const Slot& slot) { return slot.told_s == 0; }))
    shm_unlink(name_.c_str());
  munmap(slots_, most_processes * sizeof(Slot));
  slots_ = nullptr;
}

/// Returns the slot of this process. If it has none, it takes a free slot and adds to the counts in it. Null
/// if all slots are taken.
SharedPort::Slot* SharedPort::own_slot(const Counts& own, double now_s) {
  if (own_ != nullptr && own_->owner.load(std::memory_order_relaxed) == token_) return own_;
  for (Slot& slot : std::span<Slot>(slots_, most_processes)) {
    const double told_s = slot.told_s.load();
    std::int64_t owner = slot.owner.load();
    if (told_s != 0 && std::abs(now_s - told_s) < slot_is_free_after_s) continue;
    if (!slot.owner.compare_exchange_strong(owner, token_)) continue;
    base_.segments = slot.segments - own.segments;
    base_.lost_segments = slot.lost_segments - own.lost_segments;
    return own_ = &slot;
  }
  return nullptr;
}

SharedPort::Counts SharedPort::exchange(const Counts& own, double now_s, double active_for_s) {
  Slot* const mine = slots_ == nullptr ? nullptr : own_slot(own, now_s);
  if (mine == nullptr) return own;
  mine->num_senders.store(own.num_senders, std::memory_order_relaxed);
  mine->segments.store(base_.segments + own.segments, std::memory_order_relaxed);
  mine->lost_segments.store(base_.lost_segments + own.lost_segments, std::memory_order_relaxed);
  mine->told_s.store(now_s, std::memory_order_relaxed);
  Counts sum;
  for (const Slot& slot : std::span<const Slot>(slots_, most_processes)) {
    if (slot.owner.load(std::memory_order_relaxed) == 0) break;  // slots are taken in order
    const double told_s = slot.told_s.load(std::memory_order_relaxed);
    const int num_senders = slot.num_senders.load(std::memory_order_relaxed);
    if (now_s - told_s < active_for_s) sum.num_senders += num_senders;
    sum.segments += slot.segments.load(std::memory_order_relaxed);
    sum.lost_segments += slot.lost_segments.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace nuice::flow
