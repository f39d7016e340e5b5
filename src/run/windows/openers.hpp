// SPDX-License-Identifier: BSD-3-Clause
// Decides which connections are governed: the connections that an MPI library opens, but not the program's
// own sockets, files or databases.
#pragma once

namespace nuice::run {

/// Returns true if the code that calls connect(), listen() or accept() belongs to MPI, or if NUICE_FLOW is
/// "all". caller: an address in that code.
bool is_governed_opener(const void* caller);

/// Returns true unless NUICE_FLOW is "off" or turn_off() was called.
bool is_on();
/// Ends all governing in this process. Called in the child of a fork, which shares its parent's connections.
void turn_off();

}  // namespace nuice::run
