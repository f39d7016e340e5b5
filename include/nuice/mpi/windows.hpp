// SPDX-License-Identifier: BSD-3-Clause
// Receive windows of the TCP connections of this process (docs/explanation/tcp-windows.md). The first plan on several hosts turns them on.
#pragma once

namespace nuice::mpi {

/// Not collective, from any thread. false: this process's connections have the windows that the kernel gives them, until set_windows(true). Without
/// effect under `nuice run`, with NUICE_FLOW=off, and on other systems than Linux.
void set_windows(bool on);

}  // namespace nuice::mpi
