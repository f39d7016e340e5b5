// SPDX-License-Identifier: BSD-3-Clause
// Times a start and a wait from C++, C and Fortran, interleaved. One rank sends itself 8 bytes, so only the
// calls are timed. Prints one JSON object per language.
//
//   call_cost PAIRS ROUNDS
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "nuice/mpi/alltoallv.hpp"
#include "nuice/nuice.h"

#ifdef CALL_COST_FORTRAN
extern "C" void fortran_pairs(nuice_request request, std::int64_t count);
#endif

namespace {

void c_pairs(nuice_request request, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    if (nuice_start(request) != NUICE_OK || nuice_wait(request) != NUICE_OK) std::abort();
}

struct Way {
  const char* name;
  std::function<void()> run;
  std::vector<double> seconds;
};

void measure(std::int64_t pairs, int rounds) {
  const std::array<int, 1> one = {1};
  const std::array<int, 1> zero = {0};
  std::array<double, 1> from = {7};
  std::array<double, 1> to = {0};
  nuice::mpi::Exchange exchange =
      nuice::mpi::alltoallv_init(MPI_COMM_SELF, from, one, zero, to, one, zero, {.scheduler = "coloring"});
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nuice", "scheduler=coloring");
  nuice_request request = nullptr;
  if (nuice_alltoallv_init(from.data(), one.data(), zero.data(), MPI_DOUBLE, to.data(), one.data(),
                           zero.data(), MPI_DOUBLE, MPI_COMM_SELF, info, &request) != NUICE_OK)
    std::abort();
  std::vector<Way> ways = {{"C++",
                            [&] {
                              for (std::int64_t i = 0; i < pairs; ++i) exchange.start(), exchange.wait();
                            },
                            {}},
                           {"C", [&] { c_pairs(request, pairs); }, {}}};
#ifdef CALL_COST_FORTRAN
  ways.push_back({"Fortran", [&] { fortran_pairs(request, pairs); }, {}});
#endif
  for (int round = 0; round <= rounds; ++round)
    for (Way& way : ways) {
      const double begin_s = MPI_Wtime();
      way.run();
      if (round > 0) way.seconds.push_back((MPI_Wtime() - begin_s) / static_cast<double>(pairs));
    }
  for (Way& way : ways) {
    std::ranges::sort(way.seconds);
    std::printf("{\"language\": \"%s\", \"pair_s\": %.6g}\n", way.name, way.seconds[way.seconds.size() / 2]);
  }
  nuice_free(&request);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 3) measure(std::atoll(argv[1]), std::atoi(argv[2]));
  MPI_Finalize();
  return argc == 3 ? 0 : 2;
}
