// SPDX-License-Identifier: BSD-3-Clause
// Changes a small part of a matrix, for plans that follow.
#pragma once

#include "nuice/core/random.hpp"
#include "schedulers/distributed/rows.hpp"

namespace nuice::scale {

using distributed::Rows;

/// Replaces pairs of messages a -> b and c -> d by a -> d and c -> b, until `share` of all messages is new.
/// New messages have no colour; the others keep their colours. All ranks send and receive as many messages as
/// before. Returns the number of new messages.
std::uint64_t exchange_partners(Rows& sends, double share, Random& random);

}  // namespace nuice::scale
