// SPDX-License-Identifier: BSD-3-Clause
// Predictions packet by packet, for lossless networks. Packets block each other there, which a fluid model of
// shared links does not show.
#pragma once

#include <string>

#include "advise/traits.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::advice {

/// Returns the average of the times with both kinds of queues, because real switches lie between them. To
/// save work, long messages are simulated with larger packets.
double packets_s(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                 const std::string& executor, const AdviceOptions& options);

/// Returns the counted work of such a prediction, for any executor.
double packets_work_s(const Traits& traits, const Machine& machine);

}  // namespace nuice::advice
