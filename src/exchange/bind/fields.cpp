// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/fields.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Messages whose fields without gaps have more bytes than this on average are sent field by field. At this
/// size one message per field takes about as long as one message with a datatype (two ranks of one machine,
/// bench/run.py fields): MPI copies contiguous data once, and the parts of a datatype twice.
constexpr Bytes together_up_to = 8192;

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

void require_equal_numbers(const Communicator& comm, std::size_t send, std::size_t receive) {
  const auto mine = static_cast<int>(send);
  int first = mine;
  broadcast(comm, &first, 1, MPI_INT, 0);
  all_or_none(comm, [&] {
    const std::string who = "rank " + std::to_string(comm.rank());
    if (send != receive)
      fail(who + " gives " + std::to_string(send) + " send fields and " + std::to_string(receive) +
           " receive fields");
    if (mine != first)
      throw Error(ErrorCode::mismatch,
                  who + " gives " + std::to_string(mine) + " fields, rank 0 gives " + std::to_string(first));
  });
}

/// Collective. Requires that both ends of every message have the same number of elements, and of the same
/// size, in every field.
void require_equal_ends(const Communicator& comm, const FieldSide& send, const FieldSide& receive, int tag) {
  const std::size_t width = 2 * send.num_fields();
  if (width == 0) return;
  const auto describe = [&](const FieldSide& side) {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < side.partners().size(); ++i)
      for (std::size_t f = 0; f < side.num_fields(); ++f)
        numbers.insert(numbers.end(), {side.field(f).counts[i], side.field(f).size});
    return numbers;
  };
  const auto partners_of = [&](const FieldSide& side) {
    std::vector<NumbersFor> all;
    for (std::size_t i = 0; i < side.partners().size(); ++i)
      if (side.partners()[i].bytes > 0) all.push_back({side.partners()[i].rank, tag, i * width});
    return all;
  };
  const std::vector<std::int64_t> expected = describe(receive);
  const std::vector<std::int64_t> told =
      exchange_numbers(comm, describe(send), partners_of(send), expected.size(), partners_of(receive),
                       static_cast<int>(width));
  all_or_none(comm, [&] {
    for (std::size_t i = 0; i < told.size(); i += 2) {
      const std::size_t partner = i / width;
      if (receive.partners()[partner].bytes == 0) continue;
      if (told[i] == expected[i] && told[i + 1] == expected[i + 1]) continue;
      throw Error(ErrorCode::mismatch, receive.pair(partner) + ": field " + std::to_string((i % width) / 2) +
                                           " has " + std::to_string(told[i]) + " elements of " +
                                           std::to_string(told[i + 1]) + " bytes on the sender, " +
                                           std::to_string(expected[i]) + " of " +
                                           std::to_string(expected[i + 1]) + " bytes on the receiver");
    }
  });
}

/// Requires that the parts that this rank cuts from its own messages, or joins to messages, have the size
/// that forwarding ranks expect.
void require_exact_parts(const PhaseTable& table, const Layout& layout) {
  const auto check = [&](const Part& part, bool is_send) {
    Places places;
    layout.find(is_send ? part.dst : part.src, is_send, part.offset, part.bytes, places);
    Bytes bytes = 0;
    for (const Segment& segment : places) bytes += segment.count * size_of(segment.type);
    if (bytes != layout.scaled(part.bytes))
      throw Error(ErrorCode::not_applicable,
                  pair_name(part.src, part.dst) +
                      ": the plan forwards a part of this message that ends inside "
                      "an element");
  };
  for (const Part& part : table.parts) {
    if (part.src == table.rank) check(part, true);
    if (part.dst == table.rank) check(part, false);
  }
}

}  // namespace

template <typename AnyField>
FieldSide::FieldSide(std::span<const Partner> partners, std::span<const AnyField> fields, bool is_send,
                     Rank rank)
    : partners_(partners.begin(), partners.end()), is_send_(is_send), rank_(rank) {
  for (const AnyField& field : fields)
    add(const_cast<void*>(static_cast<const void*>(field.data)), field.type, field.counts, field.offsets);
  for (std::size_t i = 0; i < partners_.size(); ++i)
    if (partners_[i].bytes == 0 && bytes_with(i) > 0)
      fail(pair(i) + ": " + std::to_string(bytes_with(i)) + " bytes of fields, but the plan has no message");
}

void FieldSide::add(void* data, MPI_Datatype type, std::span<const std::int64_t> counts,
                    std::span<const std::int64_t> offsets) {
  const std::string who = "rank " + std::to_string(rank_) + ": " + (is_send_ ? "send" : "receive") +
                          " field " + std::to_string(fields_.size());
  if (type == MPI_DATATYPE_NULL) fail(who + " has MPI_DATATYPE_NULL");
  const auto wants = [&](std::size_t size, const char* what) {
    if (size != partners_.size())
      fail(who + " has " + std::to_string(size) + " " + what + " for " + std::to_string(partners_.size()) +
           " partners");
  };
  wants(counts.size(), "counts");
  if (!offsets.empty()) wants(offsets.size(), "offsets");
  const Bytes size = size_of(type);
  Field field{static_cast<std::byte*>(data), type, size, extent_of(type), {}, {}};
  std::int64_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || (size > 0 && counts[i] > max_bytes / size))
      fail(pair(i) + ": field " + std::to_string(fields_.size()) + " has " + std::to_string(counts[i]) +
           " elements");
    if (counts[i] > 0 && data == nullptr) fail(who + " is null");
    field.counts.push_back(counts[i]);
    field.offsets.push_back(offsets.empty() ? next : offsets[i]);
    next += counts[i];
  }
  fields_.push_back(std::move(field));
}

Bytes FieldSide::bytes_with(std::size_t partner) const {
  Bytes bytes = 0;
  for (const Field& field : fields_) bytes += field.counts[partner] * field.size;
  return bytes;
}

bool FieldSide::any_gaps() const {
  return std::ranges::any_of(fields_, [](const Field& field) { return !are_plain_bytes(field.type); });
}

/// Returns the places of all fields. If the user lists a rank several times, its parts are back to back in
/// each field.
Layout::ByRank FieldSide::places() const {
  Layout::ByRank places;
  for (const Field& field : fields_) {
    std::map<Rank, Bytes> begin_of_next;
    for (std::size_t i = 0; i < partners_.size(); ++i) {
      const auto [rank, bytes] = partners_[i];
      const Bytes begin = std::exchange(begin_of_next[rank], begin_of_next[rank] + bytes);
      if (field.counts[i] > 0)
        places.push_back({rank,
                          {field.base + field.offsets[i] * field.extent, field.counts[i], field.type},
                          begin,
                          bytes});
    }
  }
  std::ranges::stable_sort(places, {}, &Layout::Place::rank);
  return places;
}

std::string FieldSide::pair(std::size_t partner) const {
  const Rank other = partners_[partner].rank;
  return is_send_ ? pair_name(rank_, other) : pair_name(other, rank_);
}

namespace {

/// Collective. Finds the ratio of field bytes to planned bytes, for plans that forward. Throws Error
/// `not_applicable` if messages have different ratios, or a part of a message ends inside an element.
Layout::Ratio agree_on_ratio(const Communicator& comm, const FieldSide& send, const PhaseTable& table) {
  // minima of fields and plan, and of their negatives
  std::array<Bytes, 4> extremes = {max_bytes, max_bytes, 0, 0};
  for (std::size_t i = 0; i < send.partners().size(); ++i) {
    const Bytes plan = send.partners()[i].bytes;
    if (plan == 0 || send.partners()[i].rank == table.rank) continue;
    const Bytes fields = send.bytes_with(i);
    const Bytes common = std::gcd(fields, plan);
    extremes = {std::min(extremes[0], fields / common), std::min(extremes[1], plan / common),
                std::min(extremes[2], -fields / common), std::min(extremes[3], -plan / common)};
  }
  all_reduce(comm, MPI_IN_PLACE, extremes.data(), 4, MPI_INT64_T, MPI_MIN);
  const bool no_messages = extremes[0] == max_bytes;
  if (no_messages) return {};
  const Layout::Ratio ratio{extremes[0], extremes[1]};
  all_or_none(comm, [&] {
    if (ratio.fields != -extremes[2] || ratio.plan != -extremes[3])
      throw Error(ErrorCode::not_applicable,
                  "the plan forwards messages, so the ratio of size to planned size must be the same for all "
                  "messages");
    for (const Part& part : table.parts) {
      const bool fits = part.offset % ratio.plan == 0 && part.bytes % ratio.plan == 0;
      if (!fits)
        throw Error(ErrorCode::not_applicable,
                    pair_name(part.src, part.dst) +
                        ": the plan forwards a part of this message that ends inside "
                        "an element");
    }
  });
  return ratio;
}

}  // namespace

Layout layout_of(const Communicator& comm, const Slice& slice, std::span<const SendField> send,
                 std::span<const ReceiveField> receive, int tag, bool plan_forwards) {
  std::optional<const FieldSide> from;
  std::optional<const FieldSide> to;
  Layout layout;
  all_or_none(comm, [&] {
    from.emplace(slice.send_to, send, true, comm.rank());
    to.emplace(slice.receive_from, receive, false, comm.rank());
    layout.send = from->places();
    layout.receive = to->places();
  });
  require_equal_numbers(comm, from->num_fields(), to->num_fields());
  require_equal_ends(comm, *from, *to, tag);
  int gaps = from->any_gaps() || to->any_gaps() ? 1 : 0;
  all_reduce(comm, MPI_IN_PLACE, &gaps, 1, MPI_INT, MPI_MAX);
  layout.are_all_bytes = gaps == 0;
  if (layout.are_all_bytes) layout.most_together = together_up_to * static_cast<Bytes>(from->num_fields());
  if (!plan_forwards) return layout;
  layout.ratio = agree_on_ratio(comm, *from, slice.table);
  all_or_none(comm, [&] { require_exact_parts(slice.table, layout); });
  return layout;
}

}  // namespace nuice::mpi
