// SPDX-License-Identifier: BSD-3-Clause
// The time in which ranks learn about each other's messages (004 s.3, table 3): by the control network, or by
// messages over the ports.
//
//   concatenation   n^2 words through the control network, one after the other;
//                   without it: sum over k of message(4 n 2^k)
//   discovery       n sums of a word, then d entries;
//                   without a control network: sum over k of message(4 n / 2^(k+1))
//
// k = 0 .. ceil(log2 n) - 1. All ranks do the same in every round, so a round takes as long as one of its
// exchanges.
#include "nuice/plan/machine.hpp"

namespace nuice {
namespace {

constexpr Bytes word_bytes = 4;

int rounds(Rank ranks) {
  int count = 0;
  while ((Rank{1} << count) < ranks && count < 30) ++count;
  return count;
}

/// Returns the time for sending one message and receiving one message at the same time.
double exchange_s(const Machine& machine, Bytes bytes) {
  const double both_ways = machine.duplex == Duplex::half ? 2 : 1;
  const double wire_s = machine.byte_s * static_cast<double>(wire_bytes(machine, bytes));
  return machine.send_overhead_s + machine.start_up_s + both_ways * wire_s + machine.latency_s +
         machine.receive_overhead_s;
}

double entry_s(const Machine& machine) {
  if (machine.am_entry_s > 0) return machine.am_entry_s;
  const double packet_s = machine.am_send_s + machine.am_handler_s;
  return packet_s > 0 ? packet_s : machine.send_overhead_s + machine.start_up_s + machine.receive_overhead_s;
}

}  // namespace

double concatenation_s(const Machine& machine, Rank ranks) {
  const double entries = static_cast<double>(ranks) * ranks;
  if (machine.control_word_s > 0) return machine.control_word_s * entries;
  double seconds = 0;
  for (int k = 0; k < rounds(ranks); ++k) seconds += exchange_s(machine, (word_bytes * ranks) << k);
  return seconds;
}

double discovery_s(const Machine& machine, Rank ranks, double degree) {
  const double entries_s = degree * entry_s(machine);
  if (machine.control_sum_s > 0) return machine.control_sum_s * ranks + entries_s;
  double seconds = entries_s;
  for (int k = 0; k < rounds(ranks); ++k) seconds += exchange_s(machine, (word_bytes * ranks) >> (k + 1));
  return seconds;
}

double control_broadcast_s(const Machine& machine, Bytes bytes) {
  const Bytes words = bytes / word_bytes + (bytes % word_bytes == 0 ? 0 : 1);
  return machine.control_word_s * static_cast<double>(words);
}

}  // namespace nuice
