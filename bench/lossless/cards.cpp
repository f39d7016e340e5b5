// SPDX-License-Identifier: BSD-3-Clause
#include "lossless/cards.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lossless/emulator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::lossless {
namespace {

constexpr std::uint16_t card_port = 60999;
constexpr std::uint16_t control_port = 60998;
constexpr int card_class = 0x10006;  // traffic class in the host's queue
constexpr int buffer_bytes = 1 << 26;
constexpr std::size_t at_a_time = 64;

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::io, std::string(what) + ": " + std::strerror(errno));
}

sockaddr_in address(std::uint32_t host, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  made.sin_addr.s_addr = htonl(host);
  return made;
}

int make_socket(std::uint32_t host, std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in here = address(host, port);
  if (made < 0 || bind(made, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) fail("UDP");
  if (setsockopt(made, SOL_SOCKET, SO_PRIORITY, &card_class, sizeof card_class) != 0) fail("UDP's priority");
  for (const int name : {SO_RCVBUF, SO_SNDBUF, SO_RCVBUFFORCE, SO_SNDBUFFORCE})  // root may exceed the limits
    static_cast<void>(setsockopt(made, SOL_SOCKET, name, &buffer_bytes, sizeof buffer_bytes));
  return made;
}

}  // namespace

Cards::Cards(const std::string& prefix, const std::string& subnet, Rank hosts)
    : prefix_(prefix), poll_(epoll_create1(EPOLL_CLOEXEC)) {
  in_addr first{};
  if (inet_aton((subnet + ".0").c_str(), &first) == 0)
    throw Error(ErrorCode::invalid_argument, "--subnet " + subnet + ": three numbers, \"10.77.0\"");
  network_ = ntohl(first.s_addr);
  for (Rank host = 0; host < hosts; ++host) {
    const InNamespace there(prefix + "h" + std::to_string(host + 1));
    const std::uint32_t here = network_ + static_cast<std::uint32_t>(host) + 1;
    sockets_.push_back(
        {FileDescriptor(make_socket(here, card_port)), FileDescriptor(make_socket(here, control_port)), {}});
    epoll_event wanted{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(host)}};
    if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, sockets_.back().data.get(), &wanted) != 0) fail("epoll");
  }
}

int Cards::data_socket(Rank src, std::int64_t path) {
  Sockets& from = sockets_[static_cast<std::size_t>(src)];
  if (path == no_path) return from.data.get();
  if (path >= most_paths)
    throw Error(ErrorCode::limit, "path " + std::to_string(path) + ": cards choose among " +
                                      std::to_string(most_paths) + " paths");
  const auto found = from.paths.find(path);
  if (found != from.paths.end()) return found->second.get();
  const InNamespace there(prefix_ + "h" + std::to_string(src + 1));
  const auto port = static_cast<std::uint16_t>(first_path_port + path);
  FileDescriptor made(make_socket(network_ + static_cast<std::uint32_t>(src) + 1, port));
  return from.paths.emplace(path, std::move(made)).first->second.get();
}

void Cards::send(Rank src, Rank dst, const Packet& packet, std::int64_t path) {
  static const std::array<std::byte, packet_payload> zeros{};
  sockaddr_in to = address(network_ + static_cast<std::uint32_t>(dst) + 1, card_port);
  Packet header = packet;
  std::array<iovec, 2> parts{iovec{&header, sizeof header},
                             iovec{const_cast<std::byte*>(zeros.data()),
                                   packet.kind == Kind::data ? zeros.size() - sizeof header : 0}};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const int from = packet.kind == Kind::data ? data_socket(src, path)
                                             : sockets_[static_cast<std::size_t>(src)].control.get();
  if (sendmsg(from, &message, 0) < 0) fail("a packet was not sent");
}

bool Cards::receive(int wait_ms, const std::function<void(const Packet&)>& take) {
  std::array<epoll_event, 64> ready{};
  const int count = epoll_wait(poll_.get(), ready.data(), ready.size(), wait_ms);
  for (int i = 0; i < count; ++i) {
    std::array<Packet, at_a_time> packets{};
    std::array<iovec, at_a_time> parts{};
    std::array<mmsghdr, at_a_time> messages{};
    for (std::size_t k = 0; k < at_a_time; ++k) {
      parts[k] = {&packets[k], sizeof(Packet)};
      messages[k].msg_hdr.msg_iov = &parts[k];
      messages[k].msg_hdr.msg_iovlen = 1;
    }
    const int from = sockets_[ready[static_cast<std::size_t>(i)].data.u32].data.get();
    const int came = recvmmsg(from, messages.data(), at_a_time, 0, nullptr);
    for (int k = 0; k < came; ++k) take(packets[static_cast<std::size_t>(k)]);
  }
  return count > 0;
}

}  // namespace nuice::lossless
