// SPDX-License-Identifier: BSD-3-Clause
// The hosts' ends of an emulated fabric: a TAP device in each host's namespace. The system removes them when
// the process ends in any way.
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

/// Enters a network namespace (with the name of `ip netns`) for this process's system calls, until it is
/// destroyed.
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

/// Makes a TAP device with this name in a namespace ("": in the current one). Throws Error io.
FileDescriptor make_port(const std::string& name_space, const std::string& device);

/// A frame's source and destination.
struct Heading {
  std::uint8_t from;  ///< The last byte of the address.
  std::uint8_t to;
  std::uint8_t protocol;
  std::uint16_t source_port = 0;  ///< 0 for a fragment, and for protocols without ports.
  std::uint16_t destination_port = 0;
};
/// Reads the heading of a frame; nothing if it is not IPv4 to one host.
std::optional<Heading> read_heading(std::span<const std::byte> frame);

}  // namespace nuice::lossless
