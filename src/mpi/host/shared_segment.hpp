// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of a host share.
//
// Not MPI's shared window: to free one all ranks must meet, and an exchange is freed without waiting for anybody, a dead rank
// least of all. Here the name is gone as soon as all have the memory, and the memory goes with the last of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

class SharedSegment {
 public:
  SharedSegment() = default;
  /// Collective over these ranks of a host. Zeroed; empty on all of them if one cannot have it: ask why(). 0 bytes: empty.
  SharedSegment(const Communicator& comm, std::span<const Rank> ranks, std::size_t bytes);
  SharedSegment(SharedSegment&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), why_(std::move(other.why_)) {}
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  ~SharedSegment();

  std::byte* data() const { return data_; }
  /// Not collective. Has the system provide these bytes now: otherwise it does at their first use, which takes
  /// microseconds a page.
  void touch(std::size_t begin, std::size_t bytes) const;
  /// What went wrong here, in words; empty where nothing did.
  const std::string& why() const { return why_; }

 private:
  void map(const std::string& name, bool is_new);
  void unmap() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string why_;
};

}  // namespace nuice::mpi
