// SPDX-License-Identifier: BSD-3-Clause
// Receive ports for block transfer (AM-PUT): the CMAML rport of 002 s.4.3.
//
//   auto port = ep.open_port(std::as_writable_bytes(std::span(halo)), halo_bytes);   // receiver
//   ep.send(sender, here_it_is, port.ref());                                         // an Argument
//   ...                        ep.put(ref, 0, data);                                 // sender
//   ep.poll_until([&] { return port.complete(); });                                  // receiver
//   port.rearm();              // next generation: the sender uses ref.next(), or gets the new ref()
//
// A port counts bytes. It is open from open_port() or rearm() until the expected number of bytes has been
// put; then it is closed. A put that is late, early (for a generation that is not armed yet) or too large is
// an error on the receiver, and writes nothing. Overlapping puts are not detected.
//
// Data below the transport's bulk size travels inside messages and is copied once at each end; larger data
// goes directly from the sender's memory to the port's memory if the transport supports this (mpi and ucx:
// rendezvous).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

/// Names one generation of a port. It can be sent in messages.
struct PortRef {
  Rank rank = no_rank;
  std::uint32_t id = 0;
  std::uint64_t generation = 0;
  /// Returns the reference to the port after the next rearm().
  PortRef next() const { return {rank, id, generation + 1}; }
};

/// The owner's handle of a port. It must not outlive its endpoint. The destructor closes the port, so every
/// later put is an error. The destructor makes progress until accepted data has arrived, so that the memory
/// may be freed afterwards. If a handler throws an exception during this time, the next call that makes
/// progress throws it. Inside a handler the destructor cannot wait: if bulk data is in flight, the port's
/// memory must stay valid until the next quiesce().
class Port {
 public:
  Port(Port&& other) noexcept : core_(std::exchange(other.core_, nullptr)), id_(other.id_) {}
  Port& operator=(Port&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Port();

  PortRef ref() const;
  /// Returns whether all expected bytes of this generation have arrived. on_complete has then run, or runs in
  /// the current poll.
  bool complete() const;
  /// Returns the number of bytes that have not yet been put.
  Bytes missing() const;
  /// Opens the next generation, with the same memory and the same expected number of bytes. Allowed in
  /// handlers, including on_complete. Throws Error with code `state` if the current generation is incomplete.
  void rearm();
  /// Opens the next generation with another expected number of bytes.
  void rearm(Bytes expected_bytes);

 private:
  friend class EndpointCore;
  Port(EndpointCore* core, std::uint32_t id) : core_(core), id_(id) {}
  EndpointCore* core_;
  std::uint32_t id_;
};

}  // namespace nuice::am
