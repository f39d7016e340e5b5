// SPDX-License-Identifier: BSD-3-Clause
// Whose connections are governed: those that a library of MPI opens, not the program's own sockets, files or databases.
#pragma once

namespace nuice::run {

/// caller: an address of the code that calls connect(), listen() or accept(). True if it belongs to MPI, or if NUICE_FLOW is "all".
bool is_governed_opener(const void* caller);

/// NUICE_FLOW is not "off", and this is not the child of a fork.
bool is_on();
/// In the child of a fork, which shares its parent's connections.
void turn_off();

}  // namespace nuice::run
