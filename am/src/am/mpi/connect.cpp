// SPDX-License-Identifier: BSD-3-Clause
// Chooses and makes the transport.
#include <algorithm>
#include <array>
#include <bit>

#include "am/mpi/call.hpp"
#include "am/mpi/guard.hpp"
#include "am/mpi/host.hpp"
#include "am/mpi/point_to_point.hpp"
#ifdef NUICE_HAS_UCX
#include "am/mpi/rendezvous.hpp"
#endif
#include "am/mpi/shared_memory.hpp"
#include "mpi/collective.hpp"
#include "mpi/failure.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::am::mpi {
namespace {

void check(const Options& options) {
  const std::vector<std::string> known = transports();
  if (options.transport != "best" && std::ranges::find(known, options.transport) == known.end()) {
    std::string names = "best";
    for (const std::string& name : known) names += ", " + name;
    const bool is_ucx = options.transport == "ucx" || options.transport == "shm+ucx";
    throw Error(is_ucx ? ErrorCode::not_applicable : ErrorCode::invalid_argument,
                "no transport " + options.transport + (is_ucx ? " in this build (it had no UCX)" : "") +
                    "; there are " + names);
  }
  if (options.max_message_bytes < 256 || options.max_message_bytes > (std::size_t{1} << 20))
    throw Error(ErrorCode::invalid_argument,
                "max_message_bytes is " + std::to_string(options.max_message_bytes) + ", not 256 to 1048576");
  if (options.credits < 2 || options.credits > 250)
    throw Error(ErrorCode::invalid_argument,
                "credits is " + std::to_string(options.credits) + ", not 2 to 250");
  if (options.receives < 1 || options.receives > 1024)
    throw Error(ErrorCode::invalid_argument,
                "receives is " + std::to_string(options.receives) + ", not 1 to 1024");
  if (options.ring_bytes != 0 && (options.ring_bytes < 4096 || !std::has_single_bit(options.ring_bytes)))
    throw Error(ErrorCode::invalid_argument, "ring_bytes is " + std::to_string(options.ring_bytes) +
                                                 ", not 0 or a power of two from 4096");
}

/// Collective.
void check_equal(const Communicator& comm, const Options& options) {
  std::uint64_t name = 0;
  for (const char c : options.transport) name = name * 31 + static_cast<unsigned char>(c);
  const std::array<std::int64_t, 6> mine = {static_cast<std::int64_t>(name >> 1),
                                            static_cast<std::int64_t>(options.max_message_bytes),
                                            options.credits,
                                            options.receives,
                                            static_cast<std::int64_t>(options.ring_bytes),
                                            options.copy_blocks ? 1 : 0};
  std::array<std::int64_t, 6> lowest = mine;
  nuice::mpi::broadcast(comm, lowest.data(), static_cast<int>(lowest.size()), MPI_INT64_T, 0);
  all_or_none(comm, [&] {
    if (mine != lowest)
      throw Error(ErrorCode::mismatch, "rank " + std::to_string(comm.rank()) +
                                           " gives other options for active messages than rank 0");
  });
}

std::unique_ptr<Transport> network(MPI_Comm parent, const std::string& name, const Options& options,
                                   const Host& host) {
#ifdef NUICE_HAS_UCX
  if (name == "ucx")
    return ucx::connect(std::make_unique<MpiRendezvous>(parent, options.watchdog_s, host),
                        options.max_message_bytes);
#else
  (void)name;  // check() has refused "ucx"
#endif
  return std::make_unique<PointToPoint>(parent, options, host);
}

}  // namespace

std::vector<std::string> transports() {
#ifdef NUICE_HAS_UCX
  return {"mpi", "shm", "ucx", "shm+ucx"};
#else
  return {"mpi", "shm"};
#endif
}

std::unique_ptr<Transport> connect(MPI_Comm parent, const Options& options) {
  const auto duplicate = nuice::mpi::duplicate(parent, options.watchdog_s, nullptr);
  const Communicator& comm = *duplicate;
  all_or_none(comm, [&] { check(options); });
  check_equal(comm, options);
  // All ranks have arrived. The following calls block, because MPI has no nonblocking form of them.
  Guard guard(comm.rank(), options.watchdog_s);
  const Guard::Call call(guard, "connect()");
  auto host = std::make_unique<Host>(comm);
  guard.watch(*host->neighbours);
  const bool with_rings =
      options.transport == "best" ? host->largest_has_several : options.transport.starts_with("shm");
  const std::string remote = options.transport.ends_with("ucx") ? "ucx" : "mpi";
  std::unique_ptr<Transport> transport = network(comm.get(), remote, options, *host);
  if (!with_rings) return transport;
  return std::make_unique<SharedMemory>(std::move(host), options, std::move(transport));
}

}  // namespace nuice::am::mpi
