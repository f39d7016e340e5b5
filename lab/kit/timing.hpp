// SPDX-License-Identifier: BSD-3-Clause
// Times of several ways to do the same, measured in turns so that noise hits all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace nuice::apps {

struct Timed {
  std::string name;
  std::function<void()> run;  ///< Collective.
};

/// Over the repetitions, of one run, the maximum over the ranks.
struct Times {
  double median_s = 0;
  double min_s = 0;
};

/// Collective. Each repetition of each way is a batch of runs that takes about a millisecond; every round
/// begins with another way. Requires reps > 0.
std::vector<Times> time_in_turns(const std::vector<Timed>& ways, int reps);

/// The shortest median of those whose name is not `name`, divided into that of `name`.
double ratio_to_best_other(const std::vector<Timed>& ways, const std::vector<Times>& times,
                           const std::string& name);

}  // namespace nuice::apps
