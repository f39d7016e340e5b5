// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/bind/table_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/call.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {
namespace {

/// Whether these places have no bytes. Both ends of such a message notice, so neither makes a request.
bool are_empty(const Places& places) {
  return std::ranges::all_of(
      places, [](const Segment& place) { return place.count == 0 || size_of(place.type) == 0; });
}

/// Joins contiguous bytes to one segment.
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

/// Returns the parts of a message if there are several, all are plain bytes, and together they have at most
/// `most` bytes. Returns no parts otherwise.
std::vector<Block> blocks_to_pack(const Places& places, Bytes most) {
  if (places.size() < 2) return {};
  std::vector<Block> blocks;
  Bytes bytes = 0;
  for (const Segment& segment : places) {
    if (segment.type != MPI_BYTE) return {};
    blocks.push_back({segment.at, segment.count});
    bytes += segment.count;
    if (bytes > most) return {};
  }
  return blocks;
}

/// Returns the places as one message. Adds a derived type to `types`.
Segment memory_of(const Places& places, std::vector<Datatype>& types) {
  if (places.empty()) return {nullptr, 0, MPI_BYTE};
  if (places.size() == 1) return places[0];
  types.push_back(Datatype::of_segments(places));
  return {static_cast<std::byte*>(MPI_BOTTOM), 1, types.back().get()};
}

/// Adds the pair of ranks to errors of act().
template <typename Act>
auto naming_pair(Rank src, Rank dst, Act&& act) {
  try {
    return act();
  } catch (const Error& error) {
    throw Error(error.code(), pair_name(src, dst) + ": " + error.what());
  }
}

/// Returns the same memory with a count that MPI can take.
Segment countable(const Segment& memory, std::vector<Datatype>& types) {
  Extent extent = Extent::of(memory.count, 1 << 30, memory.type);
  const Segment result{memory.at, extent.count, extent.type.get()};
  if (result.type != memory.type) types.push_back(std::move(extent.type));
  return result;
}

/// Copies of the user's types, each once, because users may free their types.
class KeptTypes {
 public:
  explicit KeptTypes(std::vector<Datatype>& types) : types_(types) {}

  MPI_Datatype kept(MPI_Datatype type) {
    if (type == MPI_BYTE) return type;
    for (const auto& [users, ours] : known_)
      if (users == type) return ours;
    types_.push_back(Datatype::copy_of(type));
    return known_.emplace_back(type, types_.back().get()).second;
  }

 private:
  std::vector<Datatype>& types_;
  std::vector<std::pair<MPI_Datatype, MPI_Datatype>> known_;
};

/// The memory for bytes that this rank forwards.
///
/// Every part that is received for another rank has its own place, in the order of the table. Places are not
/// reused: all receives are posted before the exchange begins, so a message of a late phase may arrive while
/// a message of an early phase is still here.
class Stage {
 public:
  /// bytes: the size of all parts that put() will get; 0 for a table of direct transfers.
  explicit Stage(Bytes bytes) {
    if (bytes > 0) memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  }

  // Call put() and take() in the order of the table's entries. Within an entry, the send comes before the
  // receive.

  /// Assigns a place to the part.
  Block put(const Part& part) {
    const Block place{memory_.get() + used_, part.bytes};
    used_ += part.bytes;
    messages_[{part.src, part.dst}].insert_or_assign(part.offset, place);
    return place;
  }

  /// Appends the places of the part, and frees them. Throws Error `mismatch` if a byte of the part was not
  /// put before, which cannot happen with a checked table.
  void take(const Part& part, std::vector<Block>& places) {
    Places& known = messages_[{part.src, part.dst}];
    Bytes at = part.offset;
    for (Bytes left = part.bytes; left > 0;) {
      const auto after = known.upper_bound(at);
      const auto found = after == known.begin() ? known.end() : std::prev(after);
      const bool is_there = found != known.end() && found->first + found->second.bytes > at;
      if (!is_there)
        throw Error(ErrorCode::mismatch, "byte " + std::to_string(at) + " of message rank " +
                                             std::to_string(part.src) + " -> rank " +
                                             std::to_string(part.dst) + " is forwarded before it arrives");
      const auto [begin, place] = *found;
      known.erase(found);
      const Bytes skipped = at - begin;
      const Bytes taken = std::min(left, place.bytes - skipped);
      const Bytes rest = place.bytes - skipped - taken;
      if (skipped > 0) known.insert_or_assign(begin, Block{place.at, skipped});
      if (rest > 0) known.insert_or_assign(at + taken, Block{place.at + skipped + taken, rest});
      places.push_back({place.at + skipped, taken});
      at += taken;
      left -= taken;
    }
  }

  /// Hands over the memory. It must outlive the requests that were made from the blocks.
  std::unique_ptr<std::byte[]> release() { return std::move(memory_); }

 private:
  using Places = std::map<Bytes, Block>;  // by offset in the message

  std::unique_ptr<std::byte[]> memory_;
  Bytes used_ = 0;
  std::map<std::pair<Rank, Rank>, Places> messages_;
};

class RequestMaker {
 public:
  RequestMaker(const Binding& binding, bool synchronous, Bytes tail_bytes)
      : binding_(binding),
        table_(binding.table),
        layout_(binding.layout),
        stage_(layout_.scaled(staged_bytes(table_))),
        synchronous_(synchronous),
        tail_bytes_(tail_bytes) {}

  TableRequests make() {
    made_.copies = binding_.settings.copies;
    binding_.arrivals.tell(made_.copies);
    for (const PhaseEntry& entry : table_.entries) {
      if (entry.send_partner != no_rank) add_sends(entry);
      if (entry.recv_partner != no_rank) add_receives(entry);
      made_.ends.push_back({made_.receives.size(), made_.sends.size()});
    }
    made_.stage = stage_.release();
    for (PackedMessages* const packed : {&made_.packed_sends, &made_.packed_receives})
      if (std::ranges::none_of(*packed, &PackedMessage::is_packed)) packed->clear();
    return std::move(made_);
  }

 private:
  Part scaled(const Part& part) const {
    return {part.src, part.dst, layout_.scaled(part.offset), layout_.scaled(part.bytes)};
  }

  void places_to_send(const PhaseEntry& entry, Places& places) {
    if (entry.send_parts.count == 0) {
      layout_.find(entry.send_partner, true, entry.send_offset, entry.send_bytes, places);
      return;
    }
    std::vector<Block> blocks;
    for (const Part& part : table_.parts_in(entry.send_parts)) {
      if (part.src == table_.rank) {
        layout_.find(part.dst, true, part.offset, part.bytes, places);
        continue;
      }
      blocks.clear();
      stage_.take(scaled(part), blocks);
      for (const Block& block : blocks) places.push_back({block.at, block.bytes, MPI_BYTE});
    }
  }

  void places_to_receive(const PhaseEntry& entry, Places& places) {
    if (entry.recv_parts.count == 0) {
      layout_.find(entry.recv_partner, false, entry.recv_offset, entry.recv_bytes, places);
      return;
    }
    for (const Part& part : table_.parts_in(entry.recv_parts)) {
      if (part.dst == table_.rank) {
        layout_.find(part.src, false, part.offset, part.bytes, places);
        continue;
      }
      const Block block = stage_.put(scaled(part));
      places.push_back({block.at, block.bytes, MPI_BYTE});
    }
  }

  /// Returns the sources whose messages, or pieces of them, the receive of this entry brings to this rank.
  std::vector<Rank> arrivals_of(const PhaseEntry& entry) const {
    if (entry.recv_parts.count == 0) return {entry.recv_partner};
    std::vector<Rank> sources;
    for (const Part& part : table_.parts_in(entry.recv_parts))
      if (part.dst == table_.rank) sources.push_back(part.src);
    return sources;
  }

  void add_sends(const PhaseEntry& entry) {
    Places places;
    places_to_send(entry, places);
    if (are_empty(places)) return;
    const bool apart = entry.send_parts.count == 0 && is_apart(entry.send_partner, true);
    if (!apart) {
      for (const Places& part : cut(joined(places), entry.send_partner, false))
        add_send(entry.send_partner, part);
      return;
    }
    for (const Segment& segment : places)
      for (const Places& part : cut({segment}, entry.send_partner, true)) add_send(entry.send_partner, part);
  }

  void add_receives(const PhaseEntry& entry) {
    Places places;
    places_to_receive(entry, places);
    if (are_empty(places)) return;
    const bool apart = entry.recv_parts.count == 0 && is_apart(entry.recv_partner, false);
    if (!apart) {
      for (const Places& part : cut(joined(places), entry.recv_partner, false)) {
        add_receive(entry.recv_partner, part);
        binding_.arrivals.add_receive(entry.recv_partner, arrivals_of(entry), part);
      }
      return;
    }
    for (const Segment& segment : places) {
      for (const Places& part : cut({segment}, entry.recv_partner, true)) {
        add_receive(entry.recv_partner, part);
        binding_.arrivals.add_receive(entry.recv_partner, {&entry.recv_partner, 1}, part);
      }
    }
  }

  /// Whether each segment is sent as a message of its own. Both ends give the same answer.
  bool is_apart(Rank partner, bool is_send) const {
    return binding_.settings.apart || layout_.one_by_one(partner, is_send);
  }

  std::vector<Places> cut(Places places, Rank partner, bool is_apart) const {
    if (std::ranges::binary_search(binding_.settings.whole_with, partner)) return {std::move(places)};
    const Bytes piece = binding_.settings.piece_bytes;
    if (piece > 0 && (is_apart || layout_.is_bytes())) return in_pieces(std::move(places), piece);
    const bool is_long = places.size() == 1 && tail_bytes_ > 0 && places[0].type == MPI_BYTE &&
                         places[0].count / 2 >= tail_bytes_ && layout_.is_bytes();
    if (!is_long) return {std::move(places)};
    const Bytes head = places[0].count - tail_bytes_;
    return {{{places[0].at, head, MPI_BYTE}}, {{places[0].at + head, tail_bytes_, MPI_BYTE}}};
  }

  /// Cuts a message into pieces. Requires that both ends hold its bytes in one place each. This holds for
  /// buffers, and for fields that are sent one by one.
  std::vector<Places> in_pieces(Places places, Bytes piece) const {
    const bool is_whole = places.size() != 1 || !layout_.are_all_bytes || !table_.parts.empty();
    const Bytes num_pieces = (places[0].count + piece - 1) / piece;
    if (is_whole || num_pieces < 2 || num_pieces > binding_.settings.most_pieces) return {std::move(places)};
    std::vector<Places> pieces;
    for (Bytes at = 0; at < places[0].count; at += piece)
      pieces.push_back({{places[0].at + at, std::min(piece, places[0].count - at), MPI_BYTE}});
    return pieces;
  }

  void add_receive(Rank from, const Places& places) {
    naming_pair(from, table_.rank, [&] {
      made_.receives.add(Requests::Mode::receive, memory_for(places, made_.packed_receives), from,
                         binding_.tag, binding_.comm->get());
    });
    made_.receive_from.push_back(from);
  }

  void add_send(Rank to, const Places& places) {
    using Mode = Requests::Mode;
    naming_pair(table_.rank, to, [&] {
      made_.sends.add(synchronous_ ? Mode::synchronous_send : Mode::send,
                      memory_for(places, made_.packed_sends), to, binding_.tag, binding_.comm->get());
    });
    made_.send_to.push_back(to);
    if (made_.copies == nullptr) return;
    std::vector<Block>& blocks = made_.lie_at.emplace_back();
    for (const Segment& place : places) blocks.push_back({place.at, place.count * size_of(place.type)});
  }

  /// Returns the memory of a message. If the message is packed, returns the memory of its packed copy, and
  /// adds an entry to `packed`.
  Segment memory_for(const Places& places, PackedMessages& packed) {
    const bool forwards = !table_.parts.empty();
    PackedMessage& message = packed.emplace_back();
    message.blocks = blocks_to_pack(places, forwards ? packed_message_bytes : packed_field_bytes);
    if (message.blocks.empty()) return memory_of(places, made_.types);
    Bytes bytes = 0;
    for (const Block& block : message.blocks) bytes += block.bytes;
    message.memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    return {message.memory.get(), bytes, MPI_BYTE};
  }

  const Binding& binding_;
  const PhaseTable& table_;
  const Layout& layout_;
  Stage stage_;
  bool synchronous_;
  Bytes tail_bytes_;
  TableRequests made_;
};

}  // namespace

TableRequests make_requests(const Binding& binding, bool synchronous, Bytes tail_bytes) {
  return RequestMaker(binding, synchronous, tail_bytes).make();
}

TableElements list_elements(const PhaseTable& table, const Layout& layout) {
  TableElements all;
  KeptTypes types(all.types);
  Places places;
  const auto add_all = [&](Rank partner, std::vector<TableElements::Elements>& elements) {
    for (const Segment& place : places)
      if (size_of(place.type) > 0)
        elements.push_back({partner, {place.at, place.count, types.kept(place.type)}});
    places.clear();
  };
  for (const PhaseEntry& entry : table.entries) {
    if (entry.send_partner != no_rank) {
      layout.find(entry.send_partner, true, entry.send_offset, entry.send_bytes, places);
      add_all(entry.send_partner, all.sends);
    }
    if (entry.recv_partner != no_rank) {
      layout.find(entry.recv_partner, false, entry.recv_offset, entry.recv_bytes, places);
      add_all(entry.recv_partner, all.receives);
    }
  }
  return all;
}

std::optional<SelfMessage> make_self_message(const PhaseTable& table, const Layout& layout) {
  const Rank rank = table.rank;
  Places from;
  Places to;
  for (const Partner& source : table.sources) {
    if (source.rank != rank) continue;
    layout.find(rank, true, 0, source.bytes, from);
    layout.find(rank, false, 0, source.bytes, to);
  }
  if (are_empty(from)) return {};
  SelfMessage message;
  if (layout.are_all_bytes && std::ranges::equal(from, to, {}, &Segment::count, &Segment::count)) {
    for (std::size_t i = 0; i < from.size(); ++i)
      message.copies.push_back({from[i].at, to[i].at, static_cast<std::size_t>(from[i].count)});
    return message;
  }
  KeptTypes types(message.types);
  for (Segment& segment : from) segment.type = types.kept(segment.type);
  for (Segment& segment : to) segment.type = types.kept(segment.type);
  naming_pair(rank, rank, [&] {
    message.from = countable(memory_of(from, message.types), message.types);
    message.to = countable(memory_of(to, message.types), message.types);
  });
  return message;
}

void SelfMessage::copy(const Communicator& comm, int tag) const {
  for (const auto& [source, destination, bytes] : copies) std::memcpy(destination, source, bytes);
  if (!copies.empty()) return;
  must(MPI_Sendrecv(from.at, static_cast<int>(from.count), from.type, comm.rank(), tag, to.at,
                    static_cast<int>(to.count), to.type, comm.rank(), tag, comm.get(), MPI_STATUS_IGNORE),
       "MPI_Sendrecv");
}

}  // namespace nuice::mpi
