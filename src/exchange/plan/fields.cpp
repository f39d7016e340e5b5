// SPDX-License-Identifier: BSD-3-Clause
// Binds a plan to several fields of any MPI datatypes, exchanged in one run of the schedule.
//
// The plan's bytes are shares: a piece [o, o + b) of a message of B bytes takes elements [c o / B, c (o + b) / B) of a field
// that has c elements for that partner, rounded down, so the pieces of a split message meet without gap or overlap
// whatever c is. Sender and receiver have the same c and the same bytes per element, which bind_fields() verifies pair
// by pair; then they cut alike.
//
// A transfer is one MPI message of a derived datatype. Where a message has so many bytes that packing them costs more than
// more start-ups, and no field of any rank has gaps (those MPI must pack anyway, and packs better together), it is one
// message per field.
//
// Forwarding ranks do not know the fields of others. They can scale their staging memory if all messages grow by the same
// ratio, which is then agreed on.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

#include "exchange/bind/request_maker.hpp"
#include "exchange/plan/plan_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Mean bytes of a field in a message above which fields without gaps travel one by one. About where both take as long
/// between two ranks of one machine.
constexpr Bytes together_up_to = 65536;

struct Field {
  std::byte* base;
  MPI_Datatype type;
  Bytes size;                         // of an element
  Bytes extent;                       // from one element to the next
  std::vector<std::int64_t> counts;   // by partner
  std::vector<std::int64_t> offsets;  // by partner, in elements
};

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

/// What the fields of one side have for each of its partners.
class Side {
 public:
  template <typename AnyField>
  Side(std::span<const Partner> partners, std::span<const AnyField> fields, bool is_send, Rank rank)
      : partners_(partners.begin(), partners.end()), is_send_(is_send), rank_(rank) {
    for (std::size_t i = 0; i < partners.size(); ++i) index_[partners[i].rank] = i;
    for (const AnyField& field : fields)
      add(const_cast<void*>(static_cast<const void*>(field.data)), field.type, field.counts, field.offsets);
    for (std::size_t i = 0; i < partners_.size(); ++i)
      if (partners_[i].bytes == 0 && bytes_with(i) > 0)
        fail(pair(i) + ": " + std::to_string(bytes_with(i)) +
             " bytes of fields, but the plan has no message");
  }

  std::size_t num_fields() const { return fields_.size(); }
  const std::vector<Partner>& partners() const { return partners_; }
  const Field& field(std::size_t f) const { return fields_[f]; }

  Bytes bytes_with(std::size_t partner) const {
    Bytes bytes = 0;
    for (const Field& field : fields_) bytes += field.counts[partner] * field.size;
    return bytes;
  }
  bool any_gaps() const {
    return std::ranges::any_of(fields_, [](const Field& field) { return !are_plain_bytes(field.type); });
  }
  /// Of the partner of this rank, which must be one.
  Bytes bytes_with_rank(Rank rank) const { return bytes_with(index_.at(rank)); }

  void find(Rank rank, Bytes offset, Bytes bytes, Places& places) const {
    const auto found = index_.find(rank);
    if (found == index_.end()) return;
    const Bytes whole = partners_[found->second].bytes;
    for (const Field& field : fields_) {
      const std::int64_t count = field.counts[found->second];
      const std::int64_t begin = share(count, offset, whole);
      const std::int64_t end = share(count, offset + bytes, whole);
      if (begin < end)
        places.push_back(
            {field.base + (field.offsets[found->second] + begin) * field.extent, end - begin, field.type});
    }
  }

  std::string pair(std::size_t partner) const {
    const Rank other = partners_[partner].rank;
    return is_send_ ? pair_name(rank_, other) : pair_name(other, rank_);
  }

  static std::int64_t share(std::int64_t count, Bytes offset, Bytes whole) {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(count) * offset / whole);
  }

 private:
  std::string name(std::size_t f) const {
    return "rank " + std::to_string(rank_) + ": " + (is_send_ ? "send" : "receive") + " field " +
           std::to_string(f);
  }

  void add(void* data, MPI_Datatype type, std::span<const std::int64_t> counts,
           std::span<const std::int64_t> offsets) {
    const std::string who = name(fields_.size());
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

  std::vector<Partner> partners_;
  bool is_send_;
  Rank rank_;
  std::map<Rank, std::size_t> index_;
  std::vector<Field> fields_;
};

/// Bytes of fields for so many bytes of the plan, the same for all messages of all ranks.
struct Ratio {
  Bytes fields = 1;
  Bytes plan = 1;
};

class FieldLayout : public Layout {
 public:
  FieldLayout(const Side& send, const Side& receive, Ratio ratio, bool any_gaps)
      : send_(send), receive_(receive), ratio_(ratio), any_gaps_(any_gaps) {}

  void find_to_send(Rank dst, Bytes offset, Bytes bytes, Places& places) const override {
    send_.find(dst, offset, bytes, places);
  }
  void find_to_receive(Rank src, Bytes offset, Bytes bytes, Places& places) const override {
    receive_.find(src, offset, bytes, places);
  }
  Bytes scaled(Bytes bytes) const override {
    __extension__ using Wide = __int128;
    return static_cast<Bytes>(static_cast<Wide>(bytes) * ratio_.fields / ratio_.plan);
  }
  bool one_by_one(Rank partner, bool is_send) const override {
    const Side& side = is_send ? send_ : receive_;
    return !any_gaps_ &&
           side.bytes_with_rank(partner) > together_up_to * static_cast<Bytes>(side.num_fields());
  }

 private:
  const Side& send_;
  const Side& receive_;
  Ratio ratio_;
  bool any_gaps_;  // in a field of any rank
};

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

/// Collective. That both ends of every message have as many elements of the same size, field by field.
void require_equal_ends(const Communicator& comm, const Side& send, const Side& receive, int tag) {
  const std::size_t width = 2 * send.num_fields();
  if (width == 0) return;
  const auto describe = [&](const Side& side) {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < side.partners().size(); ++i)
      for (std::size_t f = 0; f < side.num_fields(); ++f)
        numbers.insert(numbers.end(), {side.field(f).counts[i], side.field(f).size});
    return numbers;
  };
  std::vector<std::int64_t> sent = describe(send);
  const std::vector<std::int64_t> expected = describe(receive);
  std::vector<std::int64_t> told(expected.size());
  std::vector<MPI_Request> receives;
  std::vector<MPI_Request> sends;
  try {
    for (std::size_t i = 0; i < receive.partners().size(); ++i)
      if (receive.partners()[i].bytes > 0)
        must(MPI_Irecv(told.data() + i * width, static_cast<int>(width), MPI_INT64_T,
                       receive.partners()[i].rank, tag, comm.get(), &receives.emplace_back(MPI_REQUEST_NULL)),
             "MPI_Irecv");
    for (std::size_t i = 0; i < send.partners().size(); ++i)
      if (send.partners()[i].bytes > 0)
        must(MPI_Isend(sent.data() + i * width, static_cast<int>(width), MPI_INT64_T, send.partners()[i].rank,
                       tag, comm.get(), &sends.emplace_back(MPI_REQUEST_NULL)),
             "MPI_Isend");
    must(MPI_Waitall(static_cast<int>(receives.size()), receives.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    must(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  } catch (const Error&) {
    cancel_receives(receives);
    throw;
  }
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

/// Collective. For plans that forward. Throws Error not_applicable where two messages grow differently, or a part of a
/// message cannot be cut where its elements are.
Ratio agree_on_ratio(const Communicator& comm, const Side& send, const PhaseTable& table) {
  constexpr Bytes none = std::numeric_limits<Bytes>::max();
  std::array<Bytes, 4> extremes = {none, none, 0, 0};  // least fields, plan; minus the most of both
  for (std::size_t i = 0; i < send.partners().size(); ++i) {
    const Bytes plan = send.partners()[i].bytes;
    if (plan == 0 || send.partners()[i].rank == table.rank) continue;
    const Bytes fields = send.bytes_with(i);
    const Bytes common = std::gcd(fields, plan);
    extremes = {std::min(extremes[0], fields / common), std::min(extremes[1], plan / common),
                std::min(extremes[2], -fields / common), std::min(extremes[3], -plan / common)};
  }
  all_reduce(comm, MPI_IN_PLACE, extremes.data(), 4, MPI_INT64_T, MPI_MIN);
  const bool no_messages = extremes[0] == none;
  if (no_messages) return {};
  const Ratio ratio{extremes[0], extremes[1]};
  all_or_none(comm, [&] {
    if (ratio.fields != -extremes[2] || ratio.plan != -extremes[3])
      throw Error(
          ErrorCode::not_applicable,
          "the plan forwards messages, so the fields must have the same bytes per byte of the plan in all of "
          "them");
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

/// The parts that this rank cuts from its own messages, or puts together, must be what the ranks between expect.
void require_exact_parts(const PhaseTable& table, const Layout& layout) {
  const auto check = [&](const Part& part, bool is_send) {
    Places places;
    is_send ? layout.find_to_send(part.dst, part.offset, part.bytes, places)
            : layout.find_to_receive(part.src, part.offset, part.bytes, places);
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

Exchange Plan::bind_field_table(const PhaseTable& table, const Ends<SendField>& send,
                                const Ends<ReceiveField>& receive) {
  State& plan = state();
  const Communicator& comm = *plan.comm;
  std::optional<Side> from;
  std::optional<Side> to;
  all_or_none(comm, [&] {
    from.emplace(send.partners, send.buffers, true, comm.rank());
    to.emplace(receive.partners, receive.buffers, false, comm.rank());
  });
  require_equal_numbers(comm, from->num_fields(), to->num_fields());
  require_equal_ends(comm, *from, *to, plan.next_tag);
  const bool is_backwards = &table != &plan.table;
  const auto fits_window = [&] {
    Bytes bytes = 0;
    for (std::size_t i = 0; i < to->partners().size(); ++i)
      if (plan.comes_over_port(to->partners()[i].rank)) bytes += to->bytes_with(i);
    return bytes <= plan.windows.of(is_backwards);
  };
  std::array<int, 2> facts = {from->any_gaps() || to->any_gaps() ? 1 : 0,
                              plan.info.executor == Executor::credit && fits_window() ? 0 : 1};
  all_reduce(comm, MPI_IN_PLACE, facts.data(), 2, MPI_INT, MPI_MAX);
  const bool any_gaps = facts[0] != 0;
  const bool windows_hold_all = facts[1] == 0;
  const bool forwards = plan.info.staged_bytes > 0;
  const Ratio ratio = forwards ? agree_on_ratio(comm, *from, table) : Ratio{};
  std::unique_ptr<Exchange::State> exchange;
  all_or_none(comm, [&] {
    const FieldLayout layout(*from, *to, ratio, any_gaps);
    if (forwards) require_exact_parts(table, layout);
    exchange = plan.new_exchange();
    exchange->arrivals.set_sources(receive.partners,
                                   std::vector<std::span<std::byte>>(receive.partners.size()));
    plan.make_requests(*exchange, table, layout, windows_hold_all);
  });
  return plan.finish_bind(std::move(exchange));
}

Exchange Plan::bind_fields(std::span<const SendField> send, std::span<const ReceiveField> receive) {
  return State::binding(state_.get(), Call::bind_fields, [&](State& plan) {
    return bind_field_table(plan.table, {plan.destinations, send}, {plan.table.sources, receive});
  });
}

Exchange Plan::bind_fields_reverse(std::span<const SendField> send, std::span<const ReceiveField> receive) {
  return State::binding(state_.get(), Call::bind_fields_reverse, [&](State& plan) {
    return bind_field_table(plan.reversed_table(), {plan.table.sources, send}, {plan.destinations, receive});
  });
}

}  // namespace nuice::mpi
