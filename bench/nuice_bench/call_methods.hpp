// SPDX-License-Identifier: BSD-3-Clause
// The library's calls that need no plan: nuice::mpi::alltoallv, which keeps its state with the communicator;
// that state used directly; and sparse_alltoallv, whose receivers do not know their senders.
#pragma once

#include <cstring>

#include "nuice/mpi/alltoallv.hpp"
#include "nuice/mpi/exchanger.hpp"
#include "nuice/mpi/sparse_alltoallv.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// Counts and displacements by rank, for such calls.
struct Blocks {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> displs;

  explicit Blocks(const Messages& messages)
      : counts(static_cast<std::size_t>(mpi::world_size()), 0), displs(counts.size(), 0) {
    for (std::size_t i = 0; i < messages.partners.size(); ++i) {
      const auto rank = static_cast<std::size_t>(messages.partners[i].rank);
      counts[rank] = messages.partners[i].bytes;
      displs[rank] = static_cast<std::int64_t>(messages.offsets[i]);
    }
  }
};

class KeptMethod : public Method {
 public:
  explicit KeptMethod(Payload& payload) : payload_(payload), send_(payload.send), receive_(payload.receive) {}
  void run() override {
    mpi::alltoallv(MPI_COMM_WORLD, payload_.send.memory, send_.counts, send_.displs, payload_.receive.memory,
                   receive_.counts, receive_.displs);
  }

 private:
  Payload& payload_;
  Blocks send_;
  Blocks receive_;
};

class BoundMethod : public Method {
 public:
  explicit BoundMethod(Payload& payload)
      : exchanger_(MPI_COMM_WORLD),
        exchange_(exchanger_.bind(messages<mpi::Outgoing>(payload.send),
                                  messages<mpi::Incoming>(payload.receive))) {}
  void run() override {
    exchange_.start();
    exchange_.wait();
  }

 private:
  template <typename Message>
  static std::vector<Message> messages(Messages& side) {
    std::vector<Message> all;
    for (std::size_t i = 0; i < side.partners.size(); ++i)
      all.push_back({side.partners[i].rank, side.message(i).data(), side.partners[i].bytes});
    return all;
  }

  mpi::Exchanger exchanger_;
  mpi::Exchange exchange_;
};

/// Copies received messages to the payload's buffers. The time of the copy is counted; NBX receives directly
/// into these buffers.
class SparseMethod : public Method {
 public:
  explicit SparseMethod(Payload& payload) : payload_(payload) {
    for (std::size_t i = 0; i < payload.send.partners.size(); ++i)
      sends_.push_back(
          {payload.send.partners[i].rank, payload.send.message(i).data(), payload.send.partners[i].bytes});
  }
  void run() override {
    const mpi::Received received = mpi::sparse_alltoallv(MPI_COMM_WORLD, sends_);
    for (std::size_t i = 0; i < received.sources.size(); ++i) {
      const auto from = received.message(i);
      if (!from.empty()) std::memcpy(payload_.receive.message(i).data(), from.data(), from.size());
    }
  }

 private:
  Payload& payload_;
  std::vector<mpi::Outgoing> sends_;
};

}  // namespace nuice::bench
