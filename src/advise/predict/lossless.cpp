// SPDX-License-Identifier: BSD-3-Clause
#include "advise/predict/lossless.hpp"

#include <algorithm>
#include <cmath>

#include "advise/work.hpp"
#include "nuice/plan/packets.hpp"

namespace nuice::advice {
namespace {

constexpr Bytes usual_packet = 4096;
constexpr double packets_of_a_message = 48;  // enough to show which packets block each other

/// This is a function, not a constant: PacketOptions holds a string, which not every compiler allows in
/// constants.
int usual_buffer() { return PacketOptions{}.buffer_packets; }

/// Returns how many packets are simulated as one.
Bytes coarsening(double mean_bytes, Bytes payload) {
  const double packets = mean_bytes / static_cast<double>(payload);
  return static_cast<Bytes>(std::clamp(packets / packets_of_a_message, 1.0, usual_buffer() / 4.0));
}

Bytes payload_of(const Machine& machine) {
  return machine.packet_payload > 0 ? machine.packet_payload : usual_packet;
}

}  // namespace

double packets_s(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                 const std::string& executor, const AdviceOptions& options) {
  double bytes = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) bytes += static_cast<double>(matrix.bytes(id));
  const Bytes payload = payload_of(machine);
  const double mean_bytes = bytes / std::max<double>(1, matrix.num_messages());
  const Bytes together = coarsening(mean_bytes, payload);
  Machine coarse = machine;
  coarse.packet_payload = payload * together;
  coarse.packet_header = machine.packet_header * together;
  PacketOptions how{.executor = executor,
                    .buffer_packets = static_cast<int>(usual_buffer() / together),
                    .seed = options.seed};
  double sum = 0;
  for (const Queueing queueing : {Queueing::fifo, Queueing::voq}) {
    how.queueing = queueing;
    sum += simulate_packets(matrix, schedule, coarse, how).seconds;
  }
  return sum / 2;
}

double packets_work_s(const Traits& t, const Machine& machine) {
  const Bytes payload = payload_of(machine);
  const auto packet = static_cast<double>(payload * coarsening(t.mean_bytes(), payload));
  return packets_work_s(t, t.bytes / packet + 0.5 * t.messages);
}

}  // namespace nuice::advice
