// SPDX-License-Identifier: BSD-3-Clause
#include "drs/arguments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/partners.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::drs {
void check_destinations(const Place& place, std::span<const Partner> destinations) {
  core::check_partners({place.rank, true}, place.num_ranks, destinations);
}

void check_options(const Options& options) {
  if (options.early_bytes < 0)
    throw Error(ErrorCode::invalid_argument,
                "drs::Options::early_bytes is negative: " + std::to_string(options.early_bytes));
  if (!std::isfinite(options.delay_us) || options.delay_us < 0 || options.delay_us > 1e9)
    throw Error(ErrorCode::invalid_argument,
                "drs::Options::delay_us is not between 0 and 10^9: " + std::to_string(options.delay_us));
  if (options.lock == Lock::rma && options.when_busy == WhenBusy::list)
    throw Error(ErrorCode::not_applicable,
                "compare-and-swap (Lock::rma) runs no code at the receiver, so the receiver cannot keep a "
                "list (WhenBusy::list)");
}

Messages make_messages(const Place& place, std::span<const Partner> destinations,
                       std::span<const Partner> sources, std::span<const SendBuffer> send,
                       std::span<const ReceiveBuffer> receive, std::uint64_t seed) {
  const core::Side outgoing{place.rank, true};
  const core::Side incoming{place.rank, false};
  core::check_partners(outgoing, place.num_ranks, destinations);
  core::check_partners(incoming, place.num_ranks, sources);
  core::check_buffers(outgoing, destinations, send);
  core::check_buffers(incoming, sources, receive);
  Messages messages;
  for (std::size_t i = 0; i < send.size(); ++i) {
    const std::span data(static_cast<const std::byte*>(send[i].data),
                         static_cast<std::size_t>(destinations[i].bytes));
    if (destinations[i].rank == place.rank) {
      messages.self_from = data;
    } else if (!data.empty()) {
      messages.out.push_back({destinations[i].rank, data});
    }
  }
  for (std::size_t i = 0; i < receive.size(); ++i) {
    const std::span data(static_cast<std::byte*>(receive[i].data),
                         static_cast<std::size_t>(sources[i].bytes));
    if (sources[i].rank == place.rank) {
      messages.self_to = data;
    } else if (!data.empty()) {
      messages.in.push_back({sources[i].rank, data});
    }
  }
  std::ranges::sort(messages.in, {}, &Messages::Incoming::src);
  Random random(mix64(seed) + static_cast<std::uint64_t>(place.rank));
  random.shuffle(std::span(messages.out));
  return messages;
}

Balance balance(const Place& place, std::span<const Partner> destinations, std::span<const Partner> sources) {
  Balance sum;
  const auto add = [&](Rank src, Rank dst, Bytes bytes, int sign) {
    if (bytes == 0) return;
    const std::uint64_t pair = static_cast<std::uint64_t>(src) << 32 | static_cast<std::uint32_t>(dst);
    const std::uint64_t mark = mix64(mix64(pair) ^ static_cast<std::uint64_t>(bytes));
    sum.first += sign * static_cast<std::int64_t>(mark >> 32);  // sums of 2^31 such numbers fit
    sum.second += sign * static_cast<std::int64_t>(mark & UINT32_MAX);
  };
  for (const auto& [dst, bytes] : destinations) add(place.rank, dst, bytes, 1);
  for (const auto& [src, bytes] : sources) add(src, place.rank, bytes, -1);
  return sum;
}

std::int64_t fingerprint(const Options& options) {
  std::uint64_t mark = 0;
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(options.lock), static_cast<std::uint64_t>(options.when_busy),
        static_cast<std::uint64_t>(options.early_bytes), std::bit_cast<std::uint64_t>(options.delay_us),
        options.seed})
    mark = mix64(mark ^ value);
  return static_cast<std::int64_t>(mark >> 2);
}

}  // namespace nuice::drs
