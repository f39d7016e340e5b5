// SPDX-License-Identifier: BSD-3-Clause
// Copies a block from one process of a host to another without an intermediate copy. The processes map
// nothing and share no buffer. The system copies between their address spaces (process_vm_readv and
// process_vm_writev). Both processes copy chunks alternately, so that two cores share the work.
//
// Steps:
//
//   sender                            Handover, shared memory      receiver
//   offer(): from, bytes         ->
//   sends a message with the key                              ->   accept(): to
//   help_sending(): writes chunks                                  help_receiving(): reads chunks
//   is_taken()                   <-   taken                   <-   when all is copied
//
// Each sender offers one block at a time. This works only on Linux, and only if the system allows it between
// these processes (same user; Yama; name spaces). So call can_read() first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nuice::am {

/// For systems that require permission (Yama): while this object exists, a process and its descendants may
/// read and write this process's memory. The system keeps one permission per process and does not tell
/// whether it was set before. So call can_read() first, and do not use this class if it is not needed.
class Leave {
 public:
  explicit Leave(int process);
  Leave(const Leave&) = delete;
  Leave& operator=(const Leave&) = delete;
  /// The last existing object withdraws the permission.
  ~Leave();
};

/// Returns this process's parent, the parent's parent and so on, as far as they are known. Process 1 is left
/// out.
std::vector<int> ancestors();

/// Whether this process can read 8 bytes at the address, and finds the expected value there.
bool can_read(int process, std::uint64_t address, std::uint64_t expected);

/// The state of a transfer, in the sender's part of the shared memory; all zero at the beginning.
struct alignas(64) Handover {
  std::atomic<std::uint64_t> from;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> to;  // 0: not yet known
  std::atomic<std::uint32_t> taken;
  alignas(64) std::atomic<std::uint64_t> claimed;
  std::atomic<std::uint64_t> copied;
};

/// Sender: offers a block that is not empty. The previous block must be taken. Call it before sending the
/// message that announces the block.
void offer(Handover& handover, std::span<const std::byte> data);
inline bool is_taken(const Handover& handover) { return handover.taken.load(std::memory_order_acquire) != 0; }
/// Sender: copies a chunk if there is one to copy.
void help_sending(Handover& handover, int receiver);
/// Receiver: sets where the block goes.
void accept(Handover& handover, std::span<std::byte> data);
/// Receiver: copies a chunk if there is one to copy. Returns whether all is copied; the sender may then offer
/// the next block.
bool help_receiving(Handover& handover, int sender);

}  // namespace nuice::am
