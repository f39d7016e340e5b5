// SPDX-License-Identifier: BSD-3-Clause
// Emulates RDMA cards on an emulated fabric: packets between the hosts of a test network by UDP. All packets
// come from this process, which has sockets in every host's namespace. They bypass TCP's queue (class 1:6 of
// the host's port).
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

/// The header of every packet.
struct Packet {
  std::uint32_t run;
  Kind kind;
  std::uint32_t transfer;
  std::uint32_t number;  ///< Data: the packet's number. Acknowledgement: how many have come.
};

inline constexpr Bytes packet_payload = 1472;  // payload of UDP in an Ethernet frame, with the header
inline constexpr Bytes packet_frame = 1514;

class Cards {
 public:
  /// prefix: the prefix of the namespaces' names. subnet: such as "10.77.0". Throws Error io.
  Cards(const std::string& prefix, const std::string& subnet, Rank hosts);

  /// Sends a packet. Data fill a frame and take the given path; other packets are as short as possible.
  /// Throws Error limit for a path beyond most_paths.
  void send(Rank src, Rank dst, const Packet& packet, std::int64_t path = no_path);
  /// Waits at most this number of milliseconds, and takes the packets that have come. Returns false if there
  /// were none.
  bool receive(int wait_ms, const std::function<void(const Packet&)>& take);

 private:
  std::string prefix_;
  std::uint32_t network_;  // the first three bytes of an address
  FileDescriptor poll_;
  struct Sockets {
    FileDescriptor data;
    FileDescriptor control;  // separate flows, so that they do not wait behind data in the card
    std::map<std::int64_t, FileDescriptor> paths;
  };
  int data_socket(Rank src, std::int64_t path);

  std::vector<Sockets> sockets_;  // by host
};

}  // namespace nuice::lossless
