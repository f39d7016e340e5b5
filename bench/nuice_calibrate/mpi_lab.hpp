// SPDX-License-Identifier: BSD-3-Clause
// Measures the machine on which the program runs.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "nuice/core/phase_table.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_calibrate/lab.hpp"

namespace nuice::calibrate {

inline Sample time_once(mpi::Exchange& exchange) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  exchange.start();
  exchange.wait();
  const double elapsed_s = MPI_Wtime() - begin_s;
  return {mpi::max_over_ranks(elapsed_s), mpi::max_over_ranks(mpi::world_rank() == 0 ? elapsed_s : 0)};
}

/// Memory for all messages of this rank. It is written once, so that its pages are allocated.
class Buffers {
 public:
  explicit Buffers(const mpi::Plan& plan) {
    for (const Partner& partner : plan.destinations()) {
      memory_.emplace_back(static_cast<std::size_t>(partner.bytes), std::byte{1});
      send.push_back({memory_.back().data(), partner.bytes});
    }
    for (const Partner& partner : plan.sources()) {
      memory_.emplace_back(static_cast<std::size_t>(partner.bytes), std::byte{2});
      receive.push_back({memory_.back().data(), partner.bytes});
    }
  }
  std::vector<SendBuffer> send;
  std::vector<ReceiveBuffer> receive;

 private:
  std::vector<std::vector<std::byte>> memory_;
};

inline constexpr int least_samples = 3;
inline constexpr double very_slow_s = 0.5;  // slower probes get only one sample
inline constexpr double waiting_s = 0.01;   // time for an unreceived message to leave

/// Repeats step(), which returns seconds, until there are `reps` samples or its time is used up.
template <typename Step>
auto repeat(int reps, double patience_s, int least_reps, Step&& step, auto&& seconds_of) {
  const double first_s = seconds_of(step());  // includes connections and page faults
  const int least = first_s > very_slow_s && least_reps == least_samples ? 1 : least_reps;
  std::vector<decltype(step())> samples;
  double elapsed_s = 0;
  while (static_cast<int>(samples.size()) < reps) {
    if (static_cast<int>(samples.size()) >= least && elapsed_s > patience_s) break;
    samples.push_back(step());
    elapsed_s += seconds_of(samples.back());
  }
  return samples;
}

inline std::vector<Sample> repeated(const Probe& probe, int reps, double patience_s, int least) {
  mpi::Plan plan =
      mpi::Plan::from_table(MPI_COMM_WORLD, slice(probe.matrix, probe.schedule, mpi::world_rank()),
                            {.scheduler = "calibrate", .executor = probe.executor});
  const Buffers buffers(plan);
  mpi::Exchange exchange = plan.bind(buffers.send, buffers.receive);
  return repeat(
      reps, patience_s, least, [&] { return time_once(exchange); },
      [](const Sample& sample) { return sample.last_s; });
}

/// The lab on MPI. All member functions are collective over MPI_COMM_WORLD.
class MpiLab : public Lab {
 public:
  /// A probe is repeated for at most `patience_s`.
  explicit MpiLab(double patience_s) : patience_s_(patience_s) {}

  Rank num_ranks() const override { return mpi::world_size(); }

  std::vector<Sample> run(const Probe& probe, int reps) override {
    return repeated(probe, reps, patience_s_, least_samples);
  }

  std::vector<Sample> run_for(const Probe& probe, double seconds) override {
    constexpr int many = 100'000;
    constexpr int least = 9;
    return repeated(probe, many, seconds, least);
  }

  /// Rank 0 sends and waits for a while. Only then is rank 1 told to receive.
  bool leaves_early(Bytes bytes) override {
    constexpr int data_tag = 1;
    constexpr int go_tag = 2;
    const int rank = mpi::world_rank();
    std::vector<std::byte> buffer(rank < 2 ? static_cast<std::size_t>(bytes) : 0);
    const int count = static_cast<int>(bytes);
    int left = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(buffer.data(), count, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &request);
      int done = 0;
      const double begin_s = MPI_Wtime();
      // The request is tested often enough, even if this rank loses its core meanwhile.
      for (int looks = 0; done == 0 && (looks < 1000 || MPI_Wtime() - begin_s < waiting_s); ++looks)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      left = done;
      MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(buffer.data(), count, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return mpi::max_over_ranks(left) != 0;
  }

  std::vector<double> barrier(Rank ranks, int reps) override {
    constexpr int many = 32;
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, mpi::world_rank() < ranks ? 0 : MPI_UNDEFINED, 0, &some);
    const auto times = repeat(
        reps, patience_s_, least_samples,
        [&] {
          MPI_Barrier(MPI_COMM_WORLD);
          const double begin_s = MPI_Wtime();
          for (int i = 0; some != MPI_COMM_NULL && i < many; ++i) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ibarrier(some, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
          }
          return mpi::max_over_ranks(some == MPI_COMM_NULL ? 0 : (MPI_Wtime() - begin_s) / many);
        },
        [](double seconds) { return many * seconds; });
    if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
    return times;
  }

  std::vector<double> copy(int reps) override {
    constexpr std::size_t bytes = 4U << 20;
    std::vector<std::byte> from(bytes, std::byte{1});
    std::vector<std::byte> to(bytes, std::byte{2});
    return repeat(
        reps, patience_s_, least_samples,
        [&] {
          const double begin_s = MPI_Wtime();
          std::memcpy(to.data(), from.data(), bytes);
          from[0] = to[bytes - 1];  // keeps the compiler from removing the copy
          return mpi::max_over_ranks((MPI_Wtime() - begin_s) / static_cast<double>(bytes));
        },
        [](double seconds) { return seconds * static_cast<double>(bytes); });
  }

 private:
  double patience_s_;
};

}  // namespace nuice::calibrate
