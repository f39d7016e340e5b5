// SPDX-License-Identifier: BSD-3-Clause
// Messages of one call whose memory lies on a device, and their copies in host memory. Calls that consist of
// host messages, without a plan, use this class.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exchange/staging/mirror.hpp"

namespace nuice::mpi {

struct DeviceSides;

class StagedMessages {
 public:
  /// Not collective. Returns null if all messages lie in host memory. Throws Error `invalid_argument` if one
  /// side lies in several places, or the two sides lie on different devices.
  static std::unique_ptr<StagedMessages> of(std::span<const Outgoing> sends,
                                            std::span<const Incoming> receives, Rank rank);

  // The messages as bytes in pinned host memory. If the user's memory of a side is host memory, its messages
  // stay there.
  const std::vector<Outgoing>& sends() const { return sends_; }
  const std::vector<Incoming>& receives() const { return receives_; }

  // Both functions wait for the work on the legacy default stream, and return when their copies are complete.

  /// Copies the messages to be sent to host memory.
  void fetch() const;
  /// Copies received messages to the device.
  void deliver() const;

 private:
  StagedMessages(const DeviceSides& sides, std::span<const Outgoing> sends,
                 std::span<const Incoming> receives);
  template <typename Act>
  void on_stream(Act&& act) const;

  device::Location at_;
  Mirror from_;
  Mirror into_;
  device::Stream stream_;
  device::Event event_;
  std::vector<Outgoing> sends_;
  std::vector<Incoming> receives_;
};

}  // namespace nuice::mpi
