// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of a host share.
//
// MPI's shared windows are not used, because all ranks must meet to free a window. But an exchange must be
// freed without waiting for other ranks, which may be dead. Here the name is removed when all ranks have
// mapped the memory, and the memory is freed when the last rank unmaps it.
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
  /// Collective over these ranks of a host. The memory is zeroed. If `bytes` is 0, or any rank cannot map the
  /// memory, it is empty on all ranks; why() gives the reason.
  SharedSegment(const Communicator& comm, std::span<const Rank> ranks, std::size_t bytes);
  SharedSegment(SharedSegment&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), why_(std::move(other.why_)) {}
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  ~SharedSegment();

  std::byte* data() const { return data_; }
  /// Not collective. Makes the system provide these bytes now. Otherwise it provides each page at its first
  /// use, which takes microseconds per page.
  void touch(std::size_t begin, std::size_t bytes) const;
  /// Why this rank has no memory, in words; empty if there was no failure.
  const std::string& why() const { return why_; }

 private:
  void map(const std::string& name, bool is_new);
  void unmap() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string why_;
};

}  // namespace nuice::mpi
