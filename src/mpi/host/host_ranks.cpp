// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/host_ranks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/meeting.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/random.hpp"

namespace nuice::mpi {
namespace {

/// Returns a number that is the same in all processes that share memory by name. Containers and test networks
/// have their own host names, and so their own numbers.
std::uint64_t host_number() {
  std::string text(256, '\0');
  if (gethostname(text.data(), text.size() - 1) != 0) text.clear();
  std::string kernel;  // identifies this boot of the kernel
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), kernel);
  struct stat memory{};
  if (stat("/dev/shm", &memory) == 0) text += std::to_string(memory.st_dev);
  std::uint64_t number = 0;
  for (const char c : text + kernel) number = mix64(number ^ static_cast<unsigned char>(c));
  return number;
}

/// Up to this number of ranks an allgather of 8 bytes per rank is used. It takes one step less than a
/// meeting, and at most 64 KiB.
constexpr Rank most_that_all_know = 8192;

/// The memory that MPI may use until the gather ends. If this rank stops waiting, the memory is left to MPI.
struct Pending {
  std::vector<std::byte> mine;
  std::uint64_t mine_bytes = 0;
  std::vector<std::uint64_t> bytes;
  std::vector<std::vector<std::byte>> all;
  std::vector<MPI_Request> requests;
};

class HostGather {
 public:
  HostGather(const Communicator& comm, std::span<const Rank> ranks, std::span<const std::byte> mine)
      : comm_(comm), ranks_(ranks), pending_(std::make_unique<Pending>()) {
    pending_->mine.assign(mine.begin(), mine.end());
    pending_->mine_bytes = mine.size();
    pending_->bytes.resize(ranks.size());
    pending_->all.resize(ranks.size());
    pending_->requests.assign(2 * ranks.size(), MPI_REQUEST_NULL);
  }

  std::vector<std::vector<std::byte>> run() {
    Pending& p = *pending_;
    try {
      tell([&](std::size_t i) { return std::as_writable_bytes(std::span(&p.bytes[i], 1)); },
           std::as_bytes(std::span(&p.mine_bytes, 1)));
      for (std::size_t i = 0; i < ranks_.size(); ++i) p.all[i].resize(p.bytes[i]);
      tell([&](std::size_t i) { return std::span(p.all[i]); }, p.mine);
    } catch (...) {
      comm_.give_up();
      (void)pending_.release();
      throw;
    }
    return std::move(p.all);
  }

 private:
  /// Sends a message to each other rank and receives one from each. Copies this rank's own bytes.
  template <typename Place>
  void tell(Place&& place_of, std::span<const std::byte> mine) {
    const int tag = host_tag();
    MPI_Request* request = pending_->requests.data();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const std::span<std::byte> to = place_of(i);
      if (ranks_[i] == comm_.rank()) {
        std::ranges::copy(mine, to.begin());
        continue;
      }
      must(
          MPI_Irecv(to.data(), static_cast<int>(to.size()), MPI_BYTE, ranks_[i], tag, comm_.get(), request++),
          "MPI_Irecv");
      must(MPI_Isend(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, ranks_[i], tag, comm_.get(),
                     request++),
           "MPI_Isend");
    }
    wait_all(comm_, pending_->requests, "a gather on a host");
  }

  const Communicator& comm_;
  std::span<const Rank> ranks_;
  std::unique_ptr<Pending> pending_;
};

}  // namespace

std::vector<std::vector<std::byte>> gather_on_host(const Communicator& comm, std::span<const Rank> ranks,
                                                   std::span<const std::byte> mine) {
  return HostGather(comm, ranks, mine).run();
}

const std::vector<Rank>& ranks_of_this_host(const Communicator& comm) {
  std::vector<Rank>& ranks = comm.ranks_of_host();
  if (!ranks.empty()) return ranks;
  const std::uint64_t mine = host_number();
  if (comm.num_ranks() > most_that_all_know) return ranks = meet(comm, mine);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.num_ranks()));
  all_gather(comm, &mine, 1, MPI_UINT64_T, all.data());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] == mine) ranks.push_back(static_cast<Rank>(rank));
  return ranks;
}

std::vector<Rank> ranks_that_share_memory(const Communicator& comm) {
  const Rank lowest = ranks_of_this_host(comm).front();
  std::vector<Rank> host_of(static_cast<std::size_t>(comm.num_ranks()));
  all_gather(comm, &lowest, 1, MPI_INT32_T, host_of.data());
  return host_of;
}

}  // namespace nuice::mpi
