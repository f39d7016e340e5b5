// SPDX-License-Identifier: BSD-3-Clause
// Cases for contests: exchanges that were recorded on test networks (docs/explanation/results: tuned,
// tuned_loaded and grid), and noise that is made up. Times are drawn from those of an arm, or come in the
// order in which they were recorded.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace nuice::test {

struct SimulatedArm {
  std::string name;
  bool in_order = false;
  std::vector<double> times_ms;
  double noise = 0;     ///< Deviation of the logarithm.
  double spikes = 0;    ///< Share of exchanges that take ten times as long.
  double at_first = 1;  ///< The first exchange after another arm takes this many times as long.
  double new_s = 1;     ///< The first four of its own take this many times as long.

  double mean_ms() const {
    double sum = 0;
    const std::size_t from = in_order ? times_ms.size() / 2 : 0;
    for (std::size_t i = from; i < times_ms.size(); ++i) sum += times_ms[i];
    return sum / static_cast<double>(times_ms.size() - from) * std::exp(noise * noise / 2) * (1 + 9 * spikes);
  }
};

/// The first arm is MPI's own way. credit: an executor of those days.
struct ContestCase {
  std::string name;
  std::vector<SimulatedArm> arms;
};

/// The times of one run.
class SimulatedTimes {
 public:
  SimulatedTimes(const ContestCase& which, unsigned seed)
      : case_(which), used_(which.arms.size(), 0), random_(seed) {}

  double next_s(std::size_t arm) {
    const SimulatedArm& it = case_.arms[arm];
    const std::size_t own = used_[arm]++;
    const std::size_t size = it.times_ms.size();
    const std::size_t later = own < size ? own : size / 2 + own % (size - size / 2);
    const std::size_t at =
        it.in_order ? later : std::uniform_int_distribution<std::size_t>(0, size - 1)(random_);
    double factor = std::exp(it.noise * std::normal_distribution<double>()(random_));
    if (std::uniform_real_distribution<double>()(random_) < it.spikes) factor *= 10;
    if (arm != last_ && last_ < case_.arms.size()) factor *= it.at_first;
    if (own < 4) factor *= it.new_s;
    last_ = arm;
    return 1e-3 * it.times_ms[at] * factor;
  }

 private:
  const ContestCase& case_;
  std::vector<std::size_t> used_;
  std::mt19937 random_;
  std::size_t last_ = static_cast<std::size_t>(-1);
};

// clang-format off
inline const std::vector<ContestCase> contest_cases{
    {"fast, dense",
     {{.name = "isend", .times_ms = {378.7, 420.7, 392.5, 377.2, 375.9, 389.6, 540.2, 382.6, 551.2}},
      {.name = "credit", .times_ms = {96.37, 93.1, 93.1, 99.86, 104.6, 95.76, 100.7, 95.92, 133.9}}}},
    {"fast, d8",
     {{.name = "isend", .times_ms = {344.6, 376, 349.2, 348.6, 421.4, 375.7, 323.4, 336.4, 353.5}},
      {.name = "credit", .times_ms = {113.3, 96.84, 109, 106.5, 103.8, 112.1, 112.8, 113.6, 114.9}}}},
    {"fast, hot",
     {{.name = "isend", .times_ms = {331.8, 724.7, 388.9, 314.5, 310.8, 297.6, 707.7, 872.2, 699.7}},
      {.name = "credit", .times_ms = {194.7, 165.4, 164.5, 763.4, 168.2, 213.9, 164.7, 283, 345.7}}}},
    {"fast, d8_1k",
     {{.name = "isend", .times_ms = {1.517, 1.578, 2.66, 1.563, 1.534, 1.536, 1.478, 1.597, 1.6}},
      {.name = "credit", .times_ms = {1.244, 1.355, 1.458, 1.562, 1.401, 1.531, 1.372, 1.333, 1.38}}}},
    {"16x100/16k, dense",
     {{.name = "isend", .times_ms = {282.3, 476, 291.6, 277.9, 287.9, 284.3, 284.4, 281.6, 282.1}},
      {.name = "credit", .times_ms = {52.68, 55.91, 54.02, 53.78, 56.63, 57.78, 57.3, 55.32, 54.02}}}},
    {"multi, dense8k",
     {{.name = "isend", .times_ms = {2316, 5340, 2586, 1763, 6086}},
      {.name = "credit", .times_ms = {541.9, 490, 471, 488.1, 494.5}}}},
    {"4x400/128k, heavy",
     {{.name = "isend", .times_ms = {11.13, 9.408, 12.95, 10.66, 16.26, 12.36, 13.85, 224, 11.34}},
      {.name = "credit", .times_ms = {25.41, 17.02, 22.79, 26.27, 23.86, 31.22, 50.45, 35.31, 40.37}}}},
    {"4x4000/4096k, heavy",
     {{.name = "isend", .times_ms = {7.245, 7.624, 8.47, 4.918, 5.002, 7.446, 7.248, 5.259, 7.66}},
      {.name = "credit", .times_ms = {18.76, 25.49, 22.52, 8.325, 9.355, 4.965, 7.53, 5.437, 3.901}}}},
    {"fast, dense, rcvbuf=2560+eager=1m",
     {{.name = "isend", .times_ms = {102.8, 105, 101.4, 102.3, 100.1, 97.74, 100.9, 96.27, 99.13}},
      {.name = "credit", .times_ms = {107.6, 105.6, 112.6, 110.6, 105.5, 106.6, 111.4, 103.3, 101}}}},
    {"fast, d8, rcvbuf=2560+eager=1m",
     {{.name = "isend", .times_ms = {113.7, 106.4, 111.2, 105.9, 110.6, 110.4, 112.8, 108.8, 103.4}},
      {.name = "credit", .times_ms = {113.1, 119.7, 125.6, 114.9, 126.9, 112.7, 115.3, 123.2, 121.2}}}},
    {"grid: 4000 Mbit/s, 4096 KiB, d8",
     {{.name = "isend", .in_order = true, .times_ms = {8.431, 6.643, 6.684, 7.668, 6.658, 7.004, 6.766, 6.865,
       6.303, 5.533, 6.676, 6.755, 5.378, 6.943, 5.409, 6.623, 7.358, 5.936, 7.045, 6.488, 6.959, 7.462,
       5.104, 8.011, 11.32, 6.992, 6.961, 7.022, 6.741, 5.909, 6.48, 5.891, 6.072, 7.515, 7.19, 5.916, 6.62,
       6.679, 7.819, 6.442}},
      {.name = "credit", .in_order = true, .times_ms = {4.729, 5.602, 4.369, 4.067, 4.129, 2.999, 2.727, 3.04,
       2.807, 2.458, 2.371, 5.642, 4.968, 2.431, 2.384, 2.026, 2.252, 2.562, 2.365, 2.513, 2.145, 2.043,
       2.314, 5.903, 5.061, 6.254, 2.115, 2.042, 2.206, 2.134, 2.386, 2.14, 3.839, 3.7, 3.58, 2.19, 1.942,
       2.257, 2.181, 1.965}}}},
    {"grid: 400 Mbit/s, 128 KiB, hot",
     {{.name = "isend", .in_order = true, .times_ms = {4.194, 4.177, 4.236, 4.269, 4.302, 4.206, 4.367, 4.308,
       4.571, 4.322, 4.273, 4.226, 4.298, 4.171, 4.178, 4.264, 214.1, 4.292, 4.187, 4.264, 4.297, 4.19, 4.318,
       4.313, 4.317, 4.274, 4.326, 4.257, 4.249, 4.253, 4.273, 4.255, 4.259, 4.307, 4.308, 4.2, 4.258, 4.17,
       4.278, 4.23}},
      {.name = "credit", .in_order = true, .times_ms = {4.34, 4.269, 4.294, 4.304, 4.186, 4.572, 4.201, 4.194,
       4.443, 4.141, 4.169, 4.136, 4.146, 4.542, 4.135, 4.142, 4.185, 4.137, 4.181, 4.166, 4.144, 4.212,
       4.158, 4.158, 4.162, 4.174, 4.188, 4.147, 4.166, 4.139, 4.143, 4.197, 4.226, 4.388, 4.432, 4.41, 4.442,
       4.239, 4.406, 4.157}}}},
    {"grid: 100 Mbit/s, 16 KiB, dense",
     {{.name = "nbx", .in_order = true, .times_ms = {62.89, 39.68, 246, 251.4, 43.05, 39.05, 237.8, 243.9,
       38.98, 238.5, 34.84, 34.79, 248.2, 44.58, 238.9, 235.2, 252.7, 250, 247.5, 244.8, 241.8, 120.4, 35.85,
       52.6, 234.9, 37.54, 249.8, 36.55, 44.06, 41.69, 34.73, 46.14, 242.7, 236.9, 41.74, 242.2, 233.8, 35.18,
       45.83, 244.6}},
      {.name = "credit", .in_order = true, .times_ms = {28.45, 26.67, 23.77, 24.11, 23.75, 23.68, 23.8, 26.01,
       23.35, 24.16, 24.9, 24.54, 24.51, 24.69, 24.09, 24.87, 25.56, 23.86, 24.34, 25.29, 24.97, 70.07, 25.21,
       23.31, 28.52, 30.14, 24.44, 24.68, 23.84, 24.93, 24.27, 24.04, 23.86, 25.18, 24.77, 23.83, 24.27,
       26.39, 23.82, 23.99}}}},
    {"grid: 50 Mbit/s, 48 KiB, d8",
     {{.name = "nbx", .in_order = true, .times_ms = {218.7, 154.6, 179.7, 184.6, 211.8, 192.5, 192.8, 212.5,
       174.1, 160.8, 168.1, 175.1, 170.2, 167.2, 160.4, 166.3, 187.7, 166.7, 160.9, 158.8, 150.6, 175.2,
       195.8, 189.6, 204.5, 186.4, 160.7, 163.8, 154.4, 161.5, 134.6, 147.4, 171.2, 175.1, 156.4, 206.3,
       228.4, 193.7, 164, 153}},
      {.name = "credit", .in_order = true, .times_ms = {96.32, 88.55, 85.97, 85.68, 84.02, 85.82, 84.98,
       91.21, 86.63, 94.36, 84.09, 83.24, 83.23, 255.4, 83.7, 85.43, 84.65, 83.02, 83.12, 85.94, 86.05, 85.52,
       88.77, 85.14, 84.72, 85.01, 84.26, 83.57, 86.94, 83.26, 84.45, 83.8, 84.28, 84.94, 85.61, 84.68, 83.13,
       85, 84.36, 84.8}}}},
    {"grid: 35 Mbit/s, 32 KiB, dense",
     {{.name = "nbx", .in_order = true, .times_ms = {97.31, 97.92, 87.74, 74.21, 72.74, 75.99, 72.35, 68.69,
       76.06, 91.91, 71.15, 71.2, 79.81, 71.1, 68.08, 280.1, 73.91, 74.93, 102.9, 65.89, 75.76, 72.9, 280.8,
       75.15, 68.74, 313.3, 72.64, 68.47, 72.54, 68.31, 72.33, 75.91, 78.08, 77.49, 97.6, 71.06, 74.78, 73.35,
       80.62, 69.85}},
      {.name = "credit", .in_order = true, .times_ms = {65.19, 68.98, 59.36, 60.41, 59, 61.05, 60.46, 60.38,
       61.52, 60.92, 60.32, 60.47, 61.5, 59.81, 59.8, 60.32, 59.58, 59.1, 59.62, 60.76, 59.53, 59.66, 61.62,
       59.5, 61.63, 61.86, 59.1, 59.74, 59.56, 59.37, 65.48, 58.8, 59.46, 62.6, 60.72, 59.19, 59.3, 59.39,
       59.81, 58.69}}}},
    {"8 hosts, dense",
     {{.name = "async", .times_ms = {264.4, 67.16, 276.7, 42.96, 45.25, 51.04, 331.8, 265.1, 53.55, 50.04,
       45.43, 161.7, 115, 65.78, 283.1, 823.9, 271.1, 322.6, 481.9, 55.66}},
      {.name = "credit", .times_ms = {43.82, 43.52, 41.7, 43.77, 41.32, 42.17, 41.62, 50.92, 41.97, 45.43,
       42.82, 41.69, 41.92, 42.58, 41.71, 43.76, 48.18, 41.29, 42.05, 42.35}},
      {.name = "phased", .times_ms = {255.7, 62.05, 53.13, 91.79, 70.87, 66.84, 53.4, 53.18, 65.69, 63.81,
       58.47, 73.13, 105.8, 76.93, 92.14, 156.1, 264.5, 65.7, 60.99, 56.94}}}},
    {"nothing is better, noise 5 %",
     {{.name = "first", .times_ms = {10}, .noise = 0.05},
      {.name = "second", .times_ms = {10}, .noise = 0.05},
      {.name = "third", .times_ms = {12}, .noise = 0.05}}},
    {"nothing is better, noise 30 %, spikes",
     {{.name = "first", .times_ms = {10}, .noise = 0.3, .spikes = 0.02},
      {.name = "second", .times_ms = {12}, .noise = 0.3, .spikes = 0.02},
      {.name = "third", .times_ms = {14}, .noise = 0.3, .spikes = 0.02}}},
    {"4 times as fast",
     {{.name = "first", .times_ms = {100}, .noise = 0.3},
      {.name = "second", .times_ms = {25}, .noise = 0.1}}},
    {"1.3 times as fast after four exchanges",
     {{.name = "first", .times_ms = {100}, .noise = 0.1},
      {.name = "second", .times_ms = {77}, .noise = 0.1, .new_s = 1.5}}},
    {"good in its first exchange only",
     {{.name = "first", .times_ms = {106}, .noise = 0.1},
      {.name = "second", .times_ms = {409}, .noise = 0.3, .at_first = 0.2},
      {.name = "third", .times_ms = {200}, .noise = 0.3}}},
    {"20 us, noise 40 %, spikes",
     {{.name = "first", .times_ms = {0.02}, .noise = 0.4, .spikes = 0.05},
      {.name = "second", .times_ms = {0.025}, .noise = 0.4, .spikes = 0.05},
      {.name = "third", .times_ms = {0.03}, .noise = 0.4, .spikes = 0.05}}},
};
// clang-format on

}  // namespace nuice::test
