// SPDX-License-Identifier: BSD-3-Clause
#include "bench/mpi_peers.hpp"

#include <algorithm>
#include <array>

#include "bench/harness.hpp"

namespace nuice::am_bench {
namespace {

constexpr std::size_t ring_size = 16;
constexpr std::size_t ring_bytes = 16384;
constexpr std::size_t isends = 64;

}  // namespace

MpiPeers::MpiPeers(Blocks& blocks) : out_(blocks.out), in_(blocks.in), ring_(ring_size, MPI_REQUEST_NULL) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  buffers_.assign(ring_size, std::vector<char>(ring_bytes));
  MPI_Win_create(in_.data(), static_cast<MPI_Aint>(in_.size()), 1, MPI_INFO_NULL, comm_, &window_);
  MPI_Win_lock_all(0, window_);
}

MpiPeers::~MpiPeers() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
  MPI_Comm_free(&comm_);
}

double MpiPeers::with_ring(bool counts, double operations, const std::function<void()>& work) {
  head_ = 0;
  for (std::size_t i = 0; i < ring_size; ++i) {
    MPI_Recv_init(buffers_[i].data(), ring_bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, comm_, &ring_[i]);
    MPI_Start(&ring_[i]);
  }
  MPI_Barrier(comm_);
  const double seconds = time_work(counts, operations, work);
  MPI_Barrier(comm_);
  for (MPI_Request& request : ring_) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  return seconds;
}

bool MpiPeers::take() {
  int arrived = 0;
  MPI_Test(&ring_[head_], &arrived, MPI_STATUS_IGNORE);
  if (arrived == 0) return false;
  MPI_Start(&ring_[head_]);
  head_ = (head_ + 1) % ring_size;
  return true;
}

void MpiPeers::wait(int messages) {
  while (messages > 0) messages -= take() ? 1 : 0;
}

void MpiPeers::send(std::size_t bytes, int dst) {
  MPI_Send(out_.data(), static_cast<int>(bytes), MPI_BYTE, dst, 1, comm_);
}

void MpiPeers::receive(std::size_t bytes, int src) {
  MPI_Recv(in_.data(), static_cast<int>(bytes), MPI_BYTE, src, 1, comm_, MPI_STATUS_IGNORE);
}

/// Ranks 0 and 1 send back and forth `times` times.
template <typename Send, typename Receive>
void MpiPeers::bounce(int times, Send&& send, Receive&& receive) const {
  for (int i = 0; rank_ < 2 && i < times; ++i) {
    if (rank_ == 1) receive();
    send();
    if (rank_ == 0) receive();
  }
}

double MpiPeers::ping_pong(Style style, std::size_t bytes, int times) {
  const auto send_one = [&] { send(bytes, 1 - rank_); };
  if (style == Style::blocking)
    return time_work(rank_ == 0, times, [&] { bounce(times, send_one, [&] { receive(bytes, 1 - rank_); }); });
  return with_ring(rank_ == 0, times, [&] { bounce(times, send_one, [&] { wait(1); }); });
}

double MpiPeers::flood(Style style, std::size_t bytes, int messages) {
  std::array<MPI_Request, isends> requests;
  requests.fill(MPI_REQUEST_NULL);
  return with_ring(rank_ == 0, messages, [&] {
    for (int i = 0; rank_ == 0 && i < messages; ++i) {
      if (style == Style::isend) {
        MPI_Request& request = requests[static_cast<std::size_t>(i) % isends];
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, 1, 1, comm_, &request);
      } else {
        send(bytes, 1);
      }
    }
    MPI_Waitall(static_cast<int>(isends), requests.data(), MPI_STATUSES_IGNORE);
    if (rank_ == 1) wait(messages);
    if (rank_ == 1) send(1, 0);
    if (rank_ == 0) wait(1);
  });
}

void MpiPeers::send_and_take(std::size_t bytes, int messages) {
  int taken = 0;
  for (int i = 0; i < messages; ++i) {
    send(bytes, 1 - rank_);
    taken += take() ? 1 : 0;
  }
  wait(messages - taken);
}

double MpiPeers::two_way_flood(std::size_t bytes, int messages) {
  return with_ring(rank_ < 2, 2.0 * messages, [&] {
    if (rank_ < 2) send_and_take(bytes, messages);
  });
}

double MpiPeers::round_trip_flood(std::size_t bytes, int messages) {
  return with_ring(rank_ == 0, messages, [&] {
    if (rank_ == 0) send_and_take(bytes, messages);
    for (int i = 0; rank_ == 1 && i < messages; ++i) {
      wait(1);
      send(bytes, 0);
    }
  });
}

double MpiPeers::block(Block kind, std::size_t bytes, int times) {
  const int count = static_cast<int>(bytes);
  const int other = 1 - rank_;
  const auto send_block = [&] {
    if (kind == Block::synchronous) {
      MPI_Ssend(out_.data(), count, MPI_BYTE, other, 1, comm_);
    } else if (kind == Block::asynchronous) {
      MPI_Request request = MPI_REQUEST_NULL;
      std::copy_n(out_.data(), bytes, out_.data() + largest_block);
      MPI_Isend(out_.data() + largest_block, count, MPI_BYTE, other, 1, comm_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (kind == Block::send) {
      send(bytes, other);
    } else {
      MPI_Put(out_.data(), count, MPI_BYTE, other, 0, count, MPI_BYTE, window_);
      MPI_Win_flush(other, window_);
      send(0, other);
    }
  };
  return time_work(rank_ == 0, 2.0 * times,
                   [&] { bounce(times, send_block, [&] { receive(bytes, other); }); });
}

double MpiPeers::shift(bool synchronous, std::size_t bytes, int times) {
  const int count = static_cast<int>(bytes);
  const int right = (rank_ + 1) % size_;
  const int left = (rank_ + size_ - 1) % size_;
  std::byte* const second = in_.data() + largest_block;
  return time_work(true, times, [&] {
    for (int i = 0; i < times; ++i) {
      if (synchronous) {
        MPI_Sendrecv(out_.data(), count, MPI_BYTE, right, 1, in_.data(), count, MPI_BYTE, left, 1, comm_,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(out_.data(), count, MPI_BYTE, left, 2, second, count, MPI_BYTE, right, 2, comm_,
                     MPI_STATUS_IGNORE);
        continue;
      }
      std::array<MPI_Request, 4> requests{};
      MPI_Irecv(in_.data(), count, MPI_BYTE, left, 1, comm_, requests.data());
      MPI_Irecv(second, count, MPI_BYTE, right, 2, comm_, &requests[1]);
      MPI_Isend(out_.data(), count, MPI_BYTE, right, 1, comm_, &requests[2]);
      MPI_Isend(out_.data(), count, MPI_BYTE, left, 2, comm_, &requests[3]);
      MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    }
  });
}

double MpiPeers::fan_in(std::size_t bytes, int senders, int times, bool time_senders) {
  const int last = size_ - 1;
  double total_s = 0;
  for (int i = 0; i < times; ++i) {
    MPI_Barrier(comm_);
    total_s += time_work(time_senders == (rank_ != last), times, [&] {
      if (rank_ < senders) send(bytes, last);
      for (int src = 0; rank_ == last && src < senders; ++src) receive(bytes, MPI_ANY_SOURCE);
    });
  }
  return total_s;
}

}  // namespace nuice::am_bench
