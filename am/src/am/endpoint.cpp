// SPDX-License-Identifier: BSD-3-Clause
// The functions of Endpoint, which call EndpointCore.
#include "nuice/am/endpoint.hpp"

#include "am/endpoint_core.hpp"
#include "nuice/am/port.hpp"

namespace nuice::am {

Endpoint::Endpoint(std::unique_ptr<Transport> transport, EndpointOptions options)
    : core_(std::make_unique<EndpointCore>(*this, std::move(transport), options)) {}
Endpoint::~Endpoint() = default;

Rank Endpoint::rank() const { return core_->rank_; }
Rank Endpoint::num_ranks() const { return core_->num_ranks_; }
std::string Endpoint::transport_name() const { return core_->transport_->name(); }
std::size_t Endpoint::max_message_bytes() const { return core_->max_message_bytes_; }
Stats Endpoint::stats() const { return core_->stats(); }
bool Endpoint::has_failed() const { return core_->has_failed_; }

void Endpoint::seal() { core_->seal(); }
void Endpoint::barrier() { core_->barrier(); }
int Endpoint::poll() { return core_->poll(); }
std::vector<std::int64_t> Endpoint::reduce(ReduceOp op, std::span<const std::int64_t> values) {
  return core_->reduce(op, values);
}
void Endpoint::quiesce() {
  if (const std::exception_ptr error = core_->try_quiesce()) std::rethrow_exception(error);
}

void Endpoint::send_raw(Rank dst, Kind kind, std::uint16_t id, std::span<const std::byte> payload) {
  const EndpointCore::Entry entry(*core_);
  core_->post(dst, {.handler = id, .kind = kind}, payload.data(), payload.size(), {});
}

Port Endpoint::open_port(std::span<std::byte> memory, Bytes expected_bytes,
                         std::function<void(Context&)> on_complete) {
  return core_->open_port(memory, expected_bytes, std::move(on_complete));
}
void Endpoint::put(const PortRef& port, Bytes offset, std::span<const std::byte> data) {
  core_->put(port, offset, data);
}

std::uint16_t Endpoint::add_handler(std::string_view name, std::size_t argument_bytes,
                                    std::size_t result_bytes, bool has_tail, const detail::HandlerRow& row,
                                    std::shared_ptr<void> function) {
  return core_->add_row(name, argument_bytes, result_bytes, has_tail, row, std::move(function));
}

void Endpoint::send_bytes(Rank dst, std::uint16_t handler, const void* argument, std::size_t bytes,
                          Tail tail) {
  EndpointCore& core = *core_;
  if (core.guarded_) [[unlikely]] {
    const EndpointCore::Entry entry(core);
    core.post(dst, {.handler = handler}, argument, bytes, tail);
  } else {
    core.post(dst, {.handler = handler}, argument, bytes, tail);
  }
}

CallId Endpoint::call_bytes(Rank dst, std::uint16_t handler, const void* argument, std::size_t bytes) {
  const EndpointCore::Entry entry(*core_);
  const CallTag tag{core_->new_call()};
  try {
    core_->post(dst, {.handler = handler, .kind = Kind::call}, &tag, sizeof tag,
                {static_cast<const std::byte*>(argument), bytes});
  } catch (...) {
    core_->drop_call(tag.id);
    throw;
  }
  return tag.id;
}

bool Endpoint::is_done(CallId call) const { return core_->call_done(call); }
void Endpoint::take_result(CallId call, std::span<std::byte> result) { core_->take_result(call, result); }
void Endpoint::drop_call(CallId call) { core_->drop_call(call); }
void Endpoint::poll_until_true(bool (*done)(void*), void* context) { core_->poll_until(done, context); }

void Inbox::deliver(Rank src, Header header, const std::byte* payload) {
  core_.deliver(src, header, payload);
}
bool Inbox::takes_in_signal(Header header) const { return core_.takes_in_signal(header); }
void Inbox::bulk_arrived(std::uint64_t cookie) { core_.bulk_arrived(cookie); }

}  // namespace nuice::am
