// SPDX-License-Identifier: BSD-3-Clause
// Messages of one call whose memory lies on a device, and where they are on the host: for calls that are made of host messages, and
// not of a plan's exchange.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exchange/staging/mirror.hpp"

namespace nuice::mpi {

struct DeviceSides;

class StagedMessages {
 public:
  /// Null where all of it lies on the host. Not collective. Throws Error invalid_argument where one side lies in several places, or the two
  /// on different devices.
  static std::unique_ptr<StagedMessages> of(std::span<const Outgoing> sends,
                                            std::span<const Incoming> receives, Rank rank);

  // In pinned memory of the host, as bytes; or where they were, of a side that lies on the host.
  const std::vector<Outgoing>& sends() const { return sends_; }
  const std::vector<Incoming>& receives() const { return receives_; }

  // After what the legacy default stream was given; done when it returns.
  /// What is sent, to the host.
  void fetch() const;
  /// What has come, to the device.
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
