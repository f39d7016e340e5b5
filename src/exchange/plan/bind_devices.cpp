// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/bind_devices.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <map>

#include "core/text/names.hpp"
#include "exchange/staging/gpu_aware.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Returns true also if the driver fails, so that all ranks learn its error later.
bool is_on_device(const void* memory) {
  try {
    return device::locate(memory).is_on_device();
  } catch (const Error&) {
    return true;
  }
}

template <typename Message>
bool any_of_messages(std::span<const Message> messages) {
  return std::ranges::any_of(messages, [](const Message& message) {
    return message.count > 0 && message.type != MPI_DATATYPE_NULL &&
           is_on_device(static_cast<const std::byte*>(message.data) + true_begin_of(message.type));
  });
}

template <typename Range>
bool any_in(const Range& range) {
  return std::ranges::any_of(range, [](const auto& one) { return is_on_device(one.data); });
}

/// Returns the place of each partner in the order of the table.
std::vector<std::size_t> order_of(std::span<const Partner> partners, const PhaseTable& table, bool is_send) {
  std::map<Rank, std::size_t> places;
  for (const PhaseEntry& entry : table.entries)
    if (const Rank rank = is_send ? entry.send_partner : entry.recv_partner; rank != no_rank)
      places.try_emplace(rank, places.size());
  std::vector<std::size_t> order;
  for (const Partner& partner : partners) {
    const auto found = places.find(partner.rank);
    order.push_back(found == places.end() ? places.size() : found->second);
  }
  return order;
}

std::vector<char> which_are(Rank rank, std::span<const Partner> partners) {
  std::vector<char> are;
  for (const Partner& partner : partners) are.push_back(partner.rank == rank ? 1 : 0);
  return are;
}

DeviceItems items_with(const DeviceItems& items, const std::vector<char>& partners) {
  DeviceItems some;
  std::ranges::copy_if(items, std::back_inserter(some),
                       [&](const DeviceItem& item) { return partners[item.partner] != 0; });
  return some;
}

/// Returns the copies from the plain bytes of `from` to the plain bytes of `to`, field by field.
std::vector<DeviceSelfCopy> copies_between(const DeviceItems& from, const DeviceItems& to) {
  std::vector<DeviceSelfCopy> copies;
  Bytes done_from = 0;
  Bytes done_to = 0;
  for (std::size_t i = 0, k = 0; i < from.size() && k < to.size();) {
    const Bytes some = std::min(from[i].bytes() - done_from, to[k].bytes() - done_to);
    copies.push_back({to[k].at + done_to, from[i].at + done_from, static_cast<std::size_t>(some)});
    done_from += some;
    done_to += some;
    if (done_from == from[i].bytes()) done_from = 0, ++i;
    if (done_to == to[k].bytes()) done_to = 0, ++k;
  }
  return copies;
}

std::string chunk_words(Bytes bytes) {
  return bytes % 1024 == 0 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B";
}

}  // namespace

bool any_on_device(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive) {
  return device::any_driver() && (any_in(send) || any_in(receive));
}
bool any_on_device(const SendArray& send, const ReceiveArray& receive) {
  return device::any_driver() && (is_on_device(send.data) || is_on_device(receive.data));
}
bool any_on_device(std::span<const SendField> send, std::span<const ReceiveField> receive) {
  return device::any_driver() && (any_in(send) || any_in(receive));
}
bool any_on_device(std::span<const Outgoing> send, std::span<const Incoming> receive) {
  return device::any_driver() && (any_of_messages(send) || any_of_messages(receive));
}

void DeviceSides::locate(Rank rank) {
  send_at = location_of(send, "send", rank);
  receive_at = location_of(receive, "receive", rank);
  const bool differ = send_at.driver != receive_at.driver || send_at.device != receive_at.device;
  if (send_at.is_on_device() && receive_at.is_on_device() && differ)
    throw Error(ErrorCode::invalid_argument, rank_name(rank) + ": the send buffers lie on " + send_at.name() +
                                                 ", the receive buffers on " + receive_at.name() +
                                                 ": a rank uses one device in an exchange");
}

bool DeviceSides::has_mixed_self(Rank rank) const {
  const auto has_gaps = [&](const DeviceItems& items, std::span<const Partner> partners) {
    return std::ranges::any_of(
        items, [&](const DeviceItem& item) { return !item.is_plain && partners[item.partner].rank == rank; });
  };
  if (!at().is_on_device()) return false;
  return (!send_at.is_on_device() && has_gaps(send, send_to)) ||
         (!receive_at.is_on_device() && has_gaps(receive, receive_from));
}

DeviceDecision decide_on_devices(const Communicator& comm, const DeviceSides& sides, DeviceWay wanted,
                                 const std::string& why_not_direct) {
  GpuAwareness mpi{true, "the buffers of this rank lie on the host"};
  if (sides.at().is_on_device()) mpi = gpu_awareness(sides.at().driver->vendor.name);
  std::array<int, 2> may = {mpi.is_aware ? 1 : 0, sides.has_mixed_self(comm.rank()) ? 0 : 1};
  all_reduce(comm, MPI_IN_PLACE, may.data(), 2, MPI_INT, MPI_MIN);
  if (wanted == DeviceWay::staged) return {.tries_staged = true, .why = "as the option device says"};
  if (!why_not_direct.empty()) return {.tries_staged = true, .why = why_not_direct};
  if (may[1] == 0) return {.tries_staged = true, .why = "a rank's message to itself has gaps on the host"};
  if (wanted == DeviceWay::direct)
    return {.tries_direct = true, .why = "as the option device says; " + mpi.says};
  if (may[0] == 0)
    return {.tries_staged = true, .why = mpi.is_aware ? "MPI is not GPU-aware on all ranks" : mpi.says};
  return {.tries_staged = true, .tries_direct = true, .why = mpi.says};
}

namespace {

/// Returns the items as contiguous bytes, in the mirror or where they are. Returns nothing if some items are
/// not contiguous.
std::optional<DeviceItems> as_bytes(const DeviceItems& items, const Mirror& mirror) {
  DeviceItems bytes;
  for (DeviceItem item : items) {
    if (const auto begin = mirror.find(item.field, item.partner))
      item.at = mirror.data() + *begin;
    else if (!item.is_plain)
      return {};
    item.count = item.bytes();
    item.size = 1;
    bytes.push_back(item);
  }
  return bytes;
}

/// Finds the copies by which the device delivers the rank's message to itself. If the whole message is plain
/// bytes, they go from source to destination, otherwise from mirror to mirror. If elements with gaps are in
/// host memory, there are no copies, and the inner exchange delivers the message.
void find_self(const DeviceItems& sent, const DeviceItems& received, bool are_plain, DeviceParts& parts) {
  if (are_plain) {
    parts.self = copies_between(sent, received);
    return;
  }
  const auto from = as_bytes(sent, parts.sends);
  const auto to = as_bytes(received, parts.receives);
  if (from && to) parts.self = copies_between(*from, *to);
  parts.self_waits = true;
}

}  // namespace

DeviceParts device_parts(DeviceSides sides, const PhaseTable& table, std::span<const Rank> near,
                         bool is_direct, Bytes chunk_bytes, const std::string& why) {
  DeviceParts parts;
  parts.at = sides.at();
  parts.chunk_bytes = (chunk_bytes + 15) / 16 * 16;
  parts.reads_device = is_direct;
  parts.says = is_direct ? "direct: MPI reads and writes the device's memory; " + why
                         : "staged: through pinned memory, in chunks of " + chunk_words(parts.chunk_bytes) +
                               "; " + why;
  if (!parts.at.is_on_device()) return parts;
  const device::Current current(parts.at);
  const Rank rank = table.rank;
  const auto is_plain = [](const DeviceItem& item) { return item.is_plain; };
  const std::vector<char> self_to = which_are(rank, sides.send_to);
  const std::vector<char> self_from = which_are(rank, sides.receive_from);
  const DeviceItems sent = items_with(sides.send, self_to);
  const DeviceItems received = items_with(sides.receive, self_from);
  const bool are_plain = std::ranges::all_of(sent, is_plain) && std::ranges::all_of(received, is_plain);
  parts.drains_self = are_plain ? std::vector<char>(self_from.size(), 0) : self_from;
  const auto mirror = [&](DeviceItems& items, const device::Location& at, std::span<const Partner> partners,
                          bool is_send, const std::vector<char>& self) {
    if (!at.is_on_device()) return Mirror();
    const bool is_copied = is_send && sides.is_in_place;
    if (is_direct && !is_copied) std::erase_if(items, is_plain);
    if (items.empty()) return Mirror();
    const std::vector<char> left_out = are_plain ? self : std::vector<char>(self.size(), 0);
    return Mirror(at, std::move(items), order_of(partners, table, is_send), is_direct, parts.chunk_bytes,
                  left_out);
  };
  parts.sends = mirror(sides.send, sides.send_at, sides.send_to, true, self_to);
  parts.receives = mirror(sides.receive, sides.receive_at, sides.receive_from, false, self_from);
  parts.drains_last = sides.is_in_place;
  find_self(sent, received, are_plain, parts);
  const bool self_is_copied_by_other = parts.self.empty();
  for (const Mirror::Range& range : parts.sends.ranges()) {
    const bool is_self = self_to[range.partner] != 0;
    const bool is_near = std::ranges::binary_search(near, sides.send_to[range.partner].rank);
    const bool is_awaited = is_self ? self_is_copied_by_other : is_near && range.is_streamed;
    if (is_awaited) parts.start_end = std::max(parts.start_end, range.end);
  }
  return parts;
}

Layout::ByRank mirrored(const Mirror& mirror, Layout::ByRank messages) {
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (const auto begin = mirror.find(0, i))
      messages[i].all = {mirror.data() + *begin, messages[i].bytes, MPI_BYTE};
  return messages;
}

template <typename Field>
MirroredFields<Field> mirrored_fields(const Mirror& mirror, std::span<const Field> fields) {
  MirroredFields<Field> all{{fields.begin(), fields.end()}, {}, {}};
  all.offsets.reserve(fields.size());  // spans of them are handed out
  for (std::size_t f = 0; f < fields.size(); ++f) {
    Field& field = all.fields[f];
    const Bytes size = size_of(field.type);
    std::vector<std::int64_t>& offsets = all.offsets.emplace_back(field.counts.size());
    bool is_mirrored = false;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      if (const auto begin = mirror.find(f, i)) {
        offsets[i] = *begin / size;
        is_mirrored = true;
      }
    if (!is_mirrored) continue;
    field.data = mirror.data();
    field.offsets = offsets;
    if (are_plain_bytes(field.type)) continue;
    if (size > INT_MAX)
      throw Error(ErrorCode::limit, "an element of " + std::to_string(size) + " bytes in a device's memory");
    all.types.push_back(Datatype::contiguous(static_cast<int>(size), MPI_BYTE));
    field.type = all.types.back().get();
  }
  return all;
}

template MirroredFields<SendField> mirrored_fields(const Mirror&, std::span<const SendField>);
template MirroredFields<ReceiveField> mirrored_fields(const Mirror&, std::span<const ReceiveField>);

}  // namespace nuice::mpi
