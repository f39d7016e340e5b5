// SPDX-License-Identifier: BSD-3-Clause
// What the window of the executor credit comes to on networks that this machine cannot have, in simulation:
//
//   build/release/tests/unit/window_simulation [exchanges]
//
// Every line is one port: rate, round trip, queue in bandwidth-delay products; then the window that was settled on, the
// median of the last half of the exchanges over the bound, as the share of the port that is used, and packets dropped in it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/port_simulation.hpp"

int main(int argc, char** argv) {
  const int exchanges = argc > 1 ? std::max(2, std::atoi(argv[1])) : 40;
  std::printf("%8s %8s %6s %12s %10s %10s %8s %8s\n", "Gbit/s", "us", "BDPs", "BDP bytes", "window", "used",
              "first", "dropped");
  for (const double gbit : {0.02, 0.05, 0.1, 1.0, 10.0, 25.0, 100.0}) {
    for (const double us : {5.0, 20.0, 50.0, 200.0}) {
      for (const double bdps : {0.5, 1.0, 4.0}) {
        const double rate = gbit * 1e9 / 8;
        const double bdp = rate * us * 1e-6;
        const nuice::Bytes queue = std::max<nuice::Bytes>(static_cast<nuice::Bytes>(bdps * bdp), 16384);
        const auto each = static_cast<nuice::Bytes>(std::max(65536.0, 8 * bdp));
        const nuice::test::SimulatedPort port{rate, us * 1e-6, queue, 8, each};
        nuice::test::PortSimulation simulation(port, {.most_bytes = 8 * each});
        std::vector<double> times;
        std::int64_t dropped = 0;
        for (int i = 0; i < exchanges; ++i) {
          if (i == exchanges / 2) dropped = simulation.dropped();
          times.push_back(simulation.run());
        }
        const double first = times.front();
        std::vector<double> late(times.begin() + exchanges / 2, times.end());
        std::ranges::sort(late);
        std::printf("%8g %8g %6g %12.0f %10lld %9.1f%% %7.1f%% %8lld\n", gbit, us, bdps, bdp,
                    static_cast<long long>(std::min(simulation.control().window_bytes(), 8 * each)),
                    100 * simulation.bound_s() / late[late.size() / 2], 100 * simulation.bound_s() / first,
                    static_cast<long long>(simulation.dropped() - dropped));
      }
    }
  }
  return 0;
}
