// SPDX-License-Identifier: BSD-3-Clause
// Which candidate is looked at first, and when to stop: Weitzman's search for the best alternative
// (Econometrica 47(3), 1979). A candidate's cost X is unknown until a look, which takes time itself. The
// reservation value z of the candidate is the known cost at which a look gains as much as it takes:
//
//   E[max(z - X, 0)] = time of the look
//
// The candidate with the lowest z comes first. The search ends when the best known cost is at most the lowest
// z. No other order has a lower expected cost if the costs are independent.
#pragma once

namespace nuice::advice {

/// What is known about a candidate's cost before a look. Nine of ten costs are between low and low + width,
/// one of twenty is between least and low. All costs of a part are equally likely.
struct Range {
  double least = 0;
  double low = 0;
  double width = 0;
  double chance = 1;  ///< The probability of that; otherwise the cost is too high to win.
};

/// Returns the reservation value of a candidate, for a look that takes this time.
double reservation_value(const Range& cost, double look);

}  // namespace nuice::advice
