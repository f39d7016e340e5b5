// SPDX-License-Identifier: BSD-3-Clause
// Measures the processor time of the library's thread for windows while most connections are idle. Rank 0 of
// two makes CONNECTIONS to rank 1 on another host, and sends on a few of them for some seconds. Rank 1 prints
// one JSON object: {"connections", "active", "seconds", "bytes", "thread_s" (processor time of the thread),
// "process_s" (processor time of rank 1)}.
//   mpiexec -n 2 connections CONNECTIONS ACTIVE SECONDS
#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "nuice/mpi/exchanger.hpp"

namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

int checked(int result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

/// Returns the address of this host's first port, with any port number.
sockaddr_in own_address() {
  ifaddrs* all = nullptr;
  checked(getifaddrs(&all), "getifaddrs");
  sockaddr_in found{};
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    const sockaddr_in address = *reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (address.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) found = address;
  }
  freeifaddrs(all);
  if (found.sin_family != AF_INET) fail("no port but loop-back");
  found.sin_port = 0;
  return found;
}

/// Returns user and system time of the thread that sets windows; 0 without such a thread.
double thread_s() {
  DIR* const tasks = opendir("/proc/self/task");
  double found = 0;
  while (const dirent* const entry = readdir(tasks)) {
    const std::string folder = std::string("/proc/self/task/") + entry->d_name;
    std::string name, ran_ns;
    std::getline(std::ifstream(folder + "/comm"), name);
    std::getline(std::ifstream(folder + "/schedstat"), ran_ns, ' ');
    if (name == "nuice-flow") found += 1e-9 * std::strtod(ran_ns.c_str(), nullptr);
  }
  closedir(tasks);
  return found;
}

double process_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void send(const sockaddr_in& there, int connections, int active, double seconds) {
  std::vector<int> all;
  for (int i = 0; i < connections; ++i) {
    all.push_back(checked(socket(AF_INET, SOCK_STREAM, 0), "socket"));
    checked(connect(all.back(), reinterpret_cast<const sockaddr*>(&there), sizeof there), "connect");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<pollfd> polled;
  for (int i = 0; i < active; ++i) polled.push_back({all[static_cast<std::size_t>(i)], POLLOUT, 0});
  const std::vector<char> data(65536, 'x');
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
    poll(polled.data(), polled.size(), 100);
    for (const pollfd& each : polled)
      if ((each.revents & POLLOUT) != 0) ::send(each.fd, data.data(), data.size(), MSG_DONTWAIT);
  }
  for (const int each : all) close(each);
}

void receive(int listener, int connections, int active) {
  const nuice::mpi::Exchanger starts_the_thread(MPI_COMM_SELF);
  const int all = checked(epoll_create1(0), "epoll_create1");
  for (int i = 0; i < connections; ++i) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = checked(accept(listener, nullptr, nullptr), "accept");
    checked(epoll_ctl(all, EPOLL_CTL_ADD, event.data.fd, &event), "epoll_ctl");
  }
  sleep(2);  // the thread finds them within a second
  MPI_Barrier(MPI_COMM_WORLD);
  const double thread_before = thread_s(), process_before = process_s(), begin = MPI_Wtime();
  std::vector<char> data(1 << 20);
  double bytes = 0;
  for (int open = connections; open > 0;) {
    epoll_event event{};
    if (epoll_wait(all, &event, 1, -1) < 1) continue;
    const ssize_t got = read(event.data.fd, data.data(), data.size());
    if (got > 0) bytes += static_cast<double>(got);
    if (got > 0) continue;
    close(event.data.fd);
    --open;
  }
  std::printf(
      "{\"connections\": %d, \"active\": %d, \"seconds\": %.6g, \"bytes\": %.0f, \"thread_s\": %.6g, "
      "\"process_s\": %.6g}\n",
      connections, active, MPI_Wtime() - begin, bytes, thread_s() - thread_before,
      process_s() - process_before);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) fail("arguments: CONNECTIONS ACTIVE SECONDS");
  const int connections = std::atoi(argv[1]), active = std::atoi(argv[2]);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    sockaddr_in here = own_address();
    socklen_t length = sizeof here;
    const int listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(bind(listener, reinterpret_cast<sockaddr*>(&here), length), "bind");
    checked(listen(listener, connections), "listen");
    checked(getsockname(listener, reinterpret_cast<sockaddr*>(&here), &length), "getsockname");
    MPI_Send(&here, sizeof here, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    receive(listener, connections, active);
  } else if (rank == 0) {
    sockaddr_in there{};
    MPI_Recv(&there, sizeof there, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(there, connections, active, std::atof(argv[3]));
  }
  MPI_Finalize();
}
