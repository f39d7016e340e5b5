// SPDX-License-Identifier: BSD-3-Clause
// Every call of the transport that may fail goes through this, so that a failure is known to all later calls.
#pragma once

#include <utility>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

template <typename Act>
auto EndpointCore::noting_failure(Act&& act) {
  try {
    return act();
  } catch (const TransportError& error) {
    if (error.code() == ErrorCode::mpi) give_up_after(error);
    fail(
        error,
        std::
            current_exception());  // loop-back: as it is, since its type says that another rank's error counts
    throw;
  }
}

}  // namespace nuice::am
