// SPDX-License-Identifier: BSD-3-Clause
// The cost of the same patterns in bare MPI, without handlers, credits or order between transports: a lower
// bound for active messages over MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "bench/harness.hpp"

namespace nuice::am_bench {

/// How a small message is sent and received.
enum class Style {
  blocking,  ///< MPI_Send, MPI_Recv
  ring,      ///< MPI_Send, a ring of 16 persistent receives, MPI_Test of its head
  isend,     ///< one MPI_Isend per message, 64 in flight; the receiver uses the ring
};

class MpiPeers {
 public:
  /// Collective. blocks must live as long as this object.
  explicit MpiPeers(Blocks& blocks);
  MpiPeers(const MpiPeers&) = delete;
  MpiPeers& operator=(const MpiPeers&) = delete;
  ~MpiPeers();

  // All functions are collective and return the seconds per operation, like AmSide's functions.
  double ping_pong(Style style, std::size_t bytes, int times);
  double flood(Style style, std::size_t bytes, int messages);
  double two_way_flood(std::size_t bytes, int messages);     ///< ring
  double round_trip_flood(std::size_t bytes, int messages);  ///< ring
  enum class Block { synchronous, asynchronous, send, put };
  /// Returns half of the time of a round trip of a block. The block is sent by MPI_Ssend ("synchronous" in
  /// 002), by MPI_Isend from a copy ("asynchronous", buffering), by MPI_Send, or by MPI_Put, a flush and an
  /// empty message.
  double block(Block kind, std::size_t bytes, int times);
  /// A circular shift in both directions: two calls of MPI_Sendrecv, or all sends and receives followed by
  /// MPI_Waitall.
  double shift(bool synchronous, std::size_t bytes, int times);
  double fan_in(std::size_t bytes, int senders, int times, bool time_senders);

 private:
  bool take();  // receives the message at the head of the ring, if it has arrived
  void wait(int messages);
  /// Runs time_work() with a ring of receives on every rank.
  double with_ring(bool counts, double operations, const std::function<void()>& work);
  void send(std::size_t bytes, int dst);
  void receive(std::size_t bytes, int src);
  void send_and_take(std::size_t bytes, int messages);
  template <typename Send, typename Receive>
  void bounce(int times, Send&& send, Receive&& receive) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  int rank_ = 0;
  int size_ = 0;
  Memory& out_;
  Memory& in_;
  std::vector<std::vector<char>> buffers_;
  std::vector<MPI_Request> ring_;
  std::size_t head_ = 0;
};

}  // namespace nuice::am_bench
