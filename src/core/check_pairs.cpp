// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/check_pairs.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "core/text/names.hpp"

namespace nuice {
namespace {

/// The send half or the receive half of an entry.
struct Half {
  PhaseId phase;
  Rank partner;
  Claim claim;
  bool has_parts;
};

template <typename Call>
void each_half(const PhaseTable& table, Direction direction, Call&& call) {
  for (const PhaseEntry& entry : table.entries) {
    const bool sends = direction == Direction::send;
    const Rank partner = sends ? entry.send_partner : entry.recv_partner;
    if (partner == no_rank) continue;
    const Bytes offset = sends ? entry.send_offset : entry.recv_offset;
    const Bytes bytes = sends ? entry.send_bytes : entry.recv_bytes;
    const bool has_parts = (sends ? entry.send_parts : entry.recv_parts).count > 0;
    call(Half{entry.phase, partner, {entry.phase, offset, bytes}, has_parts});
  }
}

const std::vector<Partner>& partners_of(const PhaseTable& table, Direction direction) {
  return direction == Direction::send ? table.destinations : table.sources;
}

/// Returns the index of the rank among the partners; the number of partners if the rank is not among them.
std::size_t place_of(const std::vector<Partner>& partners, Rank rank) {
  const auto found = std::ranges::lower_bound(partners, rank, {}, &Partner::rank);
  const bool is_there = found != partners.end() && found->rank == rank;
  return is_there ? static_cast<std::size_t>(found - partners.begin()) : partners.size();
}

std::string claim_text(const Claim& claim) {
  return std::to_string(claim.bytes) + " bytes at offset " + std::to_string(claim.offset) + " in phase " +
         std::to_string(claim.phase);
}

/// The transfers and messages of one rank in one direction.
class OneWay {
 public:
  OneWay(const PhaseTable& table, Direction direction)
      : table_(table), direction_(direction), partners_(partners_of(table, direction)) {}

  std::optional<Violation> check(bool needs_one_port) const {
    if (auto violation = check_halves()) return violation;
    if (needs_one_port)
      if (auto violation = check_ports()) return violation;
    return check_delivery();
  }

 private:
  Violation violation(ViolationKind kind, PhaseId phase, Rank partner, const Claim& claim,
                      const std::string& what) const {
    const bool sends = direction_ == Direction::send;
    const Rank src = sends ? table_.rank : partner;
    const Rank dst = sends ? partner : table_.rank;
    return {.kind = kind,
            .phase = phase,
            .src = src,
            .dst = dst,
            .message_src = src,
            .message_dst = dst,
            .offset = claim.offset,
            .bytes = claim.bytes,
            .text = "the table of " + rank_name(table_.rank) + ", " + pair_name(src, dst) + ": " + what};
  }

  std::optional<Violation> check_halves() const {
    std::optional<Violation> found;
    if (!std::ranges::is_sorted(table_.entries, {}, &PhaseEntry::phase))
      return Violation{.kind = ViolationKind::bad_piece,
                       .text = "the table of " + rank_name(table_.rank) +
                               " has entries that are not in the order of phases"};
    each_half(table_, direction_, [&](const Half& half) {
      if (found) return;
      const auto fail = [&](ViolationKind kind, const std::string& what) {
        found = violation(kind, half.phase, half.partner, half.claim, what);
      };
      const std::size_t place = place_of(partners_, half.partner);
      if (half.partner == table_.rank)
        fail(ViolationKind::self_transfer, claim_text(half.claim) + ", to itself");
      else if (place == partners_.size())
        fail(ViolationKind::bad_rank, claim_text(half.claim) + ", but there is no message");
      else if (half.has_parts)
        fail(ViolationKind::not_direct, "a transfer with parts of several messages");
      else if (half.phase >= table_.num_phases)
        fail(ViolationKind::bad_piece, claim_text(half.claim) + " of " + std::to_string(table_.num_phases));
      else if (half.claim.offset < 0 || half.claim.bytes <= 0 ||
               half.claim.bytes > partners_[place].bytes - half.claim.offset)
        fail(ViolationKind::bad_piece,
             claim_text(half.claim) + " of a message of " + std::to_string(partners_[place].bytes));
    });
    return found;
  }

  std::optional<Violation> check_ports() const {
    std::optional<Violation> found;
    std::optional<Half> last;
    each_half(table_, direction_, [&](const Half& half) {
      if (!found && last && last->phase == half.phase) {
        const bool sends = direction_ == Direction::send;
        found = violation(
            sends ? ViolationKind::two_sends : ViolationKind::two_receives, half.phase, half.partner,
            half.claim, claim_text(half.claim) + ", in which there is one with " + rank_name(last->partner));
      }
      last = half;
    });
    return found;
  }

  std::optional<Violation> check_delivery() const {
    const Claims all = claims(table_, direction_);
    for (std::size_t i = 0; i < partners_.size(); ++i) {
      const auto [rank, bytes] = partners_[i];
      if (rank == table_.rank) continue;
      std::vector<Claim> pieces(all.of(i).begin(), all.of(i).end());
      std::ranges::sort(pieces, {}, &Claim::offset);
      Bytes through = 0;
      for (const Claim& piece : pieces) {
        if (piece.offset != through)
          return violation(
              ViolationKind::not_delivered, piece.phase, rank, piece,
              claim_text(piece) + ", where those from " + std::to_string(through) + " on are next");
        through += piece.bytes;
      }
      if (through != bytes)
        return violation(
            ViolationKind::not_delivered, 0, rank, {0, through, bytes - through},
            "only " + std::to_string(through) + " of " + std::to_string(bytes) + " bytes are in a phase");
    }
    return std::nullopt;
  }

  const PhaseTable& table_;
  Direction direction_;
  const std::vector<Partner>& partners_;
};

}  // namespace

Claims claims(const PhaseTable& table, Direction direction) {
  const auto& partners = partners_of(table, direction);
  std::vector<std::tuple<std::size_t, Claim>> all;
  each_half(table, direction, [&](const Half& half) {
    const std::size_t place = place_of(partners, half.partner);
    if (place < partners.size()) all.emplace_back(place, half.claim);
  });
  std::ranges::sort(all);
  Claims result;
  result.begin.assign(partners.size() + 1, 0);
  result.claims.reserve(all.size());
  for (const auto& [place, claim] : all) {
    ++result.begin[place + 1];
    result.claims.push_back(claim);
  }
  for (std::size_t i = 0; i < partners.size(); ++i) result.begin[i + 1] += result.begin[i];
  return result;
}

std::optional<Violation> check_alone(const PhaseTable& table, unsigned guarantees) {
  const bool needs_one_port = (guarantees & one_port) != 0;
  if (auto violation = OneWay(table, Direction::send).check(needs_one_port)) return violation;
  return OneWay(table, Direction::receive).check(needs_one_port);
}

std::optional<Violation> compare_claims(Rank src, Rank dst, std::span<const Claim> sent,
                                        std::span<const Claim> expected) {
  const auto [s, e] = std::ranges::mismatch(sent, expected);
  if (s == sent.end() && e == expected.end()) return std::nullopt;
  const auto text = [](auto at, auto end) { return at == end ? "no more bytes" : claim_text(*at); };
  const Claim& first = s != sent.end() ? *s : *e;
  return Violation{.kind = ViolationKind::not_delivered,
                   .phase = first.phase,
                   .src = src,
                   .dst = dst,
                   .message_src = src,
                   .message_dst = dst,
                   .offset = first.offset,
                   .bytes = first.bytes,
                   .text = pair_name(src, dst) + ": " + text(s, sent.end()) + " are sent, " +
                           text(e, expected.end()) + " are expected"};
}

}  // namespace nuice
