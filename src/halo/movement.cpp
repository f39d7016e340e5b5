// SPDX-License-Identifier: BSD-3-Clause
#include "halo/movement.hpp"

#include <cstring>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

void require_room(const char* kind, std::size_t bytes, std::size_t entries, std::size_t entry_bytes,
                  const std::string& where) {
  const std::size_t needed = entries * entry_bytes;
  if (bytes >= needed) return;
  throw Error(ErrorCode::invalid_argument, where + "the " + kind + " values have " + std::to_string(bytes) +
                                               " bytes; " + std::to_string(entries) + " entries of " +
                                               std::to_string(entry_bytes) + " bytes need " +
                                               std::to_string(needed));
}

template <typename Field>
void check_all(const Pattern& pattern, std::span<const Field> fields, Rank rank) {
  const std::string here = "rank " + std::to_string(rank);
  if (fields.empty()) throw Error(ErrorCode::invalid_argument, here + " binds a halo to no field");
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const Field& field = fields[f];
    const std::string where = here + ", field " + std::to_string(f) + ": ";
    if (field.entry_bytes <= 0)
      throw Error(ErrorCode::invalid_argument, where + "fewer than one component per entry");
    const auto bytes = static_cast<std::size_t>(field.entry_bytes);
    require_room("owned", field.owned_bytes, static_cast<std::size_t>(pattern.num_owned), bytes, where);
    require_room("ghost", field.ghost_bytes, pattern.ghosts.size(), bytes, where);
  }
}

/// The messages to or from the partners of `lists`, one behind the other.
template <typename Field>
class Layout {
 public:
  Layout(const EntryLists& lists, std::span<const Field> fields) : lists_(lists), fields_(fields) {
    for (const Field& field : fields) all_fields_ += static_cast<std::size_t>(field.entry_bytes);
  }

  std::size_t total_bytes() const { return lists_.entries.size() * all_fields_; }

  template <typename Buffer, typename Memory>
  std::vector<Buffer> buffers(Memory* memory) const {
    std::vector<Buffer> all;
    for (std::size_t p = 0; p < lists_.num_partners(); ++p)
      all.push_back(
          {memory + lists_.begin[p] * all_fields_, static_cast<Bytes>(lists_.list(p).size() * all_fields_)});
    return all;
  }

  /// use(partner, field, begin of that field's values in the memory), by partner, then by field.
  template <typename Use>
  void for_each_part(Use&& use) const {
    for (std::size_t p = 0; p < lists_.num_partners(); ++p) {
      std::size_t at = lists_.begin[p] * all_fields_;
      for (const Field& field : fields_) {
        use(p, field, at);
        at += lists_.list(p).size() * static_cast<std::size_t>(field.entry_bytes);
      }
    }
  }

 private:
  const EntryLists& lists_;
  std::span<const Field> fields_;
  std::size_t all_fields_ = 0;
};

/// Where the ghosts of an owner begin among the values of a field, and how many bytes they have.
template <typename Field>
std::pair<std::size_t, std::size_t> ghost_run(const Pattern& pattern, const Field& field, std::size_t owner) {
  const auto bytes = static_cast<std::size_t>(field.entry_bytes);
  return {pattern.owners.begin[owner] * bytes, pattern.owners.list(owner).size() * bytes};
}

/// The size is a constant where it is a usual one: then the copy is a move, and no call.
template <std::size_t Size>
void pack_fixed(const Pack& pack) {
  std::byte* to = pack.to;
  const std::byte* const from =
      pack.from;  // bytes are written, which might be pack's own as far as the compiler knows
#pragma GCC unroll 4
  for (const LocalIndex entry : pack.entries) {
    std::memcpy(to, from + static_cast<std::size_t>(entry) * Size, Size);
    to += Size;
  }
}

void pack_any(const Pack& pack) {
  std::byte* to = pack.to;
  for (const LocalIndex entry : pack.entries) {
    std::memcpy(to, pack.from + static_cast<std::size_t>(entry) * pack.entry_bytes, pack.entry_bytes);
    to += pack.entry_bytes;
  }
}

void pack_entries(const Pack& pack) {
  switch (pack.entry_bytes) {
    case 4:
      pack_fixed<4>(pack);
      break;
    case 8:
      pack_fixed<8>(pack);
      break;
    case 16:
      pack_fixed<16>(pack);
      break;
    case 24:
      pack_fixed<24>(pack);
      break;
    case 32:
      pack_fixed<32>(pack);
      break;
    default:
      pack_any(pack);
  }
}

void copy_all(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) std::memcpy(copy.to, copy.from, copy.bytes);
}

}  // namespace

void Movement::pack() const {
  for (const Pack& one : packs) pack_entries(one);
  copy_all(copies_out);
}

void Movement::unpack() const {
  copy_all(copies_in);
  for (const Combine& one : combines) one.combine(one.owned, one.incoming, one.entries, one.components);
}

void check_fields(const Pattern& pattern, std::span<const GatherField> fields, Rank rank) {
  check_all(pattern, fields, rank);
}
void check_fields(const Pattern& pattern, std::span<const ScatterField> fields, Rank rank) {
  check_all(pattern, fields, rank);
}

Movement move_to_ghosts(const Pattern& pattern, std::span<const GatherField> fields) {
  const bool direct = fields.size() == 1;
  const Layout out(pattern.needers, fields);
  const Layout in(pattern.owners, fields);
  Movement move;
  move.send_memory.resize(out.total_bytes());
  out.for_each_part([&](std::size_t p, const GatherField& field, std::size_t at) {
    move.packs.push_back({move.send_memory.data() + at, field.owned, pattern.needers.list(p),
                          static_cast<std::size_t>(field.entry_bytes)});
  });
  move.send = out.buffers<SendBuffer>(move.send_memory.data());
  if (direct) {
    move.receive = in.buffers<ReceiveBuffer>(fields[0].ghosts);
    return move;
  }
  move.receive_memory.resize(in.total_bytes());
  in.for_each_part([&](std::size_t p, const GatherField& field, std::size_t at) {
    const auto [begin, bytes] = ghost_run(pattern, field, p);
    move.copies_in.push_back({field.ghosts + begin, move.receive_memory.data() + at, bytes});
  });
  move.receive = in.buffers<ReceiveBuffer>(move.receive_memory.data());
  return move;
}

Movement move_to_owners(const Pattern& pattern, std::span<const ScatterField> fields) {
  const bool direct = fields.size() == 1;
  const Layout out(pattern.owners, fields);
  const Layout in(pattern.needers, fields);
  Movement move;
  move.receive_memory.resize(in.total_bytes());
  in.for_each_part([&](std::size_t p, const ScatterField& field, std::size_t at) {
    move.combines.push_back({field.combine, field.owned, move.receive_memory.data() + at,
                             pattern.needers.list(p), field.components});
  });
  move.receive = in.buffers<ReceiveBuffer>(move.receive_memory.data());
  if (direct) {
    move.send = out.buffers<SendBuffer>(fields[0].ghosts);
    return move;
  }
  move.send_memory.resize(out.total_bytes());
  out.for_each_part([&](std::size_t p, const ScatterField& field, std::size_t at) {
    const auto [begin, bytes] = ghost_run(pattern, field, p);
    move.copies_out.push_back({move.send_memory.data() + at, field.ghosts + begin, bytes});
  });
  move.send = out.buffers<SendBuffer>(move.send_memory.data());
  return move;
}

}  // namespace nuice::mpi
