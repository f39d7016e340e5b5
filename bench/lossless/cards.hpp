// SPDX-License-Identifier: BSD-3-Clause
// What stands for RDMA cards on an emulated fabric: packets between the hosts of a test network by UDP, all from this one
// process, which has sockets in every host's namespace. They pass TCP's queue (class 1:6 of the host's port).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lossless/ports.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::lossless {

enum class Kind : std::uint32_t { data, acknowledgement, notice };

/// The first bytes of every packet.
struct Packet {
  std::uint32_t run;
  Kind kind;
  std::uint32_t transfer;
  std::uint32_t number;  ///< data: which; acknowledgement: how many have come
};

inline constexpr Bytes packet_payload =
    1472;  // of a UDP packet in an Ethernet frame; the header is part of it
inline constexpr Bytes packet_frame = 1514;

class Cards {
 public:
  /// prefix: of the namespaces' names. subnet: "10.77.0". Throws Error io.
  Cards(const std::string& prefix, const std::string& subnet, Rank hosts);

  /// Data fill their frame and take that path, others are as short as can be. Throws Error limit for a path beyond
  /// most_paths.
  void send(Rank src, Rank dst, const Packet& packet, std::int64_t path = no_path);
  /// What has come, after a wait of that many milliseconds at most. False: nothing.
  bool receive(int wait_ms, const std::function<void(const Packet&)>& take);

 private:
  std::string prefix_;
  std::uint32_t network_;  // the first three numbers of an address
  FileDescriptor poll_;
  struct Sockets {
    FileDescriptor data;
    FileDescriptor control;  // flows of their own, so that they wait for no data in the card
    std::map<std::int64_t, FileDescriptor> paths;
  };
  int data_socket(Rank src, std::int64_t path);

  std::vector<Sockets> sockets_;  // by host
};

}  // namespace nuice::lossless
