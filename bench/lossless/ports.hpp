// SPDX-License-Identifier: BSD-3-Clause
// The hosts' ends of an emulated fabric: a TAP in each host's namespace. They go when the process ends, however it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "nuice/core/types.hpp"

namespace nuice::lossless {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

/// This process's system calls are in that network namespace (as `ip netns` names it) as long as this lives.
class InNamespace {
 public:
  /// Throws Error io.
  explicit InNamespace(const std::string& name);
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;
  ~InNamespace();

 private:
  FileDescriptor before_;
};

/// A TAP with that name in a namespace ("": in this one). Throws Error io.
FileDescriptor make_port(const std::string& name_space, const std::string& device);

/// What a frame says of where it goes.
struct Heading {
  std::uint8_t from;  ///< Last number of the address.
  std::uint8_t to;
  std::uint8_t protocol;
  std::uint16_t source_port = 0;  ///< 0 for a fragment, and where there are none.
  std::uint16_t destination_port = 0;
};
/// Nothing if it is not IPv4 to one host.
std::optional<Heading> read_heading(std::span<const std::byte> frame);

}  // namespace nuice::lossless
