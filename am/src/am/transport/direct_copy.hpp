// SPDX-License-Identifier: BSD-3-Clause
// A block that one process of a host puts into the memory of another, without a copy in between: both map nothing and
// share no buffer; the system copies from one address space to the other (process_vm_readv and process_vm_writev), and
// both processes take chunks in turn, so that two cores do the work of one.
//
//   sender                          Handover, in memory that both see       receiver
//   offer(): from, bytes       ->
//   its key travels in a message                                       ->   accept(): to
//   help(): claims chunks, writes them                                      help(): claims chunks, reads them
//   is_taken()                 <-   taken                              <-   when all is copied
//
// One block at a time for each sender. Linux only, and only where the system allows it between these processes (same user;
// Yama; name spaces): try it first with can_read().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nuice::am {

/// Where the system asks for leave (Yama): while it lives, a process and what descends from it may read and write this one's
/// memory. The system keeps one such leave per process and does not tell whether somebody else has set it: ask with can_read()
/// before, and do without this where it is not needed.
class Leave {
 public:
  explicit Leave(int process);
  Leave(const Leave&) = delete;
  Leave& operator=(const Leave&) = delete;
  /// The last that lives takes the leave back.
  ~Leave();
};

/// This process's parent, the parent of that, and so on, as far as they can be known; without the first process of all.
std::vector<int> ancestors();

/// Whether this process can read 8 bytes there, and they are the expected.
bool can_read(int process, std::uint64_t address, std::uint64_t expected);

/// In the sender's part of the shared memory; all zero at the beginning.
struct alignas(64) Handover {
  std::atomic<std::uint64_t> from;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> to;  // 0: not known yet
  std::atomic<std::uint32_t> taken;
  alignas(64) std::atomic<std::uint64_t> claimed;
  std::atomic<std::uint64_t> copied;
};

/// Sender: a block that is not empty. The one before must be taken. Happens before the message that tells of it.
void offer(Handover& handover, std::span<const std::byte> data);
inline bool is_taken(const Handover& handover) { return handover.taken.load(std::memory_order_acquire) != 0; }
/// Sender: copies a chunk if there is one to be copied.
void help_sending(Handover& handover, int receiver);
/// Receiver: where the block goes.
void accept(Handover& handover, std::span<std::byte> data);
/// Receiver: copies a chunk if there is one. Whether all is there; the sender may then offer the next.
bool help_receiving(Handover& handover, int sender);

}  // namespace nuice::am
