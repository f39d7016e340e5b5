// SPDX-License-Identifier: BSD-3-Clause
// Turns a phase table and buffers into persistent requests. All that an exchange needs is allocated here.
#include <algorithm>
#include <string>

#include "exchange/mpi/agree.hpp"
#include "exchange/mpi/call.hpp"
#include "exchange/mpi/exchange_state.hpp"
#include "exchange/mpi/plan_state.hpp"
#include "exchange/mpi/stage.hpp"
#include "nuice/error.hpp"

namespace nuice::mpi {
namespace {

std::string pair_name(Rank src, Rank dst) {
  return "rank " + std::to_string(src) + " -> rank " + std::to_string(dst);
}

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

bool has_repeats(std::vector<Rank> partners) {
  std::ranges::sort(partners);
  return std::ranges::adjacent_find(partners) != partners.end();
}

/// Where the steps of this executor end. counts[p]: receives and sends of phase p and all phases before.
std::vector<StepEnd> make_steps(const PhaseTable& table, Executor executor) {
  std::vector<StepEnd> ends;
  StepEnd end;
  PhaseId phase = 0;
  const bool one_step = executor == Executor::async;
  const auto close_until = [&](PhaseId next) {
    for (; phase < next; ++phase) {
      const StepEnd last = ends.empty() ? StepEnd{} : ends.back();
      const bool busy = end.receive > last.receive || end.send > last.send;
      if (!one_step && (busy || executor == Executor::barrier)) ends.push_back(end);
    }
  };
  for (const PhaseEntry& entry : table.entries) {
    close_until(entry.phase);
    if (entry.recv_partner != no_rank) ++end.receive;
    if (entry.send_partner != no_rank) ++end.send;
  }
  close_until(table.num_phases);
  if (one_step) ends.push_back(end);
  return ends;
}

}  // namespace

/// Makes the requests of one exchange, in the order of the table.
class Exchange::State::RequestMaker {
 public:
  RequestMaker(State& exchange, const PhaseTable& table, int tag, bool synchronous)
      : exchange_(exchange), table_(table), stage_(table), tag_(tag), synchronous_(synchronous) {}

  /// Executor credit: no requests, but the table with addresses in the place of offsets.
  void make_credit(const BufferFinder<SendBuffer>& send_to, const BufferFinder<ReceiveBuffer>& receive_from,
                   const CreditRun::Settings& settings) {
    std::vector<CreditRun::Stretch> sends;
    std::vector<CreditRun::Stretch> receives;
    for (const PhaseEntry& entry : table_.entries) {
      if (entry.send_partner != no_rank) {
        const Block block =
            block_in(send_to.find(entry.send_partner).data, entry.send_offset, entry.send_bytes);
        sends.push_back({entry.send_partner, block.at, block.bytes});
      }
      if (entry.recv_partner != no_rank) {
        const void* const buffer = receive_from.find(entry.recv_partner).data;
        const Block block = block_in(buffer, entry.recv_offset, entry.recv_bytes);
        receives.push_back({entry.recv_partner, block.at, block.bytes});
      }
    }
    set_self_copy(send_to, receive_from);
    exchange_.credit = std::make_unique<CreditRun>(exchange_.comm, sends, receives, settings);
    exchange_.credit->expect_chunks(exchange_.arrivals);
  }

  void make(const BufferFinder<SendBuffer>& send_to, const BufferFinder<ReceiveBuffer>& receive_from) {
    exchange_.receives.reserve(table_.entries.size());
    exchange_.sends.reserve(table_.entries.size());
    for (const PhaseEntry& entry : table_.entries) {
      if (entry.send_partner != no_rank) {
        add_send(entry.send_partner, places_to_send(entry, send_to));
      }
      if (entry.recv_partner != no_rank) {
        add_receive(entry.recv_partner, places_to_receive(entry, receive_from));
        exchange_.arrivals.add_receive(arrivals_of(entry));
      }
    }
    exchange_.receives_repeat = has_repeats(exchange_.receive_from);
    exchange_.sends_repeat = has_repeats(exchange_.send_to);
    set_self_copy(send_to, receive_from);
    exchange_.stage = stage_.release();
  }

 private:
  void set_self_copy(const BufferFinder<SendBuffer>& send_to,
                     const BufferFinder<ReceiveBuffer>& receive_from) {
    const Rank rank = exchange_.comm->rank();
    exchange_.self.from = send_to.find(rank).data;
    exchange_.self.to = receive_from.find(rank).data;
    for (const Partner& source : table_.sources)
      if (source.rank == rank) exchange_.self.bytes = static_cast<std::size_t>(source.bytes);
  }

  /// Blocks that lie one behind the other are joined.
  using Places = std::vector<Block>;

  static Block block_in(const void* buffer, Bytes offset, Bytes bytes) {
    // MPI takes the address of what it only reads as one that it might write to, within a datatype.
    return {const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + offset, bytes};
  }

  Places places_to_send(const PhaseEntry& entry, const BufferFinder<SendBuffer>& send_to) {
    if (entry.send_parts.count == 0)
      return {block_in(send_to.find(entry.send_partner).data, entry.send_offset, entry.send_bytes)};
    Places places;
    for (const Part& part : table_.parts_in(entry.send_parts)) {
      if (part.src == table_.rank) {
        places.push_back(block_in(send_to.find(part.dst).data, part.offset, part.bytes));
      } else {
        stage_.take(part, places);
      }
    }
    return joined(places);
  }

  Places places_to_receive(const PhaseEntry& entry, const BufferFinder<ReceiveBuffer>& receive_from) {
    if (entry.recv_parts.count == 0)
      return {block_in(receive_from.find(entry.recv_partner).data, entry.recv_offset, entry.recv_bytes)};
    Places places;
    for (const Part& part : table_.parts_in(entry.recv_parts))
      places.push_back(part.dst == table_.rank
                           ? block_in(receive_from.find(part.src).data, part.offset, part.bytes)
                           : stage_.put(part));
    return joined(places);
  }

  /// Whose messages, or pieces of them, this entry's receive brings to this rank.
  std::vector<Rank> arrivals_of(const PhaseEntry& entry) const {
    if (entry.recv_parts.count == 0) return {entry.recv_partner};
    std::vector<Rank> sources;
    for (const Part& part : table_.parts_in(entry.recv_parts))
      if (part.dst == table_.rank) sources.push_back(part.src);
    return sources;
  }

  static Places joined(const Places& places) {
    Places result;
    for (const Block& block : places) {
      const bool touches = !result.empty() && result.back().at + result.back().bytes == block.at;
      if (touches) {
        result.back().bytes += block.bytes;
      } else {
        result.push_back(block);
      }
    }
    return result;
  }

  void add_receive(Rank from, const Places& places) {
    const Memory memory = memory_of(places, from, exchange_.comm->rank());
    MPI_Request request;
    must(MPI_Recv_init(memory.at, memory.count, memory.type, from, tag_, exchange_.comm->get(), &request),
         "MPI_Recv_init");
    exchange_.receives.adopt(request);
    exchange_.receive_from.push_back(from);
  }

  void add_send(Rank to, const Places& places) {
    const Memory memory = memory_of(places, exchange_.comm->rank(), to);
    const auto init = synchronous_ ? MPI_Ssend_init : MPI_Send_init;
    MPI_Request request;
    must(init(memory.at, memory.count, memory.type, to, tag_, exchange_.comm->get(), &request),
         synchronous_ ? "MPI_Ssend_init" : "MPI_Send_init");
    exchange_.sends.adopt(request);
    exchange_.send_to.push_back(to);
  }

  /// As MPI wants it.
  struct Memory {
    void* at;
    int count;
    MPI_Datatype type;
  };

  /// A derived type lives as long as the exchange.
  Memory memory_of(const Places& places, Rank src, Rank dst) {
    try {
      if (places.size() > 1) {
        exchange_.types.push_back(Datatype::of_blocks(places));
        return {MPI_BOTTOM, 1, exchange_.types.back().get()};
      }
      Extent extent = Extent::of(places[0].bytes);
      const Memory memory{places[0].at, extent.count, extent.type.get()};
      if (memory.type != MPI_BYTE) exchange_.types.push_back(std::move(extent.type));
      return memory;
    } catch (const Error& error) {
      throw Error(error.code(), pair_name(src, dst) + ": " + error.what());
    }
  }

  State& exchange_;
  const PhaseTable& table_;
  Stage stage_;
  int tag_;
  bool synchronous_;
};

Exchange Plan::bind_table(const PhaseTable& table, const Ends<SendBuffer>& send,
                          const Ends<ReceiveBuffer>& receive) {
  State& plan = state();
  const Communicator& comm = *plan.comm;
  const int tag = plan.next_tag;
  std::unique_ptr<Exchange::State> exchange;
  all_or_none(comm, [&] {
    check_buffers({"send", true, send.partners}, send.buffers, comm.rank());
    check_buffers({"receive", false, receive.partners}, receive.buffers, comm.rank());
    const BufferFinder send_to(send.partners, send.buffers);
    const BufferFinder receive_from(receive.partners, receive.buffers);
    exchange = std::make_unique<Exchange::State>();
    exchange->comm = plan.comm;
    exchange->watchdog_s = plan.watchdog_s;
    set_sources(exchange->arrivals, receive.partners, receive.buffers);
    const auto limit = static_cast<std::size_t>(plan.max_sends_in_flight);
    Exchange::State::RequestMaker maker(*exchange, table, tag, limit > 0);
    if (plan.info.executor == Executor::credit) {
      maker.make_credit(send_to, receive_from, {tag, tag_after(tag), plan.chunk_bytes, plan.window_bytes});
      return;
    }
    exchange->step_ends = make_steps(table, plan.info.executor);
    maker.make(send_to, receive_from);
    exchange->window.resize(std::min(limit, exchange->sends.size()), MPI_REQUEST_NULL);
    exchange->reserve_for_following();
  });
  // Each exchange has its own communicator for barriers, as nonblocking collectives are matched by the order
  // of calls.
  if (plan.info.executor == Executor::barrier)
    exchange->barrier_comm = std::make_unique<const Communicator>(comm.get());
  if (exchange->credit) exchange->credit->agree_on_first_grants();
  plan.next_tag = tag_after(tag_after(tag));  // of the payload, and of grants (executor credit)
  return Exchange(std::move(exchange));
}

Exchange Plan::bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive) {
  const PhaseTable& table = state().table;
  return bind_table(table, {state().destinations, send}, {table.sources, receive});
}

Exchange Plan::bind_reverse(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive) {
  PhaseTable table;
  all_or_none(*state().comm, [&] { table = reversed(state().table); });
  return bind_table(table, {state().table.sources, send}, {state().destinations, receive});
}

}  // namespace nuice::mpi
