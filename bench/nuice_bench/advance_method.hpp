// SPDX-License-Identifier: BSD-3-Clause
// MPI Advance (https://github.com/mpi-advance/locality_aware): neighbour collectives, persistent neighbour
// collectives, and a sparse exchange whose receivers do not know their senders. _loc: its locality-aware
// variants, which aggregate per host. Built with -DNUICE_MPI_ADVANCE=DIR.
#pragma once

#include <locality_aware.h>

#include <algorithm>
#include <cstring>

#include "kit/timing.hpp"
#include "nuice_bench/int_layout.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// Uses the library's graph communicator. The library's choice of algorithms is global, so each run() sets
/// it.
class AdvanceMethod : public Method {
 public:
  explicit AdvanceMethod(Payload& payload, bool locality) : payload_(payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      send_ = int_layout(payload.send, payload.rank);
      receive_ = int_layout(payload.receive, payload.rank);
    });
    to_ = ranks_of(payload.send);
    const std::vector<int> from = ranks_of(payload.receive);
    planning.total_s = kit::time_batch([&] {
      MPIL_Info_init(&info_);
      MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(),
                                      MPI_UNWEIGHTED, static_cast<int>(to_.size()), to_.data(),
                                      MPI_UNWEIGHTED, info_, 0, &graph_);
      if (locality) MPIL_Comm_topo_init(graph_);
    });
  }
  AdvanceMethod(const AdvanceMethod&) = delete;
  AdvanceMethod& operator=(const AdvanceMethod&) = delete;
  ~AdvanceMethod() override {
    MPIL_Comm_free(&graph_);
    MPIL_Info_free(&info_);
  }

 protected:
  Payload& payload_;
  IntLayout send_;
  IntLayout receive_;
  std::vector<int> to_;
  MPIL_Info* info_ = nullptr;
  MPIL_Comm* graph_ = nullptr;
};

template <bool Locality>
class AdvanceNeighbor : public AdvanceMethod {
 public:
  explicit AdvanceNeighbor(Payload& payload) : AdvanceMethod(payload, Locality) {}
  void run() override {
    MPIL_Set_alltoallv_neighbor_alogorithm(Locality ? NEIGHBOR_ALLTOALLV_LOCALITY
                                                    : NEIGHBOR_ALLTOALLV_STANDARD);
    MPIL_Neighbor_alltoallv(payload_.send.memory.data(), send_.counts.data(), send_.offsets.data(), MPI_BYTE,
                            payload_.receive.memory.data(), receive_.counts.data(), receive_.offsets.data(),
                            MPI_BYTE, graph_);
  }
};

template <bool Locality>
class AdvanceInit : public AdvanceMethod {
 public:
  explicit AdvanceInit(Payload& payload) : AdvanceMethod(payload, Locality) {
    MPIL_Set_alltoallv_neighbor_init_alogorithm(Locality ? NEIGHBOR_ALLTOALLV_INIT_LOCALITY
                                                         : NEIGHBOR_ALLTOALLV_INIT_STANDARD);
    planning.total_s += kit::time_batch([&] {
      MPIL_Neighbor_alltoallv_init(payload.send.memory.data(), send_.counts.data(), send_.offsets.data(),
                                   MPI_BYTE, payload.receive.memory.data(), receive_.counts.data(),
                                   receive_.offsets.data(), MPI_BYTE, graph_, info_, &request_);
    });
  }
  ~AdvanceInit() override { MPIL_Request_free(&request_); }
  void run() override {
    MPIL_Start(request_);
    MPIL_Wait(request_, MPI_STATUS_IGNORE);
  }

 private:
  MPIL_Request* request_ = nullptr;
};

/// The library allocates received data in the order of arrival. The time to copy the data to their
/// destination is counted, because a program must copy them too.
template <bool Locality>
class AdvanceSparse : public AdvanceMethod {
 public:
  explicit AdvanceSparse(Payload& payload) : AdvanceMethod(payload, Locality) {}
  void run() override {
    MPIL_Set_alltoallv_crs(Locality ? ALLTOALLV_CRS_NONBLOCKING_LOC : ALLTOALLV_CRS_NONBLOCKING);
    int count = 0;
    int size = 0;
    int* from = nullptr;
    int* counts = nullptr;
    int* offsets = nullptr;
    void* values = nullptr;
    MPIL_Alltoallv_crs(static_cast<int>(to_.size()), static_cast<int>(payload_.send.memory.size()),
                       to_.data(), send_.counts.data(), send_.offsets.data(), MPI_BYTE,
                       payload_.send.memory.data(), &count, &size, &from, &counts, &offsets, MPI_BYTE,
                       &values, info_, graph_);
    for (int i = 0; i < count; ++i) place(from[i], static_cast<std::byte*>(values) + offsets[i], counts[i]);
    for (void* memory :
         {static_cast<void*>(from), static_cast<void*>(counts), static_cast<void*>(offsets), values})
      MPIL_Free(memory);
  }

 private:
  void place(int rank, const std::byte* data, int bytes) {
    const auto& partners = payload_.receive.partners;
    const auto known = std::ranges::find(partners, rank, &Partner::rank);
    if (known == partners.end()) return;  // verify() finds missing messages
    const auto message = payload_.receive.message(static_cast<std::size_t>(known - partners.begin()));
    std::memcpy(message.data(), data, std::min(message.size(), static_cast<std::size_t>(bytes)));
  }
};

}  // namespace nuice::bench
