// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/request_maker.hpp"

#include <algorithm>

#include "mpi/call.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

bool has_repeats(std::vector<Rank> partners) {
  std::ranges::sort(partners);
  return std::ranges::adjacent_find(partners) != partners.end();
}

/// Where the steps of this executor end. ends[i]: receives and sends made for entries 0 .. i.
std::vector<StepEnd> make_steps(const PhaseTable& table, const std::vector<StepEnd>& ends,
                                Executor executor) {
  std::vector<StepEnd> steps;
  if (executor == Executor::async) return {ends.empty() ? StepEnd{} : ends.back()};
  std::size_t entry = 0;
  StepEnd end;
  for (PhaseId phase = 0; phase < table.num_phases; ++phase) {
    for (; entry < ends.size() && table.entries[entry].phase == phase; ++entry) end = ends[entry];
    const StepEnd last = steps.empty() ? StepEnd{} : steps.back();
    const bool busy = end.receive > last.receive || end.send > last.send;
    if (busy || executor == Executor::barrier) steps.push_back(end);
  }
  return steps;
}

/// Both ends of a message have as many, so where there are none neither makes a request.
bool are_empty(const Places& places) {
  return std::ranges::all_of(
      places, [](const Segment& place) { return place.count == 0 || size_of(place.type) == 0; });
}

/// Bytes that lie one behind the other become one segment.
Places joined(const Places& places) {
  Places result;
  for (const Segment& segment : places) {
    const bool are_bytes = segment.type == MPI_BYTE && !result.empty() && result.back().type == MPI_BYTE;
    if (are_bytes && result.back().at + result.back().count == segment.at) {
      result.back().count += segment.count;
    } else {
      result.push_back(segment);
    }
  }
  return result;
}

/// Whether a message of several parts is short enough, and its parts are bytes.
bool is_packed(const Places& places) {
  Bytes bytes = 0;
  for (const Segment& segment : places) {
    if (segment.type != MPI_BYTE) return false;
    bytes += segment.count;
    if (bytes > packed_message_bytes) return false;
  }
  return places.size() > 1;
}

}  // namespace

Exchange::State::RequestMaker::RequestMaker(State& exchange, const PhaseTable& table, const Layout& layout,
                                            int tag, bool synchronous)
    : exchange_(exchange),
      table_(table),
      layout_(layout),
      stage_(layout.scaled(staged_bytes(table))),
      tag_(tag),
      synchronous_(synchronous) {}

void Exchange::State::RequestMaker::make(Executor executor) {
  std::vector<StepEnd> ends;
  for (const PhaseEntry& entry : table_.entries) {
    if (entry.send_partner != no_rank) add_sends(entry);
    if (entry.recv_partner != no_rank) add_receives(entry);
    ends.push_back({exchange_.receives.size(), exchange_.sends.size()});
  }
  exchange_.step_ends = make_steps(table_, ends, executor);
  exchange_.receives_repeat = has_repeats(exchange_.receive_from);
  exchange_.sends_repeat = has_repeats(exchange_.send_to);
  exchange_.stage = stage_.release();
}

void Exchange::State::RequestMaker::make_credit(const CreditRun::Settings& settings) {
  std::vector<CreditRun::Elements> outgoing;
  std::vector<CreditRun::Elements> incoming;
  Places places;
  const auto add_all = [&](Rank partner, std::vector<CreditRun::Elements>& elements) {
    for (const Segment& place : places)
      if (size_of(place.type) > 0) elements.push_back({partner, {place.at, place.count, kept(place.type)}});
  };
  for (const PhaseEntry& entry : table_.entries) {
    if (entry.send_partner != no_rank) {
      places.clear();
      layout_.find_to_send(entry.send_partner, entry.send_offset, entry.send_bytes, places);
      add_all(entry.send_partner, outgoing);
    }
    if (entry.recv_partner != no_rank) {
      places.clear();
      layout_.find_to_receive(entry.recv_partner, entry.recv_offset, entry.recv_bytes, places);
      add_all(entry.recv_partner, incoming);
    }
  }
  exchange_.credit = std::make_unique<CreditRun>(exchange_.comm, outgoing, incoming, settings);
  exchange_.credit->expect_chunks(exchange_.arrivals);
}

/// The type for as long as the exchange lives: the user may free his own.
MPI_Datatype Exchange::State::RequestMaker::kept(MPI_Datatype type) {
  if (type == MPI_BYTE) return type;
  for (const auto& [users, ours] : kept_)
    if (users == type) return ours;
  exchange_.types.push_back(Datatype::copy_of(type));
  kept_.emplace_back(type, exchange_.types.back().get());
  return kept_.back().second;
}

void Exchange::State::RequestMaker::make_self_message() {
  const Rank rank = table_.rank;
  Places from;
  Places to;
  for (const Partner& source : table_.sources) {
    if (source.rank != rank) continue;
    layout_.find_to_send(rank, 0, source.bytes, from);
    layout_.find_to_receive(rank, 0, source.bytes, to);
  }
  if (are_empty(from)) return;
  for (Segment& segment : from) segment.type = kept(segment.type);
  for (Segment& segment : to) segment.type = kept(segment.type);
  exchange_.self_message = {memory_of(from, rank, rank), memory_of(to, rank, rank), tag_};
}

Part Exchange::State::RequestMaker::scaled(const Part& part) const {
  return {part.src, part.dst, layout_.scaled(part.offset), layout_.scaled(part.bytes)};
}

void Exchange::State::RequestMaker::places_to_send(const PhaseEntry& entry, Places& places) {
  if (entry.send_parts.count == 0) {
    layout_.find_to_send(entry.send_partner, entry.send_offset, entry.send_bytes, places);
    return;
  }
  std::vector<Block> blocks;
  for (const Part& part : table_.parts_in(entry.send_parts)) {
    if (part.src == table_.rank) {
      layout_.find_to_send(part.dst, part.offset, part.bytes, places);
      continue;
    }
    blocks.clear();
    stage_.take(scaled(part), blocks);
    for (const Block& block : blocks) places.push_back({block.at, block.bytes, MPI_BYTE});
  }
}

void Exchange::State::RequestMaker::places_to_receive(const PhaseEntry& entry, Places& places) {
  if (entry.recv_parts.count == 0) {
    layout_.find_to_receive(entry.recv_partner, entry.recv_offset, entry.recv_bytes, places);
    return;
  }
  for (const Part& part : table_.parts_in(entry.recv_parts)) {
    if (part.dst == table_.rank) {
      layout_.find_to_receive(part.src, part.offset, part.bytes, places);
      continue;
    }
    const Block block = stage_.put(scaled(part));
    places.push_back({block.at, block.bytes, MPI_BYTE});
  }
}

/// Whose messages, or pieces of them, this entry's receive brings to this rank.
std::vector<Rank> Exchange::State::RequestMaker::arrivals_of(const PhaseEntry& entry) const {
  if (entry.recv_parts.count == 0) return {entry.recv_partner};
  std::vector<Rank> sources;
  for (const Part& part : table_.parts_in(entry.recv_parts))
    if (part.dst == table_.rank) sources.push_back(part.src);
  return sources;
}

void Exchange::State::RequestMaker::add_sends(const PhaseEntry& entry) {
  Places places;
  places_to_send(entry, places);
  if (are_empty(places)) return;
  const bool apart = entry.send_parts.count == 0 && layout_.one_by_one(entry.send_partner, true);
  if (!apart) {
    add_send(entry.send_partner, joined(places));
    return;
  }
  for (const Segment& segment : places) add_send(entry.send_partner, {segment});
}

void Exchange::State::RequestMaker::add_receives(const PhaseEntry& entry) {
  Places places;
  places_to_receive(entry, places);
  if (are_empty(places)) return;
  const bool apart = entry.recv_parts.count == 0 && layout_.one_by_one(entry.recv_partner, false);
  if (!apart) {
    add_receive(entry.recv_partner, joined(places));
    exchange_.arrivals.add_receive(arrivals_of(entry));
    return;
  }
  for (const Segment& segment : places) {
    add_receive(entry.recv_partner, {segment});
    exchange_.arrivals.add_receive({&entry.recv_partner, 1});
  }
}

void Exchange::State::RequestMaker::add_receive(Rank from, const Places& places) {
  const Memory memory = memory_of(places, from, table_.rank, exchange_.packed_receives);
  exchange_.receives.make_room();
  MPI_Request request;
  must(MPI_Recv_init(memory.at, memory.count, memory.type, from, tag_, exchange_.comm->get(), &request),
       "MPI_Recv_init");
  exchange_.receives.adopt(request);
  exchange_.receive_from.push_back(from);
}

void Exchange::State::RequestMaker::add_send(Rank to, const Places& places) {
  const Memory memory = memory_of(places, table_.rank, to, exchange_.packed_sends);
  exchange_.sends.make_room();
  exchange_.send_to.push_back(to);
  const bool is_short = memory.type == MPI_BYTE && memory.count <= short_message_bytes;
  if (is_short && !synchronous_) {
    exchange_.sends.add({memory.at, memory.count, to, tag_, exchange_.comm->get()});
    return;
  }
  const auto init = synchronous_ ? MPI_Ssend_init : MPI_Send_init;
  MPI_Request request;
  must(init(memory.at, memory.count, memory.type, to, tag_, exchange_.comm->get(), &request),
       synchronous_ ? "MPI_Ssend_init" : "MPI_Send_init");
  exchange_.sends.adopt(request);
}

Memory Exchange::State::RequestMaker::memory_of(const Places& places, Rank src, Rank dst,
                                                std::vector<PackedMessage>& packed) {
  const bool forwards = !table_.parts.empty();
  if (!forwards) return memory_of(places, src, dst);
  PackedMessage& message = packed.emplace_back();
  if (!is_packed(places)) return memory_of(places, src, dst);
  Bytes bytes = 0;
  for (const Segment& segment : places) {
    message.blocks.push_back({segment.at, segment.count});
    bytes += segment.count;
  }
  message.memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  return {message.memory.get(), static_cast<int>(bytes), MPI_BYTE};
}

/// As MPI takes it. A derived type lives as long as the exchange.
Memory Exchange::State::RequestMaker::memory_of(const Places& places, Rank src, Rank dst) {
  try {
    if (places.empty()) return {nullptr, 0, MPI_BYTE};
    if (places.size() > 1) {
      exchange_.types.push_back(Datatype::of_segments(places));
      return {MPI_BOTTOM, 1, exchange_.types.back().get()};
    }
    Extent extent = Extent::of(places[0].count, 1 << 30, places[0].type);
    const Memory memory{places[0].at, extent.count, extent.type.get()};
    if (memory.type != places[0].type) exchange_.types.push_back(std::move(extent.type));
    return memory;
  } catch (const Error& error) {
    throw Error(error.code(), pair_name(src, dst) + ": " + error.what());
  }
}

}  // namespace nuice::mpi
