// SPDX-License-Identifier: BSD-3-Clause
#include "bench/am_side.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "nuice/am/coalescer.hpp"
#include "nuice/am/progress.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::am_bench {
namespace {

using am::Context;
using am::Nothing;
using am::Packet;
using am::PortRef;
using am::Tail;

std::uint64_t as_count(int value) { return static_cast<std::uint64_t>(value); }
std::size_t as_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// Messages of `bytes` bytes in total consist of a word and a tail of the remaining bytes.
std::size_t tail_bytes(std::size_t bytes) { return bytes > sizeof(Word) ? bytes - sizeof(Word) : 0; }

std::uint64_t packets_of(std::size_t bytes) { return (bytes + sizeof(Packet) - 1) / sizeof(Packet); }

std::vector<Rank> ring_neighbours() {
  std::vector<Rank> both = {(mpi::world_rank() + 1) % mpi::world_size(),
                            (mpi::world_rank() + mpi::world_size() - 1) % mpi::world_size()};
  if (both[0] == both[1]) both.pop_back();
  if (both[0] == mpi::world_rank()) both.clear();
  return both;
}

}  // namespace

AmSide::AmSide(const am::mpi::Options& options, Blocks& blocks, int poll_every)
    : ep_(am::mpi::connect(MPI_COMM_WORLD, options), {.poll_every = poll_every}),
      refs_(as_index(ep_.num_ranks())),
      data_(blocks.out),
      memory_(blocks.in) {
  pong_ = ep_.on<Word>("pong", [this](Context&, const Word&, Tail) { ++pongs_; });
  ping_ = ep_.on<Word>("ping", [this](Context& c, const Word& w, Tail tail) {
    ++received_;
    c.reply(pong_, w, Tail(data_.data(), tail.size()));  // replies with the tail without reading it, as the
                                                         // peers do
  });
  drop_ = ep_.on<Word>("drop", [this](Context&, const Word& w) {
    ++received_;
    sum_ += w.value;
  });
  drop_block_ = ep_.on<Word>("drop block", [this](Context&, const Word& w, Tail tail) {
    ++received_;
    sum_ += w.value + tail.size();
  });
  drop_items_ = ep_.on_items<Word>("drop items", [this](Context&, std::span<const Word> words) {
    received_ += words.size();
    std::uint64_t sum = 0;
    for (const Word& word : words) sum += word.value;
    sum_ += sum;
  });
  packet_ = ep_.on<Packet>("packet", [this](Context&, const Packet& p) {
    ++received_;
    sum_ += p.words[0];
  });
  ack_ = ep_.on<Nothing>("ack", [this](Context&, const Nothing&) { ++acks_; });
  want_ack_ = ep_.on<Nothing>("want ack", [this](Context& c, const Nothing&) { c.reply(ack_, {}); });
  halt_ = ep_.on<Nothing>("halt", [this](Context&, const Nothing&) { stop_ = true; });
  tell_ref_ =
      ep_.on<PortRef>("ref", [this](Context& c, const PortRef& ref) { refs_[as_index(c.source())] = ref; });
  ep_.seal();
  levels_.emplace(ep_, ring_neighbours());
}

bool AmSide::allows_threads() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

void AmSide::wait_for(const std::uint64_t& counter, std::uint64_t target) {
  ep_.poll_until([&] { return counter >= target; });
}

double AmSide::time(bool counts, double operations, const std::function<void()>& work) {
  received_ = pongs_ = acks_ = 0;
  ep_.quiesce();
  const double seconds = time_work(counts, operations, work);
  ep_.quiesce();
  return seconds;
}

double AmSide::ping_pong(std::size_t bytes, int times) {
  const Tail tail(data_.data(), tail_bytes(bytes));
  return time(ep_.rank() == 0, times, [&] {
    for (std::uint64_t i = 1; ep_.rank() == 0 && i <= as_count(times); ++i) {
      ep_.send(1, ping_, Word{i}, tail);
      wait_for(pongs_, i);
    }
    if (ep_.rank() == 1) wait_for(received_, as_count(times));
  });
}

double AmSide::flood_with(const std::function<void(Rank dst)>& send_all, int messages, bool two_way) {
  const bool sends = ep_.rank() == 0 || (two_way && ep_.rank() == 1);
  const bool receives = ep_.rank() == 1 || (two_way && ep_.rank() == 0);
  return time(sends, two_way ? 2.0 * messages : messages, [&] {
    if (sends) {
      const Rank dst = 1 - ep_.rank();
      send_all(dst);
      ep_.send(dst, want_ack_, {});
      wait_for(acks_, 1);
    }
    if (receives) wait_for(received_, as_count(messages));
  });
}

double AmSide::flood_with(am::Handler<Word> handler, std::size_t bytes, int messages, bool two_way) {
  const Tail tail(data_.data(), tail_bytes(bytes));
  const auto send_all = [&](Rank dst) {
    for (int i = 0; i < messages; ++i) ep_.send(dst, handler, Word{1}, tail);
  };
  return flood_with(send_all, messages, two_way);
}

double AmSide::flood(std::size_t bytes, int messages) {
  return flood_with(bytes > sizeof(Word) ? drop_block_ : drop_, bytes, messages, false);
}

double AmSide::two_way_flood(std::size_t bytes, int messages) {
  return flood_with(bytes > sizeof(Word) ? drop_block_ : drop_, bytes, messages, true);
}

// The acknowledgement follows the last reply, because messages of a pair keep their order.
double AmSide::round_trip_flood(std::size_t bytes, int messages) {
  return flood_with(ping_, bytes, messages, false);
}

double AmSide::coalesced(std::size_t buffer_bytes, int items, bool two_way, bool in_one_piece) {
  am::Coalescer<Word> coalescer(ep_, in_one_piece ? drop_items_ : drop_, {.buffer_bytes = buffer_bytes});
  const auto send_all = [&](Rank dst) {
    for (int i = 0; i < items; ++i) coalescer.push(dst, Word{1});
    coalescer.flush(dst);
  };
  return flood_with(send_all, items, two_way);
}

double AmSide::packets(std::size_t bytes, int times) {
  const std::uint64_t per_block = packets_of(bytes);
  return time(ep_.rank() == 0, 2.0 * times, [&] {
    for (std::uint64_t i = 1; ep_.rank() < 2 && i <= as_count(times); ++i) {
      if (ep_.rank() == 1) wait_for(received_, i * per_block);
      for (std::uint64_t p = 0; p < per_block; ++p) ep_.send(1 - ep_.rank(), packet_, Packet{});
      if (ep_.rank() == 0) wait_for(received_, i * per_block);
    }
  });
}

/// Collective. Opens a port for each rank of `from`, and sends that rank the port's reference.
void AmSide::open_ports(std::size_t bytes, const std::vector<Rank>& from) {
  ports_.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto memory = std::span(memory_.data(), memory_.size()).subspan(i * 2 * largest_block, bytes);
    ports_.push_back(ep_.open_port(memory, static_cast<Bytes>(bytes)));
    ep_.send(from[i], tell_ref_, ports_.back().ref());
  }
  ep_.quiesce();
}

double AmSide::put(std::size_t bytes, int times) {
  const bool takes_part = ep_.rank() < 2;
  open_ports(bytes, takes_part ? std::vector<Rank>{1 - ep_.rank()} : std::vector<Rank>{});
  const std::span<const std::byte> block(data_.data(), bytes);
  const auto receive = [&] {
    ep_.poll_until([&] { return ports_[0].complete(); });
    ports_[0].rearm();
  };
  const double seconds = time(ep_.rank() == 0, 2.0 * times, [&] {
    for (int i = 0; takes_part && i < times; ++i) {
      PortRef& ref = refs_[as_index(1 - ep_.rank())];
      if (ep_.rank() == 1) receive();
      ep_.put(ref, 0, block);
      ref = ref.next();
      if (ep_.rank() == 0) receive();
    }
  });
  ports_.clear();
  return seconds;
}

double AmSide::packet_shift(std::size_t bytes, int times) {
  const std::uint64_t per_block = packets_of(bytes);
  const Rank right = (ep_.rank() + 1) % ep_.num_ranks();
  const Rank left = (ep_.rank() + ep_.num_ranks() - 1) % ep_.num_ranks();
  return time(true, times, [&] {
    for (std::uint64_t i = 1; i <= as_count(times); ++i) {
      for (std::uint64_t p = 0; p < per_block; ++p) {
        ep_.send(right, packet_, Packet{});
        ep_.send(left, packet_, Packet{});
      }
      wait_for(received_, 2 * per_block * i);
    }
  });
}

// With two ranks both neighbours are the same rank, so each rank puts two blocks into one port.
double AmSide::put_shift(std::size_t bytes, int times) {
  const std::vector<Rank> both = ring_neighbours();
  const std::size_t blocks = both.size() == 1 ? 2 : 1;
  open_ports(blocks * bytes, both);
  const std::span<const std::byte> block(data_.data(), bytes);
  const double seconds = time(true, times, [&] {
    for (int i = 0; i < times; ++i) {
      for (const Rank other : both) {
        PortRef& ref = refs_[as_index(other)];
        for (std::size_t k = 0; k < blocks; ++k) ep_.put(ref, static_cast<Bytes>(k * bytes), block);
        ref = ref.next();
      }
      for (am::Port& port : ports_) {
        ep_.poll_until([&] { return port.complete(); });
        port.rearm();
      }
      levels_->finish_level();  // no rank puts into a port before the port is armed again
    }
  });
  ports_.clear();
  return seconds;
}

double AmSide::fan_in(std::size_t bytes, int senders, int times, bool time_senders) {
  const Rank last = ep_.num_ranks() - 1;
  const Tail tail(data_.data(), tail_bytes(bytes));
  double total_s = 0;
  for (int i = 0; i < times; ++i)
    total_s += time(time_senders == (ep_.rank() != last), times, [&] {
      if (ep_.rank() < senders) ep_.send(last, drop_block_, Word{1}, tail);
      if (ep_.rank() == last) wait_for(received_, as_count(senders));
    });
  return total_s;
}

double AmSide::all_to_all(int messages) {
  return time(true, messages, [&] {
    for (int i = 0; i < messages; ++i) ep_.send((ep_.rank() + i) % ep_.num_ranks(), drop_, Word{1});
    ep_.quiesce();
  });
}

double AmSide::quiesce(int times) {
  return time(true, times, [&] {
    for (int i = 0; i < times; ++i) ep_.quiesce();
  });
}

double AmSide::level(int times) {
  return time(true, times, [&] {
    for (int i = 0; i < times; ++i) levels_->finish_level();
  });
}

double AmSide::empty_poll(int times) {
  return time(true, times, [&] {
    for (int i = 0; i < times; ++i) ep_.poll();
  });
}

double AmSide::ping_computing(Progress progress, int times, double& work_per_s) {
  using namespace std::chrono_literals;
  stop_ = false;
  received_ = pongs_ = 0;
  ep_.quiesce();
  const double begin_s = MPI_Wtime();
  if (ep_.rank() == 0) {
    constexpr double pause_s = 100e-6;  // without a pause the other rank would only answer, and not compute
    double total_s = 0;
    for (std::uint64_t i = 1; i <= as_count(times); ++i) {
      const double sent_s = MPI_Wtime();
      ep_.send(1, ping_, Word{i});
      wait_for(pongs_, i);
      const double answered_s = MPI_Wtime();
      total_s += answered_s - sent_s;
      while (MPI_Wtime() < answered_s + pause_s) {
      }
    }
    ep_.send(1, halt_, {});
    ep_.quiesce();
    return total_s / times;
  }
  if (ep_.rank() == 1) {
    std::optional<am::Interruptible> interrupts;
    std::optional<am::ProgressThread> thread;
    if (progress == Progress::interrupts) interrupts.emplace(ep_);
    if (progress == Progress::thread) thread.emplace(ep_, 50us);
    std::uint64_t units = 0;
    std::uint64_t state = 1;
    while (!stop_) {
      for (int i = 0; i < 1000; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
      ++units;
      if (progress == Progress::polling) ep_.poll();
    }
    data_[0] = static_cast<std::byte>(state);
    work_per_s = static_cast<double>(units) / (MPI_Wtime() - begin_s);
  }
  ep_.quiesce();
  return 0;
}

}  // namespace nuice::am_bench
