// SPDX-License-Identifier: BSD-3-Clause
// The serial executor. It reads the slices only, so any omission or error in them shows here:
//
//   check that tables and buffers belong together
//   copy every message of a rank to itself
//   for each phase: pair the sends with the receives of the same (src, dst), in order; copy
//   check that every message was carried in full, and that no rank still keeps bytes that it should forward
//
// Forwarded bytes are stored as they arrive, and can be taken once, from the next phase on. Cost: with k
// entries and parts, O(k log k + num_phases * num_ranks) time and a copy of the forwarded bytes.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/partners.hpp"
#include "core/text/names.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice {
namespace {

using Tables = std::span<const PhaseTable>;
using SendBuffers = std::span<const std::vector<SendBuffer>>;
using ReceiveBuffers = std::span<const std::vector<ReceiveBuffer>>;

[[noreturn]] void fail(ErrorCode code, const std::string& text) {
  throw Error(code, "exchange_serially: " + text);
}

/// Returns the index of `rank` among partners sorted by rank; partners.size() if it is not there.
std::size_t find_partner(const std::vector<Partner>& partners, Rank rank) {
  const auto at = std::ranges::lower_bound(partners, rank, {}, &Partner::rank);
  if (at == partners.end() || at->rank != rank) return partners.size();
  return static_cast<std::size_t>(at - partners.begin());
}

void check_partners(const std::vector<Partner>& partners, Rank num_ranks, const std::string& what) {
  const bool ascending =
      std::ranges::adjacent_find(partners, std::ranges::greater_equal{}, &Partner::rank) == partners.end();
  const bool in_range =
      std::ranges::all_of(partners, [&](const Partner& p) { return p.rank >= 0 && p.rank < num_ranks; });
  if (!ascending || !in_range) fail(ErrorCode::mismatch, what + " are not ranks in ascending order");
  if (std::ranges::any_of(partners, [](const Partner& p) { return p.bytes < 0; }))
    fail(ErrorCode::mismatch, what + " have messages of fewer than 0 bytes");
}

void check_parts(const PhaseTable& table, Rank num_ranks) {
  const auto is_rank = [&](Rank rank) { return rank >= 0 && rank < num_ranks; };
  const bool real = std::ranges::all_of(table.parts, [&](const Part& part) {
    return is_rank(part.src) && is_rank(part.dst) && part.bytes > 0 && part.bytes <= max_bytes &&
           part.offset >= 0 && part.offset <= max_bytes - part.bytes;
  });
  const auto inside = [&](PartRange range) {
    return range.begin <= table.parts.size() && range.count <= table.parts.size() - range.begin;
  };
  const bool fits = std::ranges::all_of(table.entries, [&](const PhaseEntry& entry) {
    return inside(entry.send_parts) && inside(entry.recv_parts);
  });
  if (!real || !fits)
    fail(ErrorCode::mismatch, "the parts of " + rank_name(table.rank) + " are not parts of messages");
}

void check_tables(Tables tables) {
  const auto num_ranks = static_cast<Rank>(tables.size());
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    const PhaseTable& table = tables[static_cast<std::size_t>(rank)];
    const std::string who = "table " + std::to_string(rank);
    if (table.rank != rank || table.num_ranks != num_ranks)
      fail(ErrorCode::mismatch, who + " is that of rank " + std::to_string(table.rank) + " of " +
                                    std::to_string(table.num_ranks) + ", but " + std::to_string(num_ranks) +
                                    " tables were given");
    if (table.num_phases != tables[0].num_phases)
      fail(ErrorCode::mismatch, who + " has " + std::to_string(table.num_phases) + " phases, table 0 has " +
                                    std::to_string(tables[0].num_phases));
    check_partners(table.destinations, num_ranks, "the destinations of rank " + std::to_string(rank));
    check_partners(table.sources, num_ranks, "the sources of rank " + std::to_string(rank));
    check_parts(table, num_ranks);
    if (!std::ranges::is_sorted(table.entries, {}, &PhaseEntry::phase) ||
        (!table.entries.empty() && table.entries.back().phase >= table.num_phases))
      fail(ErrorCode::mismatch, "the entries of rank " + std::to_string(rank) +
                                    " are not in ascending phases below " + std::to_string(table.num_phases));
  }
}

/// A send or a receive of one phase.
struct Half {
  Rank src;
  Rank dst;
  Bytes bytes;
  Bytes offset;
  PartRange parts;
};

bool by_pair(const Half& a, const Half& b) { return std::pair(a.src, a.dst) < std::pair(b.src, b.dst); }

[[noreturn]] void fail_at(PhaseId phase, const Half& half, const std::string& text) {
  fail(ErrorCode::mismatch,
       "phase " + std::to_string(phase) + ", " + pair_name(half.src, half.dst) + ": " + text);
}

std::string part_name(const Part& part) {
  return "bytes [" + std::to_string(part.offset) + ", " + std::to_string(part.offset + part.bytes) +
         ") of message " + pair_name(part.src, part.dst);
}

/// The bytes that one rank has received for other ranks and will forward. They are stored when they arrive
/// and can be taken once, from the next phase on.
class Kept {
 public:
  /// Stores bytes. take() can return them from the next phase on.
  void put(const Part& part, std::vector<std::byte> bytes) { arriving_.push_back({part, std::move(bytes)}); }

  void end_phase() {
    for (auto& [part, bytes] : arriving_)
      messages_[{part.src, part.dst}].insert_or_assign(part.offset, std::move(bytes));
    arriving_.clear();
  }

  /// Removes and returns the bytes of the part. Returns nothing if some of its bytes are not here.
  std::vector<std::byte> take(const Part& part) {
    std::vector<std::byte> taken;
    Ranges& ranges = messages_[{part.src, part.dst}];
    while (std::ssize(taken) < part.bytes) {
      const Bytes at = part.offset + std::ssize(taken);
      auto found = ranges.upper_bound(at);
      if (found == ranges.begin()) return {};
      --found;
      auto [begin, bytes] = std::move(*found);
      if (begin + std::ssize(bytes) <= at) return {};
      ranges.erase(found);
      const auto from = bytes.begin() + (at - begin);
      const auto to = from + std::min(bytes.end() - from, part.bytes - std::ssize(taken));
      taken.insert(taken.end(), from, to);
      if (from != bytes.begin()) ranges.insert_or_assign(begin, std::vector(bytes.begin(), from));
      if (to != bytes.end())
        ranges.insert_or_assign(begin + (to - bytes.begin()), std::vector(to, bytes.end()));
    }
    return taken;
  }

  /// Returns the name of a range that was not taken, or an empty string.
  std::string find_rest() const {
    for (const auto& [pair, ranges] : messages_)
      if (!ranges.empty())
        return part_name(
            {pair.first, pair.second, ranges.begin()->first, std::ssize(ranges.begin()->second)});
    return {};
  }

 private:
  using Ranges = std::map<Bytes, std::vector<std::byte>>;  // by offset
  struct Arrival {
    Part part;
    std::vector<std::byte> bytes;
  };
  std::map<std::pair<Rank, Rank>, Ranges> messages_;
  std::vector<Arrival> arriving_;
};

class SerialExchange {
 public:
  SerialExchange(Tables tables, SendBuffers send, ReceiveBuffers receive)
      : tables_(tables),
        send_(send),
        receive_(receive),
        next_entry_(tables.size()),
        carried_(tables.size()),
        kept_(tables.size()) {
    for (std::size_t rank = 0; rank < tables.size(); ++rank)
      carried_[rank].resize(tables[rank].sources.size());
  }

  void run() {
    copy_self_messages();
    const PhaseId num_phases = tables_.empty() ? 0 : tables_[0].num_phases;
    for (PhaseId phase = 0; phase < num_phases; ++phase) {
      collect(phase);
      copy_matched(phase);
      for (Kept& kept : kept_) kept.end_phase();
    }
    check_all_carried();
    check_nothing_kept();
  }

 private:
  void copy_self_messages() {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const Rank rank = tables_[i].rank;
      const std::size_t to = find_partner(tables_[i].destinations, rank);
      const std::size_t from = find_partner(tables_[i].sources, rank);
      const Bytes sent = to < tables_[i].destinations.size() ? tables_[i].destinations[to].bytes : 0;
      const Bytes expected = from < tables_[i].sources.size() ? tables_[i].sources[from].bytes : 0;
      if (sent != expected)
        fail(ErrorCode::mismatch, pair_name(rank, rank) + ": " + std::to_string(sent) + " bytes are sent, " +
                                      std::to_string(expected) + " are expected");
      if (sent == 0) continue;
      std::memcpy(receive_[i][from].data, send_[i][to].data, static_cast<std::size_t>(sent));
      carried_[i][from] += sent;
    }
  }

  /// Collects the sends and receives of a phase, and sorts them by pair of ranks. Those of one pair keep the
  /// order of their tables.
  void collect(PhaseId phase) {
    sends_.clear();
    receives_.clear();
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const PhaseTable& table = tables_[i];
      for (; next_entry_[i] < table.entries.size() && table.entries[next_entry_[i]].phase == phase;
           ++next_entry_[i]) {
        const PhaseEntry& entry = table.entries[next_entry_[i]];
        if (entry.send_partner != no_rank)
          sends_.push_back(
              {table.rank, entry.send_partner, entry.send_bytes, entry.send_offset, entry.send_parts});
        if (entry.recv_partner != no_rank)
          receives_.push_back(
              {entry.recv_partner, table.rank, entry.recv_bytes, entry.recv_offset, entry.recv_parts});
      }
    }
    std::ranges::stable_sort(sends_, by_pair);
    std::ranges::stable_sort(receives_, by_pair);
  }

  void copy_matched(PhaseId phase) {
    for (std::size_t i = 0; i < std::max(sends_.size(), receives_.size()); ++i) {
      const bool send_alone =
          i >= receives_.size() || (i < sends_.size() && by_pair(sends_[i], receives_[i]));
      if (send_alone) fail_at(phase, sends_[i], "a send without its receive");
      const bool receive_alone = i >= sends_.size() || by_pair(receives_[i], sends_[i]);
      if (receive_alone) fail_at(phase, receives_[i], "a receive without its send");
      copy(phase, sends_[i], receives_[i]);
    }
  }

  void copy(PhaseId phase, const Half& send, const Half& receive) {
    if (send.bytes != receive.bytes)
      fail_at(
          phase, send,
          std::to_string(send.bytes) + " bytes are sent, " + std::to_string(receive.bytes) + " are expected");
    if (!valid_rank(send.src) || !valid_rank(send.dst)) fail_at(phase, send, "no such pair of ranks");
    if (send.parts.count > 0 || receive.parts.count > 0) {
      copy_parts(phase, send, receive);
      return;
    }
    const Part whole{send.src, send.dst, send.offset, send.bytes};
    const auto* const at_src = sent_from(phase, send, whole);
    auto* const at_dst = received_in(phase, receive, {send.src, send.dst, receive.offset, receive.bytes});
    std::memcpy(at_dst, at_src, static_cast<std::size_t>(send.bytes));
  }

  void copy_parts(PhaseId phase, const Half& send, const Half& receive) {
    const auto sent = tables_[index(send.src)].parts_in(send.parts);
    const auto expected = tables_[index(receive.dst)].parts_in(receive.parts);
    if (!std::ranges::equal(sent, expected))
      fail_at(phase, send, "the parts that are sent are not those that are expected");
    for (const Part& part : sent) copy_part(phase, send, part);
  }

  void copy_part(PhaseId phase, const Half& half, const Part& part) {
    std::vector<std::byte> bytes;
    if (part.src == half.src) {
      const auto* const from = sent_from(phase, half, part);
      bytes.assign(from, from + part.bytes);
    } else {
      bytes = kept_[index(half.src)].take(part);
      if (bytes.empty()) fail_at(phase, half, part_name(part) + " are not there to be forwarded");
    }
    if (part.dst == half.dst) {
      std::ranges::copy(bytes, received_in(phase, half, part));
    } else {
      kept_[index(half.dst)].put(part, std::move(bytes));
    }
  }

  /// Returns where these bytes lie in the send buffer of part.src.
  const std::byte* sent_from(PhaseId phase, const Half& half, const Part& part) const {
    const auto src = index(part.src);
    const std::size_t to = find_partner(tables_[src].destinations, part.dst);
    check_range(tables_[src].destinations, to, phase, half, part, "send");
    return static_cast<const std::byte*>(send_[src][to].data) + part.offset;
  }

  /// Returns where these bytes belong in the receive buffer of part.dst, and counts them as carried.
  std::byte* received_in(PhaseId phase, const Half& half, const Part& part) {
    const auto dst = index(part.dst);
    const std::size_t from = find_partner(tables_[dst].sources, part.src);
    check_range(tables_[dst].sources, from, phase, half, part, "receive");
    carried_[dst][from] += part.bytes;
    return static_cast<std::byte*>(receive_[dst][from].data) + part.offset;
  }

  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  bool valid_rank(Rank rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < tables_.size(); }

  static void check_range(const std::vector<Partner>& partners, std::size_t at, PhaseId phase,
                          const Half& half, const Part& part, const std::string& kind) {
    const Bytes room = at < partners.size() ? partners[at].bytes : 0;
    const bool inside =
        part.offset >= 0 && part.bytes > 0 && part.offset <= room && part.bytes <= room - part.offset;
    if (!inside)
      fail_at(phase, half,
              "a " + kind + " of " + std::to_string(part.bytes) + " bytes at offset " +
                  std::to_string(part.offset) + " of a message of " + std::to_string(room));
  }

  void check_all_carried() const {
    for (std::size_t i = 0; i < tables_.size(); ++i)
      for (std::size_t s = 0; s < tables_[i].sources.size(); ++s)
        if (const Partner& source = tables_[i].sources[s]; carried_[i][s] != source.bytes)
          fail(ErrorCode::mismatch, pair_name(source.rank, tables_[i].rank) + ": the phases carry " +
                                        std::to_string(carried_[i][s]) + " of " +
                                        std::to_string(source.bytes) + " bytes");
  }

  void check_nothing_kept() const {
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (const std::string rest = kept_[i].find_rest(); !rest.empty())
        fail(ErrorCode::mismatch,
             "after the last phase: " + rest + " are still at rank " + std::to_string(i));
  }

  Tables tables_;
  SendBuffers send_;
  ReceiveBuffers receive_;
  std::vector<std::size_t> next_entry_;      // by rank: the first entry of the next phase
  std::vector<std::vector<Bytes>> carried_;  // by rank and source
  std::vector<Kept> kept_;                   // by rank
  std::vector<Half> sends_;
  std::vector<Half> receives_;
};

}  // namespace

void exchange_serially(Tables tables, SendBuffers send, ReceiveBuffers receive) {
  if (send.size() != tables.size() || receive.size() != tables.size())
    fail(ErrorCode::invalid_argument, std::to_string(tables.size()) + " tables, but the send buffers of " +
                                          std::to_string(send.size()) + " and the receive buffers of " +
                                          std::to_string(receive.size()) + " ranks");
  check_tables(tables);
  for (std::size_t rank = 0; rank < tables.size(); ++rank) {
    core::check_buffers({static_cast<Rank>(rank), true}, tables[rank].destinations, std::span(send[rank]));
    core::check_buffers({static_cast<Rank>(rank), false}, tables[rank].sources, std::span(receive[rank]));
  }
  SerialExchange(tables, send, receive).run();
}

}  // namespace nuice
