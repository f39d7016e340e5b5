// SPDX-License-Identifier: BSD-3-Clause
#include "halo/device_movement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "core/text/names.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

struct Values {
  const std::byte* at;
  std::size_t bytes;
};
template <typename Field>
Values owned_of(const Field& field) {
  return {field.owned, field.owned_bytes};
}
template <typename Field>
Values ghosts_of(const Field& field) {
  return {field.ghosts, field.ghost_bytes};
}

template <typename Field>
device::Location place_of(std::span<const Field> fields, Values (*values_of)(const Field&), const char* name,
                          Rank rank) {
  device::Location all;
  bool is_first = true;
  for (const Field& field : fields) {
    const auto [values, bytes] = values_of(field);
    if (bytes == 0) continue;
    const device::Location at = device::locate(values);
    if (std::exchange(is_first, false)) all = at;
    if (at.driver != all.driver || at.device != all.device)
      throw Error(ErrorCode::invalid_argument, rank_name(rank) + ": the " + name + " values lie on " +
                                                   all.name() + " and on " + at.name() +
                                                   ": the values of all fields must be in one place");
  }
  return all;
}

/// Returns a copy of whole entries, expressed in units of up to 16 bytes.
device::IndexedCopy copy_of(const device::Location& at, const std::byte* owned, std::int64_t entry_bytes,
                            std::span<const LocalIndex> entries) {
  auto unit = std::gcd(static_cast<std::uint64_t>(entry_bytes), std::uint64_t{device::unit_sizes.back()});
  unit = std::gcd(unit, reinterpret_cast<std::uintptr_t>(owned));
  const auto units = static_cast<std::uint64_t>(entry_bytes) / unit;
  std::vector<device::Index> index;
  index.reserve(entries.size() * units);
  for (const LocalIndex entry : entries) {
    const std::uint64_t first = static_cast<std::uint64_t>(entry) * units;
    if (first + units > std::numeric_limits<device::Index>::max())
      throw Error(ErrorCode::limit, "owned values in device memory are too large for 32-bit indices");
    for (std::uint64_t u = 0; u < units; ++u) index.push_back(static_cast<device::Index>(first + u));
  }
  return {at, const_cast<std::byte*>(owned), static_cast<std::size_t>(unit), std::move(index)};
}

/// Rounds up, so that units of every size are aligned there.
std::size_t next_begin(std::size_t end) { return (end + 15) / 16 * 16; }

}  // namespace

template <typename Field>
bool any_on_device(std::span<const Field> fields) {
  if (!device::any_driver()) return false;
  try {
    return std::ranges::any_of(fields, [](const Field& field) {
      return device::locate(field.owned).is_on_device() || device::locate(field.ghosts).is_on_device();
    });
  } catch (const Error&) {
    return true;
  }
}
template bool any_on_device(std::span<const GatherField>);
template bool any_on_device(std::span<const ScatterField>);

template <typename Field>
std::unique_ptr<DeviceMovement> DeviceMovement::of(const Pattern& pattern, std::span<const Field> fields,
                                                   std::vector<FieldBytes>& bytes, Rank rank) {
  constexpr bool is_gather = std::is_same_v<Field, GatherField>;
  if (!device::any_driver()) return nullptr;
  const device::Location owned = place_of(fields, owned_of<Field>, "owned", rank);
  const device::Location ghosts = place_of(fields, ghosts_of<Field>, "ghost", rank);
  const bool is_shorter =
      std::ranges::any_of(fields, [](const Field& field) { return field.wire != Wire::as_is; });
  if (!owned.is_on_device() && !(is_shorter && ghosts.is_on_device())) return nullptr;
  const device::Location& at = owned.is_on_device() ? owned : ghosts;
  if (ghosts.is_on_device() && (ghosts.driver != at.driver || ghosts.device != at.device))
    throw Error(ErrorCode::invalid_argument, rank_name(rank) + ": the owned values lie on " + owned.name() +
                                                 ", the ghost values on " + ghosts.name() +
                                                 ": a rank uses one device in an exchange");
  std::unique_ptr<DeviceMovement> made(new DeviceMovement(at, is_gather));
  if constexpr (is_gather) {
    if (!is_shorter) {
      made->pack_there(pattern, fields, bytes);
      return made;
    }
  }
  made->move_here(pattern, fields, owned.is_on_device(), is_shorter && ghosts.is_on_device(), bytes);
  return made;
}
template std::unique_ptr<DeviceMovement> DeviceMovement::of(const Pattern&, std::span<const GatherField>,
                                                            std::vector<FieldBytes>&, Rank);
template std::unique_ptr<DeviceMovement> DeviceMovement::of(const Pattern&, std::span<const ScatterField>,
                                                            std::vector<FieldBytes>&, Rank);

void DeviceMovement::pack_there(const Pattern& pattern, std::span<const GatherField> fields,
                                std::vector<FieldBytes>& bytes) {
  packs_there_ = true;
  std::size_t end = 0;
  std::vector<std::size_t> begins;
  for (const GatherField& field : fields) {
    FieldBytes& of_field = bytes.emplace_back();
    for (const Partner& owner : pattern.owners.messages(field.entry_bytes))
      of_field.with_owners.push_back(owner.bytes);
    begins.push_back(end);
    auto offset = static_cast<std::int64_t>(end);
    for (const Partner& needer : pattern.needers.messages(field.entry_bytes)) {
      of_field.with_needers.push_back(needer.bytes);
      of_field.offsets.push_back(offset);
      offset += needer.bytes;
    }
    end = next_begin(static_cast<std::size_t>(offset));
  }
  packed_ = device::DeviceMemory(at_, std::max<std::size_t>(end, 16));
  for (std::size_t f = 0; f < fields.size(); ++f)
    owned_.push_back({copy_of(at_, fields[f].owned, fields[f].entry_bytes, pattern.needers.values),
                      messages() + begins[f]});
}

template <typename Field>
void DeviceMovement::move_here(const Pattern& pattern, std::span<const Field> fields, bool owned_are_there,
                               bool ghosts_are_there, std::vector<FieldBytes>& bytes) {
  pattern_.ghosts = pattern.ghosts;
  pattern_.owners = pattern.owners;
  pattern_.needers = pattern.needers;
  std::vector<LocalIndex> entries;  // each entry once
  if (owned_are_there) {
    entries = pattern.needers.values;
    std::ranges::sort(entries);
    const auto repeated = std::ranges::unique(entries);
    entries.erase(repeated.begin(), repeated.end());
    for (LocalIndex& entry : pattern_.needers.values)
      entry = static_cast<LocalIndex>(std::ranges::lower_bound(entries, entry) - entries.begin());
  }
  const auto owned_bytes = [&](const Field& field) {
    return next_begin(entries.size() * static_cast<std::size_t>(field.entry_bytes));
  };
  std::size_t all = 16;
  for (const Field& field : fields) all += owned_bytes(field) + next_begin(field.ghost_bytes);
  memory_ = device::PinnedMemory(at_, all);
  auto* at = static_cast<std::byte*>(memory_.get());
  std::vector<Field> here(fields.begin(), fields.end());
  for (Field& field : here) {
    if (owned_are_there) {
      owned_.push_back({copy_of(at_, field.owned, field.entry_bytes, entries), at});
      field.owned = std::exchange(at, at + owned_bytes(field));
    }
    if (ghosts_are_there) {
      ghosts_.push_back({const_cast<std::byte*>(field.ghosts), at, field.ghost_bytes});
      field.ghosts = std::exchange(at, at + next_begin(field.ghost_bytes));
    }
  }
  movement_ = movement_of(pattern_, std::span<const Field>(here), bytes);
}

void DeviceMovement::begin_after(device::Handle stream) {
  begun_.record(stream);
  stream_.wait_for(begun_.get());
}

void DeviceMovement::fetch_owned() {
  for (const auto& [copy, here] : owned_) copy.gather(here, 0, copy.bytes(), stream_);
}

void DeviceMovement::wait_for_copies() {
  over_.record(stream_.get());
  over_.wait();
}

device::Handle DeviceMovement::pack(device::Handle stream) {
  const device::Current current(at_);
  begin_after(stream);
  if (is_gather_) fetch_owned();
  if (packs_there_) return stream_.get();
  if (!is_gather_)
    for (const auto& [users, here, bytes] : ghosts_) stream_.copy(here, users, bytes);
  wait_for_copies();
  movement_.pack();
  return stream;
}

void DeviceMovement::unpack(device::Handle stream, bool waits) {
  if (packs_there_) return;
  const device::Current current(at_);
  begin_after(stream);
  if (!is_gather_) {
    fetch_owned();
    wait_for_copies();
  }
  movement_.unpack();
  if (is_gather_)
    for (const auto& [users, here, bytes] : ghosts_) stream_.copy(users, here, bytes);
  else
    for (const auto& [copy, here] : owned_) copy.scatter(here, 0, copy.bytes(), stream_);
  if (waits) return wait_for_copies();
  over_.record(stream_.get());
  must(at_.driver->api.stream_wait_event(stream, over_.get(), 0), *at_.driver, "let a stream wait");
}

}  // namespace nuice::mpi
