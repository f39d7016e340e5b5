// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness.hpp"

#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "kit/timing.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::am_bench {
namespace {

constexpr std::size_t large_page = std::size_t{1} << 21;

/// Sets the interval to the middle 95 % of the medians of resampled repetitions (Efron's bootstrap).
void set_interval(Row& row, const std::vector<double>& values) {
  constexpr int draws = 500;
  Random random(1);
  std::vector<double> medians;
  std::vector<double> drawn(values.size());
  for (int i = 0; i < draws; ++i) {
    for (double& value : drawn) value = values[random.below(values.size())];
    medians.push_back(kit::median(drawn));
  }
  std::ranges::sort(medians);
  row.low_s = medians[draws / 40];
  row.high_s = medians[draws - 1 - draws / 40];
}

}  // namespace

Memory::Memory(std::size_t bytes)
    : size_((bytes + large_page - 1) / large_page * large_page),
      bytes_(static_cast<std::byte*>(::operator new(size_, std::align_val_t{large_page}))) {
  // Without huge pages, the physical pages decide how well a block fits into the caches. Times of 1 MiB then
  // differ by 20 %.
  madvise(bytes_.get(), size_, MADV_HUGEPAGE);
  std::fill_n(bytes_.get(), size_, std::byte{0});
}

void Memory::Free::operator()(std::byte* bytes) const {
  ::operator delete(bytes, std::align_val_t{large_page});
}

double time_work(bool counts, double operations, const std::function<void()>& work) {
  const double begin_s = MPI_Wtime();
  work();
  return counts ? (MPI_Wtime() - begin_s) / operations : 0;
}

std::vector<Row> measure(const Group& group, const Repetitions& repetitions) {
  const std::vector<Method>& methods = group.methods;
  std::vector<std::vector<double>> samples(methods.size());
  kit::in_turns(repetitions.warmup + repetitions.timed, methods.size(), [&](int round, std::size_t i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (group.warm_buffers) methods[i].run();
    const double seconds = mpi::max_over_ranks(methods[i].run());
    if (round >= repetitions.warmup) samples[i].push_back(seconds);
  });
  std::vector<Row> rows;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    rows.push_back({group.pattern, group.bytes, group.detail, methods[i].name, kit::median(samples[i]),
                    std::ranges::min(samples[i])});
    set_interval(rows.back(), samples[i]);
  }
  return rows;
}

}  // namespace nuice::am_bench
