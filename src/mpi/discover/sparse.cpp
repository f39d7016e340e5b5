// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/discover/sparse.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

/// The memory that MPI may use until the exchange ends. If this rank stops waiting, the memory is left to
/// MPI.
struct SparseExchange::Pending {
  // The places of the requests: the receive of the next message from any rank, the sum over all ranks, and
  // this rank's sends.
  static constexpr std::size_t receive = 0;
  static constexpr std::size_t consensus = 1;
  static constexpr std::size_t first_send = 2;

  Pending(const Communicator& on, int with_tag, Box box, const Sums& own, std::size_t most_bytes)
      : comm(on),
        tag(with_tag),
        out(std::move(box)),
        mine(own),
        buffer(most_bytes),
        requests(first_send + out.items.size(), MPI_REQUEST_NULL),
        indices(requests.size()),
        statuses(requests.size()),
        sends_left(out.items.size()) {}

  void start() {
    post_receive();
    for (std::size_t i = 0; i < out.items.size(); ++i) {
      const auto message = out.of(out.items[i]);
      must(MPI_Issend(message.data(), static_cast<int>(message.size()), MPI_BYTE, out.items[i].partner, tag,
                      comm.get(), &requests[first_send + i]),
           "MPI_Issend");
    }
    join();
  }
  void post_receive() {
    must(MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, MPI_ANY_SOURCE, tag, comm.get(),
                   &requests[receive]),
         "MPI_Irecv");
  }
  /// Joins the sum over all ranks, if receivers have got all messages of this rank.
  void join() {
    if (sends_left > 0) return;
    must(MPI_Iallreduce(mine.data(), all.data(), num_sums, MPI_UINT64_T, MPI_SUM, comm.get(),
                        &requests[consensus]),
         "MPI_Iallreduce");
  }
  /// Calls MPI once. Returns whether a request has completed.
  bool advance(Box& in) {
    int count = 0;
    must(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(),
                      statuses.data()),
         "MPI_Testsome");
    if (count <= 0) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto which = static_cast<std::size_t>(indices[i]);
      if (which == receive) take(statuses[i], in);
      if (which == consensus) is_done = true;
      if (which >= first_send && --sends_left == 0) join();
    }
    return true;
  }
  void take(const MPI_Status& status, Box& in) {
    int count = 0;
    must(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    in.add(status.MPI_SOURCE, std::span(buffer).first(static_cast<std::size_t>(count)));
    post_receive();
  }
  /// Cancels the pending receive. Called after all ranks have joined the sum, so no more message comes.
  void finish() {
    must(MPI_Cancel(&requests[receive]), "MPI_Cancel");
    must(MPI_Wait(&requests[receive], MPI_STATUS_IGNORE), "MPI_Wait");
  }

  const Communicator& comm;
  int tag;
  Box out;
  Sums mine;
  Sums all = {};
  std::vector<std::byte> buffer;
  std::vector<MPI_Request> requests;
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
  std::size_t sends_left;
  bool is_done = false;
};

const SparseExchange::Box& SparseExchange::run(Box out, Sums& sums, std::size_t most_bytes) {
  const int tag = first_tag_ + turn_;
  turn_ = 1 - turn_;
  in_.clear();
  auto pending = std::make_unique<Pending>(comm_, tag, std::move(out), sums, most_bytes);
  Watch watch(comm_, "a sparse exchange");
  try {
    pending->start();
    while (!pending->is_done) {
      if (pending->advance(in_))
        watch.found_something();
      else
        watch.found_nothing();
    }
    pending->finish();
  } catch (...) {
    comm_.give_up();
    (void)pending.release();
    throw;
  }
  sums = pending->all;
  std::ranges::sort(in_.items, {}, &Item::partner);
  return in_;
}

}  // namespace nuice::mpi
