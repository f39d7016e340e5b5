// SPDX-License-Identifier: BSD-3-Clause
// Receive ports. Small data is sent in messages, each with its offset (as CMAML's packets, 002 s.4.3). Bulk
// data is announced by a message. The receiver checks generation and space before it lets the transport
// write.
#include "nuice/am/port.hpp"

#include <algorithm>
#include <cstring>

#include "am/endpoint_core.hpp"
#include "am/noting_failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

struct PutHead {
  std::uint64_t port;
  std::uint64_t generation;
  Bytes offset;  // of the data after this header
};

/// The header of small data. If a put has several messages, each of them contains the total size.
struct PartHead {
  PutHead put;
  std::uint64_t number;  // of the put, counted by its sender
  Bytes done;            // bytes in earlier messages
  Bytes total;
};

struct BulkHead {
  PutHead put;
  Bytes bytes;
  std::uint64_t key;
};

/// A reused slot continues with much larger generation numbers. Senders cannot reach these by counting up
/// from an older generation.
constexpr std::uint64_t generations_of_a_port = std::uint64_t{1} << 32;

std::string put_text(Rank src, Rank dst, std::uint64_t port) {
  return "a put from rank " + std::to_string(src) + " to port " + std::to_string(port) + " of rank " +
         std::to_string(dst);
}

}  // namespace

Port EndpointCore::open_port(std::span<std::byte> memory, Bytes expected_bytes,
                             std::function<void(Context&)> on_complete) {
  const Entry entry(*this);
  if (expected_bytes < 0)
    throw Error(ErrorCode::invalid_argument,
                "a port cannot expect " + std::to_string(expected_bytes) + " bytes");
  Ports& ports = ports_;
  if (ports.free.empty()) {
    ports.free.push_back(static_cast<std::uint32_t>(ports.slots.size()));
    ports.slots.push_back(std::make_unique<Ports::Slot>());
  }
  const std::uint32_t id = ports.free.back();
  ports.free.pop_back();
  Ports::Slot& slot = *ports.slots[id];
  slot.memory = memory;
  slot.generation = slot.first_generation;
  slot.first_generation += generations_of_a_port;
  slot.expected = slot.missing = expected_bytes;
  slot.open = true;
  slot.on_complete.reset();
  if (on_complete)
    slot.on_complete = std::make_shared<const std::function<void(Context&)>>(std::move(on_complete));
  return {this, id};
}

void EndpointCore::put(const PortRef& port, Bytes offset, std::span<const std::byte> data) {
  const Entry entry(*this);
  const PutHead head{port.id, port.generation, offset};
  check_sendable(port.rank, 0);
  FirstError error;  // the receiver waits for all parts, and `data` is in use until the last part is sent
  if (data.size() >= transport_->bulk_min_bytes() && port.rank != rank_) {
    must_not_be_in_handler("put of bulk data");
    throw_failure();
    const std::uint64_t key = noting_failure([&] { return transport_->start_bulk_send(port.rank, data); });
    const BulkHead bulk{head, static_cast<Bytes>(data.size()), key};
    if (detector_ != nullptr) detector_->note_send(port.rank);
    ++sent_;  // the data counts as a separate message, so that quiesce() waits for it
    error.of([&] { post(port.rank, internal_header(InternalHandler::bulk_put), &bulk, sizeof bulk, {}); });
    error.of([&] { wait_until([&] { return noting_failure([&] { return transport_->bulk_sent(key); }); }); });
    error.rethrow();
    return;
  }
  const std::uint64_t number = ports_.next_put++;
  const std::size_t room = max_message_bytes_ - sizeof(PartHead);
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(room, data.size() - done);
    const auto before = static_cast<Bytes>(done);
    const PartHead part{
        {head.port, head.generation, offset + before}, number, before, static_cast<Bytes>(data.size())};
    error.of([&] {
      post(port.rank, internal_header(InternalHandler::put), &part, sizeof part, data.subspan(done, bytes));
    });
    done += bytes;
  } while (done < data.size());
  error.rethrow();
}

/// Returns why the port cannot take these bytes; an empty string if it can.
std::string EndpointCore::why_no_put(std::uint64_t port, std::uint64_t generation, Bytes offset,
                                     Bytes bytes) const {
  if (port >= ports_.slots.size()) return "which does not exist";
  const Ports::Slot& slot = *ports_.slots[port];
  if (slot.generation != generation || !slot.open)
    return "is for generation " + std::to_string(generation) + ", but the port is " +
           (slot.open ? "at " : "closed after ") + std::to_string(slot.generation);
  const auto room = static_cast<Bytes>(slot.memory.size());
  if (offset < 0 || offset > room || bytes > room - offset)
    return "would write " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " +
           std::to_string(room);
  if (bytes > slot.missing)
    return "has " + std::to_string(bytes) + " bytes where " + std::to_string(slot.missing) + " are missing";
  return {};
}

void EndpointCore::complete_port(Context& context, std::uint32_t port) {
  Ports::Slot& slot = *ports_.slots[port];
  if (slot.abandoned && slot.incoming == 0) {
    slot.abandoned = false;
    ports_.free.push_back(port);
  }
  if (!slot.open || slot.missing != 0 || slot.incoming != 0) return;
  slot.open = false;
  if (const auto on_complete = slot.on_complete) (*on_complete)(context);
}

// The first message of a put decides about the whole put, so that a put that does not fit writes nothing.
void EndpointCore::take_put(Context& context, const std::byte* payload, std::size_t bytes) {
  if (bytes < sizeof(PartHead)) detail::wrong_size(context, sizeof(PartHead), bytes, true);
  const auto part = detail::load<PartHead>(payload);
  const PutHead& head = part.put;
  const auto data = static_cast<Bytes>(bytes - sizeof part);
  const bool last = part.done + data >= part.total;
  const std::pair put(context.source(), part.number);
  std::string why;
  if (part.done == 0) {
    why = why_no_put(head.port, head.generation, head.offset, part.total);
    if (why.empty()) {
      ports_.slots[head.port]->missing -= part.total;
      ports_.slots[head.port]->incoming += part.total;
    }
    if (!last) ports_.parts[put] = why.empty();
  }
  const auto found = ports_.parts.find(put);
  const bool taken = found != ports_.parts.end() ? found->second : part.done == 0 && why.empty();
  if (last && found != ports_.parts.end()) ports_.parts.erase(found);
  if (!why.empty())
    throw Error(ErrorCode::mismatch, put_text(context.source(), rank_, head.port) + " " + why);
  if (!taken) return;
  Ports::Slot& slot = *ports_.slots[head.port];
  const auto room = static_cast<Bytes>(slot.memory.size());
  if (data > slot.incoming || head.offset > room - data) return;
  if (data != 0 && !slot.abandoned)
    std::memcpy(slot.memory.data() + head.offset, payload + sizeof part, static_cast<std::size_t>(data));
  slot.incoming -= data;
  complete_port(context, static_cast<std::uint32_t>(head.port));
}

void EndpointCore::take_bulk_put(Context& context, const std::byte* payload, std::size_t bytes) {
  if (bytes != sizeof(BulkHead)) detail::wrong_size(context, sizeof(BulkHead), bytes, false);
  const auto head = detail::load<BulkHead>(payload);
  if (head.bytes < 0) detail::wrong_size(context, sizeof(BulkHead), bytes, false);
  const std::string why = why_no_put(head.put.port, head.put.generation, head.put.offset, head.bytes);
  const std::uint64_t cookie = ports_.next_cookie++;
  Ports::Incoming& incoming = ports_.incoming[cookie];
  incoming = {context.source(), static_cast<std::uint32_t>(head.put.port), head.bytes, {}};
  const auto size = static_cast<std::size_t>(head.bytes);
  if (why.empty()) {
    Ports::Slot& slot = *ports_.slots[head.put.port];
    slot.missing -= head.bytes;
    slot.incoming += head.bytes;
    transport_->start_bulk_receive(context.source(), head.key,
                                   slot.memory.subspan(static_cast<std::size_t>(head.put.offset), size),
                                   cookie);
    return;
  }
  incoming.discarded.resize(size);  // the sender waits until the data is received
  transport_->start_bulk_receive(context.source(), head.key, incoming.discarded, cookie);
  throw Error(ErrorCode::mismatch, put_text(context.source(), rank_, head.put.port) + " " + why);
}

void EndpointCore::bulk_arrived(std::uint64_t cookie) {
  ++handled_;
  Ports& ports = ports_;
  const auto found = ports.incoming.find(cookie);
  const Ports::Incoming incoming = std::move(found->second);
  if (detector_ != nullptr) detector_->note_bulk_from(incoming.src);
  ports.incoming.erase(found);
  if (!incoming.discarded.empty()) return;
  ports.slots[incoming.port]->incoming -= incoming.bytes;
  Context context(endpoint_, incoming.src);
  complete_port(context, incoming.port);
}

Port::~Port() {
  if (core_ == nullptr) return;
  const EndpointCore::Entry entry(*core_);
  auto& ports = core_->ports_;
  EndpointCore::Ports::Slot& slot = *ports.slots[id_];
  slot.on_complete.reset();
  slot.open = false;
  if (!core_->in_progress_) {
    try {
      core_->wait_until([&slot] { return slot.incoming == 0; });
    } catch (const TransportError&) {
      // Nothing more arrives. The next call of the transport reports the error.
    } catch (...) {
      core_->throw_later(std::current_exception());
    }
  }
  slot.abandoned = slot.incoming != 0;
  if (!slot.abandoned) ports.free.push_back(id_);
}

PortRef Port::ref() const {
  const EndpointCore::Entry entry(*core_);
  return {core_->rank_, id_, core_->ports_.slots[id_]->generation};
}

bool Port::complete() const { return missing() == 0; }

Bytes Port::missing() const {
  const EndpointCore::Entry entry(*core_);
  const EndpointCore::Ports::Slot& slot = *core_->ports_.slots[id_];
  return slot.missing + slot.incoming;
}

void Port::rearm() {
  const EndpointCore::Entry entry(*core_);
  rearm(core_->ports_.slots[id_]->expected);
}

void Port::rearm(Bytes expected_bytes) {
  const EndpointCore::Entry entry(*core_);
  EndpointCore::Ports::Slot& slot = *core_->ports_.slots[id_];
  if (slot.missing + slot.incoming != 0)
    throw Error(ErrorCode::state, "port " + std::to_string(id_) + " of rank " + std::to_string(core_->rank_) +
                                      " is re-armed while " + std::to_string(slot.missing + slot.incoming) +
                                      " bytes are missing");
  if (expected_bytes < 0)
    throw Error(ErrorCode::invalid_argument,
                "a port cannot expect " + std::to_string(expected_bytes) + " bytes");
  ++slot.generation;
  slot.expected = slot.missing = expected_bytes;
  slot.open = true;
}

}  // namespace nuice::am
