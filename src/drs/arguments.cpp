// SPDX-License-Identifier: BSD-3-Clause
#include "drs/arguments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::drs {
namespace {

std::string pair_name(Rank src, Rank dst) {
  return "rank " + std::to_string(src) + " -> rank " + std::to_string(dst);
}

/// outgoing: partners are destinations of place.rank; otherwise sources.
void check_partners(const Place& place, std::span<const Partner> partners, bool outgoing) {
  const auto fail = [&](ErrorCode code, Rank partner, const std::string& what) {
    throw Error(code,
                (outgoing ? pair_name(place.rank, partner) : pair_name(partner, place.rank)) + ": " + what);
  };
  std::vector<Rank> seen;
  seen.reserve(partners.size());
  for (const auto& [rank, bytes] : partners) {
    if (rank < 0 || rank >= place.num_ranks)
      fail(ErrorCode::invalid_argument, rank, "there are " + std::to_string(place.num_ranks) + " ranks");
    if (bytes < 0) fail(ErrorCode::invalid_argument, rank, "the size is negative: " + std::to_string(bytes));
    if (bytes > max_bytes)
      fail(ErrorCode::limit, rank,
           std::to_string(bytes) + " bytes are more than max_bytes = " + std::to_string(max_bytes));
    seen.push_back(rank);
  }
  std::ranges::sort(seen);
  if (const auto twice = std::ranges::adjacent_find(seen); twice != seen.end())
    fail(ErrorCode::invalid_argument, *twice, "given twice");
}

/// kind: "send" or "receive".
template <typename Buffer>
void check_buffers(const Place& place, std::span<const Partner> partners, std::span<const Buffer> buffers,
                   const std::string& kind) {
  if (buffers.size() != partners.size())
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(place.rank) + " gives " + std::to_string(buffers.size()) + " " +
                    kind + " buffers for " + std::to_string(partners.size()) + " partners");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto [partner, bytes] = partners[i];
    const bool is_null = bytes > 0 && buffers[i].data == nullptr;
    if (!is_null && buffers[i].bytes >= bytes) continue;
    throw Error(ErrorCode::invalid_argument,
                (kind == "send" ? pair_name(place.rank, partner) : pair_name(partner, place.rank)) +
                    ": the " + kind + " buffer " +
                    (is_null ? "is null"
                             : "has " + std::to_string(buffers[i].bytes) + " bytes, the message has " +
                                   std::to_string(bytes)));
  }
}

}  // namespace

void check_destinations(const Place& place, std::span<const Partner> destinations) {
  check_partners(place, destinations, true);
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
                "compare-and-swap (Lock::rma) runs nothing at the receiver that "
                "could keep a list (WhenBusy::list)");
}

Cargo make_cargo(const Place& place, std::span<const Partner> destinations, std::span<const Partner> sources,
                 std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                 std::uint64_t seed) {
  check_partners(place, destinations, true);
  check_partners(place, sources, false);
  check_buffers(place, destinations, send, "send");
  check_buffers(place, sources, receive, "receive");
  Cargo cargo;
  for (std::size_t i = 0; i < send.size(); ++i) {
    const std::span data(static_cast<const std::byte*>(send[i].data),
                         static_cast<std::size_t>(destinations[i].bytes));
    if (destinations[i].rank == place.rank) {
      cargo.self_from = data;
    } else if (!data.empty()) {
      cargo.out.push_back({destinations[i].rank, data});
    }
  }
  for (std::size_t i = 0; i < receive.size(); ++i) {
    const std::span data(static_cast<std::byte*>(receive[i].data),
                         static_cast<std::size_t>(sources[i].bytes));
    if (sources[i].rank == place.rank) {
      cargo.self_to = data;
    } else if (!data.empty()) {
      cargo.in.push_back({sources[i].rank, data});
    }
  }
  std::ranges::sort(cargo.in, {}, &Cargo::Incoming::src);
  Random random(mix64(seed) + static_cast<std::uint64_t>(place.rank));
  random.shuffle(std::span(cargo.out));
  return cargo;
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
