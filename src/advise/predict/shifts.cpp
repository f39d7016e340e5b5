// SPDX-License-Identifier: BSD-3-Clause
#include "advise/predict/shifts.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nuice::advice {
namespace {

/// The sampled messages of a phase.
struct Shift {
  double messages = 0;
  double bytes = 0;
  double squares = 0;
  double largest = 0;

  void add(double size) {
    ++messages;
    bytes += size;
    squares += size * size;
    largest = std::max(largest, size);
  }
};

/// Returns the size of the largest transfer of a phase. mean, mean_bytes: the messages and bytes that a rank
/// sends on average. Which messages meet at a rank is as good as random, so the busiest of n ranks has
/// sqrt(2 ln n) standard deviations more, of messages or of bytes.
double largest_transfer(const Shift& shift, double mean, double mean_bytes, double ranks) {
  const double deviations = std::sqrt(2 * std::log(ranks));
  const double most_messages = mean + deviations * std::sqrt(mean);
  const double typical = shift.squares / shift.bytes;
  const double most_bytes = mean_bytes + deviations * std::sqrt(mean_bytes * typical);
  return std::max(mean_bytes, std::min(most_bytes, most_messages * shift.largest));
}

}  // namespace

Shifts shifts_of(const Traits& t, std::int64_t radix) {
  const auto ranks = static_cast<std::int64_t>(t.ranks);
  const auto samples = static_cast<double>(t.samples.size());
  Shifts shifts;
  double digits = 0;
  std::vector<Shift> by_digit;
  for (std::int64_t weight = 1; weight < ranks; weight *= radix) {
    ++digits;
    by_digit.assign(static_cast<std::size_t>(radix), {});
    for (const Sample& sample : t.samples)
      by_digit[static_cast<std::size_t>(sample.distance / weight % radix)].add(sample.bytes);
    for (std::size_t digit = 1; digit < by_digit.size(); ++digit) {
      const Shift& shift = by_digit[digit];
      if (shift.bytes == 0) continue;
      ++shifts.phases;
      const double share = shift.messages / samples;
      shifts.hops += share;
      // With the greatest radix a rank has one message for a distance.
      shifts.bytes += radix >= ranks ? shift.largest
                                     : largest_transfer(shift, share * t.messages / t.ranks,
                                                        share * t.bytes / t.ranks, t.ranks);
    }
  }
  // A sample does not show all phases if nearly each of its messages has one of its own.
  if (shifts.phases > samples / 2)
    shifts.phases = std::min(static_cast<double>(radix - 1) * digits, t.ranks - 1);
  shifts.transfers = std::min(shifts.phases, t.degree * digits);
  shifts.bytes = std::max(shifts.bytes, t.port);
  return shifts;
}

}  // namespace nuice::advice
