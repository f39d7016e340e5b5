// SPDX-License-Identifier: BSD-3-Clause
// The functions that make runs: those in the entries of table.cpp, and bind_parts().
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/run.hpp"

namespace nuice::mpi {

std::unique_ptr<Run> bind_async(const Binding& binding);
std::unique_ptr<Run> bind_phased(const Binding& binding);
std::unique_ptr<Run> bind_pairwise(const Binding& binding);
std::unique_ptr<Run> bind_depend(const Binding& binding);

/// Binds an exchange with option `parts` (parts.cpp). destinations, sources: all messages of the user, also
/// those without bytes, which ready() and arrived() count. own: the rank's message to itself, which the run
/// copies instead of the exchange's start().
std::unique_ptr<Run> bind_parts(const Binding& binding, std::span<const Partner> destinations,
                                std::span<const Partner> sources, std::optional<SelfMessage> own);

}  // namespace nuice::mpi
