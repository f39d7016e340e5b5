// SPDX-License-Identifier: BSD-3-Clause
// MPI's own methods for the same exchange. Counts on both sides are given, which favours these methods: a
// plan must also find out which rank sends how much to which.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "kit/errors.hpp"
#include "kit/timing.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_bench/call_methods.hpp"
#include "nuice_bench/consensus_method.hpp"
#include "nuice_bench/forwarding_method.hpp"
#include "nuice_bench/int_layout.hpp"
#include "nuice_bench/methods.hpp"
#ifdef NUICE_BENCH_ADVANCE
#include "nuice_bench/advance_method.hpp"
#endif
#ifdef NUICE_BENCH_PETSC
#include "nuice_bench/petsc_method.hpp"
#endif

namespace nuice::bench {
namespace {

/// Turns one entry per partner into one entry per rank.
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
    planning.total_s = kit::time_batch([&] {
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &graph_);
    });
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
/// The persistent form of MPI 4.
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

/// Throws Error limit if the size of a message does not fit in an int.
void require_int_messages(const Payload& payload) {
  for (const Messages* side : {&payload.send, &payload.receive})
    for (const Partner& partner : side->partners)
      if (partner.bytes > INT_MAX)
        kit::fail(ErrorCode::limit, "rank {} and rank {} exchange {} bytes, more than MPI's int counts",
                  payload.rank, partner.rank, partner.bytes);
}

/// Calls visit(data, count, rank) for every message except the rank's message to itself. Returns that
/// message.
template <typename Visit>
std::span<std::byte> for_each_remote(Messages& messages, Rank self, Visit&& visit) {
  std::span<std::byte> own;
  for (std::size_t i = 0; i < messages.partners.size(); ++i) {
    const auto message = messages.message(i);
    if (messages.partners[i].rank == self) {
      own = message;
    } else {
      visit(message.data(), static_cast<int>(message.size()), messages.partners[i].rank);
    }
  }
  return own;
}

void copy_message(std::span<std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

/// Does what most programs do by hand: posts all receives and then starts all sends, in the order of ranks.
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
    const auto to_self =
        for_each_remote(payload_.receive, payload_.rank, [&](void* data, int count, Rank src) {
          MPI_Irecv(data, count, MPI_BYTE, src, 0, MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
        });
    const auto from_self =
        for_each_remote(payload_.send, payload_.rank, [&](void* data, int count, Rank dst) {
          MPI_Isend(data, count, MPI_BYTE, dst, 0, MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
        });
    copy_message(from_self, to_self);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  Payload& payload_;
  std::vector<MPI_Request> requests_;  // never grows beyond what the constructor reserved
};

/// IsendMethod with persistent requests.
class PersistentMethod : public Method {
 public:
  explicit PersistentMethod(Payload& payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] { require_int_messages(payload); });
    to_self_ = for_each_remote(payload.receive, payload.rank, [&](void* data, int count, Rank src) {
      MPI_Recv_init(data, count, MPI_BYTE, src, 0, MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
    });
    from_self_ = for_each_remote(payload.send, payload.rank, [&](void* data, int count, Rank dst) {
      MPI_Send_init(data, count, MPI_BYTE, dst, 0, MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
    });
  }
  PersistentMethod(const PersistentMethod&) = delete;
  PersistentMethod& operator=(const PersistentMethod&) = delete;
  ~PersistentMethod() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void run() override {
    const int count = static_cast<int>(requests_.size());
    MPI_Startall(count, requests_.data());
    copy_message(from_self_, to_self_);
    MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::span<std::byte> from_self_;
  std::span<std::byte> to_self_;
  std::vector<MPI_Request> requests_;
};

template <typename Peer>
std::unique_ptr<Method> make(Payload& payload) {
  return std::make_unique<Peer>(payload);
}

struct Row {
  std::string_view name;
  std::unique_ptr<Method> (*make)(Payload& payload);
};
constexpr auto peers = std::to_array<Row>({
    {"alltoallv", make<AlltoallvMethod>},
    {"neighbor", make<NeighborMethod>},
#ifdef NUICE_BENCH_NEIGHBOR_INIT
    {"neighbor_init", make<NeighborInitMethod>},
#endif
    {"isend", make<IsendMethod>},
    {"persistent", make<PersistentMethod>},
    {"nbx", make<ConsensusMethod>},
    {"sparse", make<SparseMethod>},
    {"kept", make<KeptMethod>},
    {"bound", make<BoundMethod>},
    {"two_phase_bruck", make_two_phase_bruck},
    {"tuna_flat", make_tuna_flat},
    {"tuna_hosts", make_tuna_on_hosts},
#ifdef NUICE_BENCH_ADVANCE
    {"advance_neighbor", make<AdvanceNeighbor<false>>},
    {"advance_neighbor_loc", make<AdvanceNeighbor<true>>},
    {"advance_init", make<AdvanceInit<false>>},
    {"advance_init_loc", make<AdvanceInit<true>>},
    {"advance_sparse", make<AdvanceSparse<false>>},
    {"advance_sparse_loc", make<AdvanceSparse<true>>},
#endif
#ifdef NUICE_BENCH_PETSC
    {"petscsf", make<PetscMethod>},
#endif
});

}  // namespace

std::vector<std::string> peer_names(bool is_broadcast) {
  if (is_broadcast) return {"bcast"};
  std::vector<std::string> names;
  for (const Row& row : peers) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Method> make_peer(const std::string& name, Payload& payload) {
  return std::ranges::find(peers, name, &Row::name)->make(payload);
}

}  // namespace nuice::bench
