// SPDX-License-Identifier: BSD-3-Clause
// Sets windows for the connections of a process that uses the library and did not preload libnuice_flow.so.
//
// A thread finds the process's connections to other hosts in /proc/self/fd, and sleeps in epoll until data
// come. While data come, it looks at the receiving connections every 4 ms (governor.hpp), or less often if
// their packets are small. It does not call MPI. Without traffic it costs nothing.
//
// All connections to other hosts are governed, because the thread cannot tell MPI's from others. If no other
// busy connection uses its port, a connection has no window set.
#pragma once

namespace nuice::flow {

/// Starts the thread, or makes it look for new connections during the next second. Does nothing if
/// NUICE_FLOW=off, if libnuice_flow.so is loaded, in a process that fork() made, without Linux, or if no
/// thread can be created. Any thread may call it. Cost: a system call.
void govern_process();

/// Returns whether this process has a TCP connection to another host. Cost: up to four system calls per
/// descriptor.
bool has_connections_to_others();

}  // namespace nuice::flow
