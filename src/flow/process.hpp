// SPDX-License-Identifier: BSD-3-Clause
// Windows for the connections of a process that uses the library, without libnuice_flow.so being loaded before it.
//
// A thread finds the process's connections to other hosts in /proc/self/fd, and sleeps in epoll until data come. While they come, it
// looks every 4 ms at those that received (governor.hpp), more rarely where packets are small. It calls no MPI. Where no data come it costs nothing.
//
// All connections to other hosts count: the thread cannot tell MPI's from others. A connection without busy neighbours on its port has no
// window set.
#pragma once

namespace nuice::flow {

/// From now on, and looks for new connections during the next second. Does nothing where NUICE_FLOW=off, where libnuice_flow.so is loaded, in a
/// process that fork() made, and where the system is not Linux or has no more threads. Any thread may call it. Cost: a system call.
void govern_process();

/// Whether this process has a TCP connection to another host. Cost: up to four system calls for each descriptor.
bool has_connections_to_others();

}  // namespace nuice::flow
