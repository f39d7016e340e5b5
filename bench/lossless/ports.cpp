// SPDX-License-Identifier: BSD-3-Clause
#include "lossless/ports.hpp"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "nuice/core/error.hpp"

namespace nuice::lossless {
namespace {

constexpr std::size_t ethernet = 14;
constexpr std::uint8_t udp = 17;
constexpr std::uint8_t tcp = 6;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::io, what + ": " + std::strerror(errno));
}

int open_or_fail(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) fail(path);
  return fd;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

InNamespace::InNamespace(const std::string& name) : before_(open_or_fail("/proc/self/ns/net", O_RDONLY)) {
  const FileDescriptor there(open_or_fail("/run/netns/" + name, O_RDONLY));
  if (setns(there.get(), CLONE_NEWNET) != 0) fail("network namespace " + name);
}

InNamespace::~InNamespace() {
  if (setns(before_.get(), CLONE_NEWNET) != 0) std::abort();  // else packets would go to the wrong namespace
}

FileDescriptor make_port(const std::string& name_space, const std::string& device) {
  std::optional<InNamespace> there;
  if (!name_space.empty()) there.emplace(name_space);
  FileDescriptor port(open_or_fail("/dev/net/tun", O_RDWR | O_NONBLOCK));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(port.get(), TUNSETIFF, &request) != 0) fail("TAP " + device + " in " + name_space);
  return port;
}

std::optional<Heading> read_heading(std::span<const std::byte> frame) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(frame[ethernet + at]); };
  const auto word = [&](std::size_t at) { return static_cast<std::uint16_t>(byte(at) << 8U | byte(at + 1)); };
  constexpr std::size_t least = 20;
  if (frame.size() < ethernet + least || frame[12] != std::byte{8} || frame[13] != std::byte{0} ||
      byte(0) >> 4U != 4 || byte(16) >= 224)
    return std::nullopt;
  Heading heading{byte(15), byte(19), byte(9)};
  const std::size_t ports = (byte(0) & 15U) * std::size_t{4};
  const bool whole = (word(6) & 0x3fffU) == 0;
  if (whole && (heading.protocol == udp || heading.protocol == tcp) && frame.size() >= ethernet + ports + 4) {
    heading.source_port = word(ports);
    heading.destination_port = word(ports + 2);
  }
  return heading;
}

}  // namespace nuice::lossless
