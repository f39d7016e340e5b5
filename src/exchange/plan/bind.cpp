// SPDX-License-Identifier: BSD-3-Clause
// Binds a plan to buffers, one per partner: checks them and has the requests made. fields.cpp does it for datatypes.
#include <algorithm>
#include <string>
#include <type_traits>

#include "exchange/bind/request_maker.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/plan/plan_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

struct Side {
  std::string kind;  // "send" or "receive"
  bool is_send;
  std::span<const Partner> partners;
};

/// One buffer per partner, each with room for what is exchanged with it.
template <typename Buffer>
void check_buffers(const Side& side, std::span<const Buffer> buffers, Rank rank) {
  if (buffers.size() != side.partners.size())
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank) + " gives " + std::to_string(buffers.size()) + " " +
                    side.kind + " buffers for " + std::to_string(side.partners.size()) + " partners");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto [partner, bytes] = side.partners[i];
    const bool is_null = bytes > 0 && buffers[i].data == nullptr;
    if (!is_null && buffers[i].bytes >= bytes) continue;
    const std::string pair = side.is_send ? pair_name(rank, partner) : pair_name(partner, rank);
    throw Error(ErrorCode::invalid_argument,
                pair + ": the " + side.kind + " buffer " +
                    (is_null ? "is null"
                             : "has " + std::to_string(buffers[i].bytes) + " bytes, the message has " +
                                   std::to_string(bytes)));
  }
}

/// The buffers by rank of their partner.
template <typename Buffer>
class BufferFinder {
 public:
  BufferFinder(std::span<const Partner> partners, std::span<const Buffer> buffers) {
    by_rank_.reserve(partners.size());
    for (std::size_t i = 0; i < partners.size(); ++i) by_rank_.push_back({partners[i].rank, buffers[i]});
    std::ranges::sort(by_rank_, {}, &Row::rank);
  }
  /// An empty buffer for a rank that is no partner.
  Buffer find(Rank rank) const {
    const auto at = std::ranges::lower_bound(by_rank_, rank, {}, &Row::rank);
    return at != by_rank_.end() && at->rank == rank ? at->buffer : Buffer{};
  }

 private:
  struct Row {
    Rank rank;
    Buffer buffer;
  };
  std::vector<Row> by_rank_;
};

void set_sources(Arrivals& arrivals, std::span<const Partner> partners,
                 std::span<const ReceiveBuffer> buffers) {
  std::vector<std::span<std::byte>> data;
  for (std::size_t i = 0; i < partners.size(); ++i)
    data.emplace_back(static_cast<std::byte*>(buffers[i].data), static_cast<std::size_t>(partners[i].bytes));
  arrivals.set_sources(partners, data);
}

/// One buffer per partner, in bytes.
class BufferLayout : public Layout {
 public:
  BufferLayout(BufferFinder<SendBuffer> send_to, BufferFinder<ReceiveBuffer> receive_from)
      : send_to_(std::move(send_to)), receive_from_(std::move(receive_from)) {}

  void find_to_send(Rank dst, Bytes offset, Bytes bytes, Places& places) const override {
    // MPI takes the address of what it only reads as one that it might write to, within a datatype.
    add(const_cast<void*>(send_to_.find(dst).data), offset, bytes, places);
  }
  void find_to_receive(Rank src, Bytes offset, Bytes bytes, Places& places) const override {
    add(receive_from_.find(src).data, offset, bytes, places);
  }

 private:
  static void add(void* buffer, Bytes offset, Bytes bytes, Places& places) {
    places.push_back({static_cast<std::byte*>(buffer) + offset, bytes, MPI_BYTE});
  }
  BufferFinder<SendBuffer> send_to_;
  BufferFinder<ReceiveBuffer> receive_from_;
};

SelfCopy self_copy(const PhaseTable& table, const BufferFinder<SendBuffer>& send_to,
                   const BufferFinder<ReceiveBuffer>& receive_from) {
  for (const Partner& source : table.sources)
    if (source.rank == table.rank)
      return {send_to.find(table.rank).data, receive_from.find(table.rank).data,
              static_cast<std::size_t>(source.bytes)};
  return {};
}

}  // namespace

std::unique_ptr<Exchange::State> Plan::State::new_exchange() const {
  auto exchange = std::make_unique<Exchange::State>();
  exchange->comm = comm;
  exchange->watchdog_s = watchdog_s;
  exchange->watches_deaths = tells_of_deaths();
  return exchange;
}

void Plan::State::make_requests(Exchange::State& exchange, const PhaseTable& bound, const Layout& layout,
                                bool windows_hold_all) const {
  const auto limit = static_cast<std::size_t>(max_sends_in_flight);
  Exchange::State::RequestMaker maker(exchange, bound, layout, next_tag, limit > 0);
  if (exchange.self.bytes == 0) maker.make_self_message();
  const bool is_backwards = &bound != &table;
  // Where windows hold all, nobody would ask: sent at once as by async, whose requests are persistent.
  if (info.executor == Executor::credit && !windows_hold_all) {
    maker.make_credit({next_tag, next_tag + 1, chunk_bytes, windows.of(is_backwards),
                       windows.of(!is_backwards), window_senders, windows.near});
    return;
  }
  maker.make(info.executor == Executor::credit ? Executor::async : info.executor);
  if (info.executor == Executor::barrier) exchange.barrier.emplace(*comm, next_tag + 1);
  exchange.window.resize(std::min(limit, exchange.sends.size()), MPI_REQUEST_NULL);
  exchange.reserve();
}

Exchange Plan::State::finish_bind(std::unique_ptr<Exchange::State> exchange) {
  try {
    if (exchange->credit) exchange->credit->agree_on_first_grants();
  } catch (const Error&) {
    exchange->broken = true;
    exchange->give_up();
    Exchange::State::let_go(std::move(exchange));
    throw;
  }
  take_tags(comm, next_tag);  // of the payload, and of grants or barriers
  return Exchange(std::move(exchange));
}

Exchange Plan::bind_table(const PhaseTable& table, const Ends<SendBuffer>& send,
                          const Ends<ReceiveBuffer>& receive) {
  State& plan = state();
  const Rank rank = plan.comm->rank();
  std::unique_ptr<Exchange::State> exchange;
  all_or_none(*plan.comm, [&] {
    check_buffers({"send", true, send.partners}, send.buffers, rank);
    check_buffers({"receive", false, receive.partners}, receive.buffers, rank);
    const BufferFinder send_to(send.partners, send.buffers);
    const BufferFinder receive_from(receive.partners, receive.buffers);
    exchange = plan.new_exchange();
    set_sources(exchange->arrivals, receive.partners, receive.buffers);
    exchange->self = self_copy(table, send_to, receive_from);
    const bool hold_all =
        &table == &plan.table ? plan.windows.hold_all_forwards : plan.windows.hold_all_backwards;
    plan.make_requests(*exchange, table, BufferLayout(send_to, receive_from), hold_all);
  });
  return plan.finish_bind(std::move(exchange));
}

PhaseTable Plan::State::reversed_table() const {
  PhaseTable table_back;
  all_or_none(*comm, [&] { table_back = reversed(table); });
  return table_back;
}

Exchange Plan::bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive) {
  return State::binding(state_.get(), Call::bind, [&](State& plan) {
    return bind_table(plan.table, {plan.destinations, send}, {plan.table.sources, receive});
  });
}

Exchange Plan::bind_reverse(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive) {
  return State::binding(state_.get(), Call::bind_reverse, [&](State& plan) {
    return bind_table(plan.reversed_table(), {plan.table.sources, send}, {plan.destinations, receive});
  });
}

/// Buffers inside the array. Collective; what is wrong with it is found on all ranks.
template <typename Buffer, typename Array>
std::vector<Buffer> Plan::buffers_in(std::span<const Partner> partners, const Array& array) const {
  const Communicator& comm = *state().comm;
  std::vector<Buffer> buffers;
  all_or_none(comm, [&] {
    const std::string who = "rank " + std::to_string(comm.rank()) + ": ";
    if (!array.offsets.empty() && array.offsets.size() != partners.size())
      throw Error(ErrorCode::invalid_argument, who + std::to_string(array.offsets.size()) + " offsets for " +
                                                   std::to_string(partners.size()) + " partners");
    Bytes next = 0;
    for (std::size_t i = 0; i < partners.size(); ++i) {
      const Bytes offset = array.offsets.empty() ? next : array.offsets[i];
      const Bytes bytes = partners[i].bytes;
      if (offset < 0 || offset > array.bytes || bytes > array.bytes - offset)
        throw Error(ErrorCode::invalid_argument,
                    who + "the message of rank " + std::to_string(partners[i].rank) + ", " +
                        std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        ", is not inside the array of " + std::to_string(array.bytes) + " bytes");
      using Byte = std::conditional_t<std::is_same_v<Buffer, SendBuffer>, const std::byte, std::byte>;
      const bool has_memory = array.data != nullptr;
      buffers.push_back({has_memory ? static_cast<Byte*>(array.data) + offset : nullptr, bytes});
      next = offset + bytes;
    }
  });
  return buffers;
}

Exchange Plan::bind_array(const SendArray& send, const ReceiveArray& receive) {
  return State::binding(state_.get(), Call::bind_array, [&](State& plan) {
    const auto from = buffers_in<SendBuffer>(plan.destinations, send);
    const auto to = buffers_in<ReceiveBuffer>(plan.table.sources, receive);
    return bind_table(plan.table, {plan.destinations, from}, {plan.table.sources, to});
  });
}

Exchange Plan::bind_array_reverse(const SendArray& send, const ReceiveArray& receive) {
  return State::binding(state_.get(), Call::bind_array_reverse, [&](State& plan) {
    const auto from = buffers_in<SendBuffer>(plan.table.sources, send);
    const auto to = buffers_in<ReceiveBuffer>(plan.destinations, receive);
    return bind_table(plan.reversed_table(), {plan.table.sources, from}, {plan.destinations, to});
  });
}

}  // namespace nuice::mpi
