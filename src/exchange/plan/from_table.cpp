// SPDX-License-Identifier: BSD-3-Clause
// Makes plans from schedules of other origin. The sends in all ranks' tables form a schedule, which
// nuice::check() checks, with every hop of forwarded messages. Slicing the schedule again must give the
// receives in the tables.
#include <algorithm>
#include <string>
#include <tuple>

#include "core/text/names.hpp"
#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "mpi/agree.hpp"
#include "mpi/discover/gather.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"

namespace nuice::mpi {
namespace {

[[noreturn]] void fail_table(const std::string& text) { throw Error(ErrorCode::mismatch, text); }

void check_partners(const std::vector<Partner>& partners, Rank rank, const std::string& what) {
  const bool ascending =
      std::ranges::adjacent_find(partners, std::ranges::greater_equal{}, &Partner::rank) == partners.end();
  if (!ascending || std::ranges::any_of(partners, [](const Partner& p) { return p.bytes <= 0; }))
    fail_table("the table of rank " + std::to_string(rank) + " does not list its " + what +
               " by ascending rank, with more than 0 bytes each");
}

/// Requires that each transfer's parts are in the table, that their bytes add up to the transfer's, and that
/// the transfer has no offset.
void check_parts(const PhaseTable& table) {
  const auto fits = [&](PartRange range, Bytes bytes, Bytes offset) {
    if (range.count == 0) return true;
    if (range.begin > table.parts.size() || range.count > table.parts.size() - range.begin) return false;
    for (const Part& part : table.parts_in(range)) {
      if (part.bytes <= 0 || part.bytes > bytes) return false;
      bytes -= part.bytes;
    }
    return bytes == 0 && offset == 0;
  };
  for (const PhaseEntry& entry : table.entries)
    if (!fits(entry.send_parts, entry.send_bytes, entry.send_offset) ||
        !fits(entry.recv_parts, entry.recv_bytes, entry.recv_offset))
      fail_table("the table of rank " + std::to_string(table.rank) + " has parts in phase " +
                 std::to_string(entry.phase) + " that do not add up to their transfer");
}

/// Checks what can be checked without the tables of other ranks.
void check_table(const Communicator& comm, const PhaseTable& table) {
  const std::string who = "the table of rank " + std::to_string(comm.rank());
  if (table.rank != comm.rank() || table.num_ranks != comm.num_ranks())
    fail_table(who + " of " + std::to_string(comm.num_ranks()) + " is made for rank " +
               std::to_string(table.rank) + " of " + std::to_string(table.num_ranks));
  check_partners(table.destinations, comm.rank(), "destinations");
  check_partners(table.sources, comm.rank(), "sources");
  check_parts(table);
  if (!std::ranges::is_sorted(table.entries, {}, &PhaseEntry::phase))
    fail_table(who + " has entries that are not in the order of phases");
  if (!table.entries.empty() && table.entries.back().phase >= table.num_phases)
    fail_table(who + " has an entry in phase " + std::to_string(table.entries.back().phase) + " of " +
               std::to_string(table.num_phases));
}

// The fields of a gathered record. A record describes a piece of a send, and its position says which rank
// sends the piece. A send of n pieces has n records, of which the first says n.
enum PieceField {
  field_phase,
  field_dst,
  field_message_src,
  field_message_dst,
  field_offset,
  field_bytes,
  field_num_pieces,
  num_fields
};

std::vector<std::int64_t> pack_sends(const PhaseTable& table) {
  std::vector<std::int64_t> pieces;
  for (const PhaseEntry& entry : table.entries) {
    if (entry.send_partner == no_rank) continue;
    const Part whole{table.rank, entry.send_partner, entry.send_offset, entry.send_bytes};
    const auto parts = entry.send_parts.count > 0 ? table.parts_in(entry.send_parts) : std::span(&whole, 1);
    std::int64_t num_pieces = std::ssize(parts);
    for (const Part& part : parts) {
      pieces.insert(pieces.end(), {entry.phase, entry.send_partner, part.src, part.dst, part.offset,
                                   part.bytes, num_pieces});
      num_pieces = 0;
    }
  }
  return pieces;
}

Piece piece_of(const CommMatrix& matrix, Rank sender, std::span<const std::int64_t> record) {
  const auto is_rank = [&](std::int64_t rank) { return rank >= 0 && rank < matrix.num_ranks(); };
  const auto dst = static_cast<Rank>(record[field_dst]);
  const bool real = is_rank(dst) && dst != sender && is_rank(record[field_message_src]) &&
                    is_rank(record[field_message_dst]);
  const auto id = real ? matrix.find(static_cast<Rank>(record[field_message_src]),
                                     static_cast<Rank>(record[field_message_dst]))
                       : std::nullopt;
  if (!id)
    fail_table("phase " + std::to_string(record[field_phase]) + ", " + pair_name(sender, dst) +
               ": the send belongs to no message");
  return {*id, record[field_offset], record[field_bytes]};
}

/// Returns the schedule that consists of all ranks' sends. Within a phase, sends are ordered by rank. The
/// sends of one rank keep the order of its table.
Schedule assemble(const CommMatrix& matrix, const Gathered& sends) {
  struct Send {
    Rank src;
    int record;
  };
  std::vector<Send> order;
  order.reserve(static_cast<std::size_t>(sends.begin.back()));
  for (Rank src = 0; src < matrix.num_ranks(); ++src)
    for (int i = sends.begin[static_cast<std::size_t>(src)];
         i < sends.begin[static_cast<std::size_t>(src) + 1]; ++i)
      if (sends.record(i)[field_num_pieces] > 0) order.push_back({src, i});
  const auto phase_of = [&](const Send& send) { return sends.record(send.record)[field_phase]; };
  std::ranges::stable_sort(order, {}, phase_of);

  Schedule schedule(matrix.num_ranks());
  std::int64_t phase = -1;
  std::vector<Piece> pieces;
  for (const Send& send : order) {
    const auto record = sends.record(send.record);
    if (record[field_phase] != phase) schedule.begin_phase();
    phase = record[field_phase];
    const auto dst = static_cast<Rank>(record[field_dst]);
    pieces.clear();
    for (int i = 0; i < record[field_num_pieces]; ++i)
      pieces.push_back(piece_of(matrix, send.src, sends.record(send.record + i)));
    schedule.add(send.src, dst, pieces);
  }
  return schedule;
}

bool forwards(const CommMatrix& matrix, const Schedule& schedule) {
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    for (const Transfer& transfer : schedule.transfers(phase))
      for (const Piece& piece : transfer.pieces)
        if (matrix.src(piece.message) != transfer.src || matrix.dst(piece.message) != transfer.dst)
          return true;
  return false;
}

struct Receive {
  PhaseId phase;
  Rank src;
  Bytes offset;
  Bytes bytes;
  std::span<const Part> parts;
  auto key() const { return std::tuple(phase, src); }
  friend bool operator==(const Receive& a, const Receive& b) {
    return a.key() == b.key() && a.offset == b.offset && a.bytes == b.bytes &&
           std::ranges::equal(a.parts, b.parts);
  }
};

/// Returns the receives by phase and source. Receives from one source in one phase keep their order, because
/// MPI matches them in that order.
std::vector<Receive> receives_of(const PhaseTable& table) {
  std::vector<Receive> receives;
  for (const PhaseEntry& entry : table.entries)
    if (entry.recv_partner != no_rank)
      receives.push_back({entry.phase, entry.recv_partner, entry.recv_offset, entry.recv_bytes,
                          table.parts_in(entry.recv_parts)});
  std::ranges::stable_sort(receives, {}, &Receive::key);
  return receives;
}

/// "12 bytes at offset 0 (8 bytes at offset 0 of rank 0 -> rank 2, 4 bytes at offset 0 of rank 0 -> rank 1)"
std::string text_of(const Receive& receive) {
  const auto range = [](Bytes bytes, Bytes offset) {
    return std::to_string(bytes) + " bytes at offset " + std::to_string(offset);
  };
  std::string parts;
  for (const Part& part : receive.parts)
    parts += (parts.empty() ? " (" : ", ") + range(part.bytes, part.offset) + " of " +
             pair_name(part.src, part.dst);
  return range(receive.bytes, receive.offset) + parts + (parts.empty() ? "" : ")");
}

void check_receives(const PhaseTable& mine, const PhaseTable& sent) {
  const std::vector<Receive> expected = receives_of(mine);
  const std::vector<Receive> coming = receives_of(sent);
  const auto [e, c] = std::ranges::mismatch(expected, coming);
  const bool is_expected = e != expected.end() && (c == coming.end() || e->key() <= c->key());
  const bool is_sent = c != coming.end() && (e == expected.end() || c->key() <= e->key());
  if (!is_expected && !is_sent) return;
  const Receive& which = is_expected ? *e : *c;
  fail_table("phase " + std::to_string(which.phase) + ", " + pair_name(which.src, mine.rank) + ": " +
             (is_sent ? text_of(*c) : "nothing") + " is sent, " + (is_expected ? text_of(*e) : "nothing") +
             " is expected");
}

void check_sources(const PhaseTable& mine, const PhaseTable& sent) {
  if (mine.sources == sent.sources) return;
  const auto bytes_from = [](const PhaseTable& table, Rank src) {
    const auto at = std::ranges::find(table.sources, src, &Partner::rank);
    return at == table.sources.end() ? Bytes{0} : at->bytes;
  };
  const auto compare = [&](Rank src) {
    if (bytes_from(mine, src) != bytes_from(sent, src))
      fail_table(pair_name(src, mine.rank) + ": " + std::to_string(bytes_from(sent, src)) +
                 " bytes are sent, " + std::to_string(bytes_from(mine, src)) + " are expected");
  };
  for (const Partner& source : mine.sources) compare(source.rank);
  for (const Partner& source : sent.sources) compare(source.rank);
}

}  // namespace

void Plan::Planner::take_table(MPI_Comm parent, const PhaseTable& given, const PlanOptions& wanted) {
  become_member(parent, wanted.watchdog_s);
  PlanOptions options = agree_on_options(wanted);
  if (options.executor == auto_name) options.executor = default_executor;
  if (options.scheduler == auto_name) options.scheduler = "rs_n";  // a name, by which follow() plans
  if (options.planning == Planning::distributed) {
    all_or_none(*comm, [&] {
      check_table(*comm, given);
      destinations = given.destinations;
      slice.table = given;
    });
    take_distributed(options);
    list_as_in_table();
    return;
  }
  find_hosts(options);
  info.combined = false;  // the table alone determines the exchange
  std::vector<std::int64_t> my_sends;
  all_or_none(*comm, [&] {
    check_table(*comm, given);
    my_sends = pack_sends(given);
    destinations = given.destinations;
    slice.table = given;
  });

  StopWatch watch;
  const CommMatrix matrix = gather_matrix(*comm, slice.table.destinations);
  const Gathered sends = gather_records(*comm, my_sends, num_fields);
  info.gather_s = watch.lap();
  all_or_none(*comm, [&] {
    const Schedule schedule = assemble(matrix, sends);
    const bool same_phases = schedule.num_phases() == slice.table.num_phases;
    if (!same_phases)
      fail_table("the table of rank " + std::to_string(comm->rank()) + " has " +
                 std::to_string(slice.table.num_phases) + " phases, the ranks send in " +
                 std::to_string(schedule.num_phases()));
    if (const auto violation = check(matrix, schedule, 0)) fail_table(violation->text);
    if (forwards(matrix, schedule))
      require_phases_to_forward("the schedule", find_executor(options.executor));
    const PhaseTable sent = nuice::slice(matrix, schedule, comm->rank());
    check_sources(slice.table, sent);
    check_receives(slice.table, sent);
    describe(matrix, schedule, options);
    const bool has_network =
        find_executor(options.executor).pace == Pace::notices && !options.topology.empty();
    const auto network = has_network ? make_topology(options.topology) : nullptr;
    slice.notices = notices_for(schedule, network.get(), options);
  });
  info.check_s = watch.lap();
  find_leaders();
  list_as_in_table();
}

void Plan::Planner::list_as_in_table() {
  all_or_none(*comm, [&] {
    slice.send_to = slice.table.destinations;
    slice.receive_from = slice.table.sources;
  });
  agree_on_times();
}

Plan Plan::from_table(MPI_Comm parent, const PhaseTable& table, const PlanOptions& options) {
  Planner planner(PlanGroup::tags_for_plan(parent, options.watchdog_s));
  naming_dead_ranks(*planner.comm, [&] { planner.take_table(parent, table, options); });
  return Plan(std::move(planner).finished());
}

}  // namespace nuice::mpi
