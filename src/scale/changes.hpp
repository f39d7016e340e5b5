// SPDX-License-Identifier: BSD-3-Clause
// A matrix that changes a little, for plans that follow.
#pragma once

#include "nuice/core/random.hpp"
#include "schedulers/distributed/rows.hpp"

namespace nuice::scale {

using distributed::Rows;

/// Pairs of messages a -> b and c -> d become a -> d and c -> b, until such a share of all is new; those have no colour, the others keep
/// theirs. All ranks send and receive as many messages as before. Returns how many are new.
std::uint64_t exchange_partners(Rows& sends, double share, Random& random);

}  // namespace nuice::scale
