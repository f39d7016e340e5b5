// SPDX-License-Identifier: BSD-3-Clause
// Predictions packet by packet, for networks where nothing is lost: there packets block each other, which sharing links as
// a fluid does not show.
#pragma once

#include <string>

#include "advise/traits.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::advice {

/// The mean of both kinds of queues, since real switches lie between. Packets of long messages are taken larger.
double packets_s(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                 const std::string& executor, const AdviceOptions& options);

/// What that costs, as counted, whatever the executor.
double packets_work_s(const Traits& traits, const Machine& machine);

}  // namespace nuice::advice
