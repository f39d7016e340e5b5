// SPDX-License-Identifier: BSD-3-Clause
// Connections from 127.0.0.2 to 127.0.0.1, which the governor takes for two hosts.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "flow/governor.hpp"

namespace nuice::flow {

inline sockaddr_in address_of(const char* text, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

/// The two ends of a connection, of which the receiver's is governed. segment_bytes: the size of a packet; 0:
/// loop-back's, 64 KiB.
struct Pair {
  int sender = -1, receiver = -1;
  bool began_small = false;

  explicit Pair(const char* from = "127.0.0.2", int segment_bytes = 0) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (segment_bytes > 0) {
      EXPECT_EQ(setsockopt(listener, IPPROTO_TCP, TCP_MAXSEG, &segment_bytes, sizeof segment_bytes), 0);
    }
    sockaddr_in here = address_of("127.0.0.1", 0);
    socklen_t length = sizeof here;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&here), length), 0);
    began_small = begin_small(listener);
    EXPECT_EQ(listen(listener, 1), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&here), &length);
    sender = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in there = address_of(from, 0);
    EXPECT_EQ(bind(sender, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    EXPECT_EQ(connect(sender, reinterpret_cast<sockaddr*>(&here), length), 0);
    receiver = accept(listener, nullptr, nullptr);
    close(listener);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    close(sender);
    if (receiver >= 0) close(receiver);
  }
  void send_and_read(Governor& governor, std::size_t bytes) const {
    const std::vector<char> data(bytes, 'x');
    std::thread writer([&] { EXPECT_EQ(write(sender, data.data(), bytes), static_cast<ssize_t>(bytes)); });
    std::vector<char> got(bytes);
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t some = read(receiver, got.data() + done, bytes - done);
      ASSERT_GT(some, 0);
      done += static_cast<std::size_t>(some);
      governor.arrived(receiver, some);
    }
    writer.join();
    EXPECT_EQ(got, data);
  }
  int clamp() const {
    int value = 0;
    socklen_t length = sizeof value;
    getsockopt(receiver, IPPROTO_TCP, TCP_WINDOW_CLAMP, &value, &length);
    return value;
  }
};

}  // namespace nuice::flow
