// SPDX-License-Identifier: BSD-3-Clause
// What MPI itself offers for the same exchange. The counts on both sides are taken as known, which favours
// these methods: a plan also finds out who sends what to whom.
#include <algorithm>
#include <climits>
#include <cstring>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {
namespace {

/// Counts and displacements by position in Messages, as MPI-3.1 wants them: int.
struct IntLayout {
  std::vector<int> counts;
  std::vector<int> offsets;
};

/// Throws Error limit if something does not fit in an int.
IntLayout int_layout(const Messages& messages, Rank rank) {
  if (messages.memory.size() > INT_MAX)
    throw Error(ErrorCode::limit, "rank " + std::to_string(rank) + " has " +
                                      std::to_string(messages.memory.size()) +
                                      " bytes on one side, more than MPI's int counts");
  IntLayout layout;
  for (std::size_t i = 0; i < messages.partners.size(); ++i) {
    layout.counts.push_back(static_cast<int>(messages.partners[i].bytes));
    layout.offsets.push_back(static_cast<int>(messages.offsets[i]));
  }
  return layout;
}

std::vector<int> ranks_of(const Messages& messages) {
  std::vector<int> ranks;
  for (const Partner& partner : messages.partners) ranks.push_back(partner.rank);
  return ranks;
}

/// From one entry per partner to one per rank.
IntLayout spread(const IntLayout& by_partner, const Messages& messages) {
  const auto size = static_cast<std::size_t>(mpi::world_size());
  IntLayout by_rank{std::vector<int>(size, 0), std::vector<int>(size, 0)};
  for (std::size_t i = 0; i < messages.partners.size(); ++i) {
    const auto rank = static_cast<std::size_t>(messages.partners[i].rank);
    by_rank.counts[rank] = by_partner.counts[i];
    by_rank.offsets[rank] = by_partner.offsets[i];
  }
  return by_rank;
}

class AlltoallvMethod : public Method {
 public:
  explicit AlltoallvMethod(Payload& payload) : payload_(payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      send_ = spread(int_layout(payload.send, payload.rank), payload.send);
      receive_ = spread(int_layout(payload.receive, payload.rank), payload.receive);
    });
  }
  void run() override {
    MPI_Alltoallv(payload_.send.memory.data(), send_.counts.data(), send_.offsets.data(), MPI_BYTE,
                  payload_.receive.memory.data(), receive_.counts.data(), receive_.offsets.data(), MPI_BYTE,
                  MPI_COMM_WORLD);
  }

 private:
  Payload& payload_;
  IntLayout send_;
  IntLayout receive_;
};

class NeighborMethod : public Method {
 public:
  explicit NeighborMethod(Payload& payload) : payload_(payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      send_ = int_layout(payload.send, payload.rank);
      receive_ = int_layout(payload.receive, payload.rank);
    });
    const std::vector<int> to = ranks_of(payload.send);
    const std::vector<int> from = ranks_of(payload.receive);
    const double begin_s = MPI_Wtime();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph_);
    planning.total_s = mpi::max_over_ranks(MPI_Wtime() - begin_s);
  }
  NeighborMethod(const NeighborMethod&) = delete;
  NeighborMethod& operator=(const NeighborMethod&) = delete;
  ~NeighborMethod() override { MPI_Comm_free(&graph_); }

  void run() override {
    MPI_Neighbor_alltoallv(payload_.send.memory.data(), send_.counts.data(), send_.offsets.data(), MPI_BYTE,
                           payload_.receive.memory.data(), receive_.counts.data(), receive_.offsets.data(),
                           MPI_BYTE, graph_);
  }

 protected:
  Payload& payload_;
  IntLayout send_;
  IntLayout receive_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

#ifdef NUICE_BENCH_NEIGHBOR_INIT
/// The persistent form, of MPI 4.
class NeighborInitMethod : public NeighborMethod {
 public:
  explicit NeighborInitMethod(Payload& payload) : NeighborMethod(payload) {
    const double begin_s = MPI_Wtime();
    MPI_Neighbor_alltoallv_init(payload.send.memory.data(), send_.counts.data(), send_.offsets.data(),
                                MPI_BYTE, payload.receive.memory.data(), receive_.counts.data(),
                                receive_.offsets.data(), MPI_BYTE, graph_, MPI_INFO_NULL, &request_);
    planning.total_s += mpi::max_over_ranks(MPI_Wtime() - begin_s);
  }
  NeighborInitMethod(const NeighborInitMethod&) = delete;
  NeighborInitMethod& operator=(const NeighborInitMethod&) = delete;
  ~NeighborInitMethod() override { MPI_Request_free(&request_); }

  void run() override {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

/// Throws Error limit if a message does not fit in an int.
void require_int_messages(const Payload& payload) {
  for (const Messages* side : {&payload.send, &payload.receive})
    for (const Partner& partner : side->partners)
      if (partner.bytes > INT_MAX)
        throw Error(ErrorCode::limit,
                    "rank " + std::to_string(payload.rank) + " and rank " + std::to_string(partner.rank) +
                        " exchange " + std::to_string(partner.bytes) + " bytes, more than MPI's int counts");
}

/// What most programs do by hand: all receives, all sends, in the order of ranks.
class IsendMethod : public Method {
 public:
  explicit IsendMethod(Payload& payload) : payload_(payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      require_int_messages(payload);
      requests_.reserve(payload.send.partners.size() + payload.receive.partners.size());
    });
  }
  void run() override {
    requests_.clear();
    std::span<std::byte> from_self;
    std::span<std::byte> to_self;
    for (std::size_t i = 0; i < payload_.receive.partners.size(); ++i) {
      const auto message = payload_.receive.message(i);
      const Rank src = payload_.receive.partners[i].rank;
      if (src == payload_.rank) {
        to_self = message;
      } else {
        MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, src, 0, MPI_COMM_WORLD,
                  &next_request());
      }
    }
    for (std::size_t i = 0; i < payload_.send.partners.size(); ++i) {
      const auto message = payload_.send.message(i);
      const Rank dst = payload_.send.partners[i].rank;
      if (dst == payload_.rank) {
        from_self = message;
      } else {
        MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, dst, 0, MPI_COMM_WORLD,
                  &next_request());
      }
    }
    if (!from_self.empty()) std::memcpy(to_self.data(), from_self.data(), from_self.size());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  MPI_Request& next_request() { return requests_.emplace_back(MPI_REQUEST_NULL); }
  Payload& payload_;
  std::vector<MPI_Request> requests_;  // never grows beyond what the constructor reserved
};

/// The same by persistent requests.
class PersistentMethod : public Method {
 public:
  explicit PersistentMethod(Payload& payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] { require_int_messages(payload); });
    for (std::size_t i = 0; i < payload.receive.partners.size(); ++i) {
      const auto message = payload.receive.message(i);
      const Rank src = payload.receive.partners[i].rank;
      if (src == payload.rank) {
        to_self_ = message;
      } else {
        MPI_Recv_init(message.data(), static_cast<int>(message.size()), MPI_BYTE, src, 0, MPI_COMM_WORLD,
                      &requests_.emplace_back(MPI_REQUEST_NULL));
      }
    }
    for (std::size_t i = 0; i < payload.send.partners.size(); ++i) {
      const auto message = payload.send.message(i);
      const Rank dst = payload.send.partners[i].rank;
      if (dst == payload.rank) {
        from_self_ = message;
      } else {
        MPI_Send_init(message.data(), static_cast<int>(message.size()), MPI_BYTE, dst, 0, MPI_COMM_WORLD,
                      &requests_.emplace_back(MPI_REQUEST_NULL));
      }
    }
  }
  PersistentMethod(const PersistentMethod&) = delete;
  PersistentMethod& operator=(const PersistentMethod&) = delete;
  ~PersistentMethod() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void run() override {
    const int count = static_cast<int>(requests_.size());
    MPI_Startall(count, requests_.data());
    if (!from_self_.empty()) std::memcpy(to_self_.data(), from_self_.data(), from_self_.size());
    MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::span<std::byte> from_self_;
  std::span<std::byte> to_self_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Method> make_peer(Peer peer, Payload& payload) {
  switch (peer) {
    case Peer::alltoallv:
      return std::make_unique<AlltoallvMethod>(payload);
    case Peer::neighbor:
      return std::make_unique<NeighborMethod>(payload);
#ifdef NUICE_BENCH_NEIGHBOR_INIT
    case Peer::neighbor_init:
      return std::make_unique<NeighborInitMethod>(payload);
#endif
    case Peer::isend:
      return std::make_unique<IsendMethod>(payload);
    case Peer::persistent:
      return std::make_unique<PersistentMethod>(payload);
    case Peer::nbx:
      return make_consensus(payload);
#ifdef NUICE_BENCH_PETSC
    case Peer::petscsf:
      return make_petsc(payload);
#endif
    default:
      break;  // bcast carries no matrix (broadcast_methods.cpp); the others are not in this build
  }
  throw Error(ErrorCode::invalid_argument, "unknown peer");
}

}  // namespace nuice::bench
