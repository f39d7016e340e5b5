// SPDX-License-Identifier: BSD-3-Clause
// Wraps every call of the transport that may fail, so that all later calls know of the failure.
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
    fail(error,
         std::current_exception());  // loop-back: unchanged, because its type marks another rank's error
    throw;
  }
}

}  // namespace nuice::am
