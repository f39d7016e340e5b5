// SPDX-License-Identifier: BSD-3-Clause
#include "am/transport/direct_copy.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "core/support/process_state.hpp"
#include "nuice/am/transport.hpp"

namespace nuice::am {
namespace {

/// The size of a chunk. A chunk is large enough to make a system call cheap in comparison, and small enough
/// for both processes to finish at about the same time.
constexpr std::uint64_t chunk_bytes = 65536;

struct Chunk {
  std::uint64_t begin;
  std::uint64_t bytes;
};

Chunk claim(Handover& handover) {
  const std::uint64_t all = handover.bytes.load(std::memory_order_relaxed);
  if (handover.claimed.load(std::memory_order_relaxed) >= all) return {0, 0};
  const std::uint64_t begin = handover.claimed.fetch_add(chunk_bytes, std::memory_order_relaxed);
  return {begin, begin < all ? std::min(chunk_bytes, all - begin) : 0};
}

/// Copies the whole chunk, from the other process or to the other process.
template <typename Copy>
void copy(Handover& handover, const Chunk& chunk, std::uint64_t own, std::uint64_t others, int process,
          Copy&& call) {
  for (std::uint64_t done = 0; done < chunk.bytes;) {
    const std::size_t left = chunk.bytes - done;
    const iovec mine{reinterpret_cast<void*>(own + chunk.begin + done), left};
    const iovec theirs{reinterpret_cast<void*>(others + chunk.begin + done), left};
    const ssize_t bytes = call(process, &mine, 1, &theirs, 1, 0);
    if (bytes <= 0) {
      // A dead process is reported as an error of MPI. The endpoint then finds out which rank has died.
      const bool has_died = bytes < 0 && errno == ESRCH;
      const std::string why = std::strerror(bytes < 0 ? errno : EIO);
      throw TransportError(has_died ? ErrorCode::mpi : ErrorCode::io,
                           "copying a block of process " + std::to_string(process) + " failed: " + why);
    }
    done += static_cast<std::uint64_t>(bytes);
  }
  handover.copied.fetch_add(chunk.bytes, std::memory_order_release);
}

}  // namespace

namespace {

std::atomic<int> num_leaves = 0;

/// Gives a process permission to read this process's memory. An error means that the system needs no
/// permission or refuses it; can_read() finds out which.
void give_leave_to([[maybe_unused]] int process) {
#ifdef PR_SET_PTRACER
  (void)prctl(PR_SET_PTRACER, static_cast<unsigned long>(process), 0, 0, 0);
#endif
}

}  // namespace

Leave::Leave(int process) {
  ++num_leaves;
  give_leave_to(process);
}

Leave::~Leave() {
  if (--num_leaves == 0) give_leave_to(0);
}

std::vector<int> ancestors() {
  std::vector<int> found;
  for (int process = static_cast<int>(getppid()); process > 1;) {
    found.push_back(process);
    const auto state = core::process_state(process);
    if (!state) break;
    process = static_cast<int>(state->parent);
  }
  return found;
}

bool can_read(int process, std::uint64_t address, std::uint64_t expected) {
  std::uint64_t found = 0;
  const iovec mine{&found, sizeof found};
  const iovec theirs{reinterpret_cast<void*>(address), sizeof found};
  return process_vm_readv(process, &mine, 1, &theirs, 1, 0) == sizeof found && found == expected;
}

void offer(Handover& handover, std::span<const std::byte> data) {
  handover.from.store(reinterpret_cast<std::uintptr_t>(data.data()), std::memory_order_relaxed);
  handover.bytes.store(data.size(), std::memory_order_relaxed);
  handover.to.store(0, std::memory_order_relaxed);
  handover.claimed.store(0, std::memory_order_relaxed);
  handover.copied.store(0, std::memory_order_relaxed);
  handover.taken.store(0, std::memory_order_release);
}

void help_sending(Handover& handover, int receiver) {
  const std::uint64_t to = handover.to.load(std::memory_order_acquire);
  if (to == 0) return;
  const Chunk chunk = claim(handover);
  if (chunk.bytes == 0) return;
  copy(handover, chunk, handover.from.load(std::memory_order_relaxed), to, receiver, process_vm_writev);
}

void accept(Handover& handover, std::span<std::byte> data) {
  handover.to.store(reinterpret_cast<std::uintptr_t>(data.data()), std::memory_order_release);
}

bool help_receiving(Handover& handover, int sender) {
  const Chunk chunk = claim(handover);
  if (chunk.bytes != 0)
    copy(handover, chunk, handover.to.load(std::memory_order_relaxed),
         handover.from.load(std::memory_order_relaxed), sender, process_vm_readv);
  if (handover.copied.load(std::memory_order_acquire) != handover.bytes.load(std::memory_order_relaxed))
    return false;
  handover.taken.store(1, std::memory_order_release);
  return true;
}

}  // namespace nuice::am
