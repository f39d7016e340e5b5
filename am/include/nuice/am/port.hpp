// SPDX-License-Identifier: BSD-3-Clause
// Receive ports for block transfer (AM-PUT): the CMAML rport of 002 s.4.3.
//
//   auto port = ep.open_port(std::as_writable_bytes(std::span(halo)), halo_bytes);   // receiver
//   ep.send(sender, here_it_is, port.ref());                                         // a PortRef is an Argument
//   ...                        ep.put(ref, 0, data);                                 // sender
//   ep.poll_until([&] { return port.complete(); });                                  // receiver
//   port.rearm();              // next generation: the sender uses ref.next() or is told the new ref()
//
// The port counts bytes. It is open from open_port() or rearm() until the count is full, then closed: whatever comes
// late, early (for a generation that is not armed yet) or would not fit is an error at the receiver and writes nothing.
// Puts that overlap are not noticed.
//
// Data below the transport's bulk size travels inside messages and is copied once at each end; larger data goes
// straight from the sender's memory to the port's where the transport can do so (mpi and ucx: rendezvous).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

/// Names one generation of a port. Can be sent in messages.
struct PortRef {
  Rank rank = no_rank;
  std::uint32_t id = 0;
  std::uint64_t generation = 0;
  /// What the port will be after the next rearm().
  PortRef next() const { return {rank, id, generation + 1}; }
};

/// The owner's handle. Closing it (the destructor) makes every later put an error. Must not outlive its endpoint.
/// The destructor makes progress while data that was accepted is on its way, so that the memory may go afterwards; what a
/// handler throws meanwhile is thrown by the next call that makes progress. Inside a handler it cannot wait: the memory
/// of a port that is destroyed there while bulk data is on its way must stay until the next quiesce().
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
  /// All expected bytes of this generation have arrived (on_complete has run, or is about to in this poll).
  bool complete() const;
  /// Bytes still to come.
  Bytes missing() const;
  /// Opens the next generation, on the same memory and count. Allowed in handlers, on_complete included. Throws
  /// Error state while the current one is incomplete.
  void rearm();
  /// The same with another count.
  void rearm(Bytes expected_bytes);

 private:
  friend class EndpointCore;
  Port(EndpointCore* core, std::uint32_t id) : core_(core), id_(id) {}
  EndpointCore* core_;
  std::uint32_t id_;
};

}  // namespace nuice::am
