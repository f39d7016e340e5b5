// SPDX-License-Identifier: BSD-3-Clause
#include "halo/movement.hpp"

#include <cstring>
#include <string>
#include <utility>

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
    if (field.wire != Wire::as_is && bytes % sizeof(double) != 0)
      throw Error(ErrorCode::invalid_argument, where +
                                                   "only doubles can travel in fewer bytes, and entries of " +
                                                   std::to_string(bytes) + " bytes are not doubles");
    require_room("owned", field.owned_bytes, static_cast<std::size_t>(pattern.num_owned), bytes, where);
    require_room("ghost", field.ghost_bytes, pattern.ghosts.size(), bytes, where);
  }
}

/// For the ranks that need owned entries, calls use(movement, field, entries of a partner, place of the
/// field's values in the messages).
template <typename Field, typename Use>
Movement lay_out(const Pattern& pattern, std::span<const Field> fields, std::vector<FieldBytes>& all,
                 Use&& use) {
  const EntryLists& needers = pattern.needers;
  std::size_t bytes_per_entry = 0;
  for (const Field& field : fields) bytes_per_entry += wire_bytes(field.wire, field.entry_bytes);
  Movement movement;
  movement.messages.resize(needers.values.size() * bytes_per_entry);
  std::size_t before = 0;  // bytes per entry of the fields before this one
  for (const Field& field : fields) {
    FieldBytes& bytes = all.emplace_back();
    const std::size_t entry_bytes = wire_bytes(field.wire, field.entry_bytes);
    const std::size_t short_bytes = field.wire == Wire::as_is ? 0 : pattern.ghosts.size() * entry_bytes;
    movement.short_ghosts.emplace_back(short_bytes);
    for (const Partner& owner : pattern.owners.messages(static_cast<Bytes>(entry_bytes)))
      bytes.with_owners.push_back(owner.bytes);
    for (const Partner& needer : needers.messages(static_cast<Bytes>(entry_bytes)))
      bytes.with_needers.push_back(needer.bytes);
    for (std::size_t p = 0; p < needers.num_partners(); ++p) {
      const std::size_t offset = needers.begin[p] * bytes_per_entry + needers.size(p) * before;
      bytes.offsets.push_back(static_cast<std::int64_t>(offset));
      use(movement, field, needers.list(p), movement.messages.data() + offset);
    }
    before += entry_bytes;
  }
  return movement;
}

/// Packs entries whose size is known at compile time. The copy of an entry is then a few instructions instead
/// of a call.
template <std::size_t Size>
void pack_fixed(const Pack& pack) {
  std::byte* to = pack.to;
  // A local pointer is used, because the compiler must assume that the written bytes may overlap `pack`.
  const std::byte* const from = pack.from;
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
  if (pack.wire != Wire::as_is)
    return narrow_entries(pack.wire, pack.to, pack.from, pack.entries, pack.entry_bytes / sizeof(double));
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

std::size_t doubles_in(std::size_t entries, std::int64_t entry_bytes) {
  return entries * (static_cast<std::size_t>(entry_bytes) / sizeof(double));
}

/// Fields that were sent in fewer bytes are converted back to doubles. Makes the combines of these fields,
/// one per needer and field, read the doubles.
void widen_what_arrives(Movement& movement, std::span<const ScatterField> fields) {
  const std::size_t needers = fields.empty() ? 0 : movement.combines.size() / fields.size();
  const auto bytes_of = [&](std::size_t at) {
    const ScatterField& field = fields[at / needers];
    return field.wire == Wire::as_is
               ? 0
               : movement.combines[at].entries.size() * static_cast<std::size_t>(field.entry_bytes);
  };
  std::size_t all = 0;
  for (std::size_t at = 0; at < movement.combines.size(); ++at) all += bytes_of(at);
  movement.wide.resize(all);
  std::byte* to = movement.wide.data();
  for (std::size_t at = 0; at < movement.combines.size(); ++at) {
    if (bytes_of(at) == 0) continue;
    const std::byte* const arrived = std::exchange(movement.combines[at].incoming, to);
    movement.after.push_back({fields[at / needers].wire, to, arrived, bytes_of(at) / sizeof(double)});
    to += bytes_of(at);
  }
}

}  // namespace

void Movement::pack() const {
  for (const Convert& one : before) narrow(one);
  for (const Pack& one : packs) pack_entries(one);
}

void Movement::unpack() const {
  for (const Convert& one : after) widen(one);
  for (const Combine& one : combines) one.combine(one.owned, one.incoming, one.entries, one.components);
}

void check_fields(const Pattern& pattern, std::span<const GatherField> fields, Rank rank) {
  check_all(pattern, fields, rank);
}
void check_fields(const Pattern& pattern, std::span<const ScatterField> fields, Rank rank) {
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].combine == nullptr)
      throw Error(ErrorCode::not_applicable, "rank " + std::to_string(rank) + ", field " + std::to_string(f) +
                                                 ": this operation does not exist for values of this type");
  check_all(pattern, fields, rank);
}

Movement movement_of(const Pattern& pattern, std::span<const GatherField> fields,
                     std::vector<FieldBytes>& bytes) {
  Movement result =
      lay_out(pattern, fields, bytes, [](auto& movement, auto& field, auto entries, std::byte* at) {
        movement.packs.push_back(
            {at, field.owned, entries, static_cast<std::size_t>(field.entry_bytes), field.wire});
      });
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].wire != Wire::as_is)
      result.after.push_back({fields[f].wire, fields[f].ghosts, result.short_ghosts[f].data(),
                              doubles_in(pattern.ghosts.size(), fields[f].entry_bytes)});
  return result;
}
Movement movement_of(const Pattern& pattern, std::span<const ScatterField> fields,
                     std::vector<FieldBytes>& bytes) {
  Movement result =
      lay_out(pattern, fields, bytes, [](auto& movement, auto& field, auto entries, std::byte* at) {
        movement.combines.push_back({field.combine, field.owned, at, entries, field.components});
      });
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].wire != Wire::as_is)
      result.before.push_back({fields[f].wire, result.short_ghosts[f].data(), fields[f].ghosts,
                               doubles_in(pattern.ghosts.size(), fields[f].entry_bytes)});
  widen_what_arrives(result, fields);
  return result;
}

}  // namespace nuice::mpi
