// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <utility>
#include <vector>

#include "drs/arguments.hpp"
#include "drs/exchanger_state.hpp"
#include "drs/mpi/rma_run.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "mpi/discover/discover.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/drs.hpp"

namespace nuice::drs::mpi {

using nuice::mpi::must;

/// The numbers of a sum over all ranks. They are kept with the world, because MPI writes into them even if
/// the wait for the sum ends with an error of the transport.
struct VectorSum {
  std::vector<int> mask;
  int count = 0;
};

/// The state of a world. The last object that uses it destroys it.
struct World::State {
  std::shared_ptr<const nuice::mpi::Communicator> comm;
  am::Endpoint endpoint;
  Exchanger exchanger;
  std::unique_ptr<VectorSum> sum = std::make_unique<VectorSum>();
  int tag = 0;  // of the last sources() by MPI alone

  State(MPI_Comm parent, const am::mpi::Options& options, const am::EndpointOptions& endpoint_options)
      : comm(nuice::mpi::duplicate(parent, endpoint_options.watchdog_s)),
        endpoint(am::mpi::connect(comm->get(), options), endpoint_options),
        exchanger(endpoint) {
    endpoint.seal();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (nuice::mpi::is_finalized()) return;
    try {
      endpoint.quiesce();
    } catch (const std::exception&) {
      // A destructor cannot report it.
    }
    if (!endpoint.has_failed()) return;
    [[maybe_unused]] const auto* const left_sum = sum.release();  // MPI may still use them
    [[maybe_unused]] const auto* const left_comm = new (std::nothrow) std::shared_ptr(comm);
  }
};

namespace {

/// Returns how many entries this rank will receive (004 fig. 1, step 2).
int num_entries(const nuice::mpi::Communicator& comm, Exchanger::State& exchanger, VectorSum& sum,
                std::span<const Partner> destinations) {
  sum.mask.assign(static_cast<std::size_t>(comm.num_ranks()), 0);
  for (const auto& [dst, bytes] : destinations) sum.mask[static_cast<std::size_t>(dst)] = bytes > 0 ? 1 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  must(MPI_Ireduce_scatter_block(sum.mask.data(), &sum.count, 1, MPI_INT, MPI_SUM, comm.get(), &request),
       "MPI_Ireduce_scatter_block");
  exchanger.wait_until([&] {
    int done = 0;
    const int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
      exchanger.endpoint.core().give_up_after(
          Error(ErrorCode::mpi, nuice::mpi::error_text(code, "MPI_Test")));
    return done != 0;
  });
  return sum.count;
}

}  // namespace

World::World(MPI_Comm parent, const am::mpi::Options& options, const am::EndpointOptions& endpoint_options)
    : state_(std::make_shared<State>(parent, options, endpoint_options)) {}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

World::State& World::state() const {
  if (!state_) throw Error(ErrorCode::state, "the world was freed");
  return *state_;
}

void World::free() { state_.reset(); }

std::string World::transport_name() const { return state().endpoint.transport_name(); }

std::vector<Partner> World::sources(std::span<const Partner> destinations, std::string_view way) {
  State& all = state();
  if (way == "am_quiesce") return all.exchanger.sources(destinations);
  Exchanger::State& exchanger = all.exchanger.state();
  const Collective call(exchanger);
  const nuice::mpi::DiscoveryWay* by_mpi = nullptr;
  exchanger.agree([&] {
    by_mpi = &nuice::mpi::find_discovery(way == "auto" ? "am_count" : way);
    check_destinations(exchanger.place(), destinations);
  });
  if (by_mpi->ask != nullptr) {
    all.tag = 1 - all.tag;
    return nuice::mpi::sources_of(*all.comm, destinations, *by_mpi, all.tag);
  }
  const auto expected = static_cast<std::size_t>(num_entries(*all.comm, exchanger, *all.sum, destinations));
  exchanger.send_entries(destinations);
  exchanger.wait_until([&] { return exchanger.entries.size() >= expected; });
  return exchanger.take_entries();
}

Exchange World::bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                     std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                     const Options& options) {
  const State& all = state();
  Exchanger::State& exchanger = all.exchanger.state();
  const Collective call(exchanger);
  exchanger.check_options(options);
  if (options.lock == Lock::message)
    return bind_messages(state_, exchanger, destinations, sources, send, receive, options);
  std::unique_ptr<RmaRun> run;
  exchanger.agree([&] {
    Messages messages = make_messages(exchanger.place(), destinations, sources, send, receive, options.seed);
    run = std::make_unique<RmaRun>(state_, exchanger.active, std::move(messages), options);
  });
  exchanger.check_sources(destinations, sources);
  run->connect(all.comm->get(), all.comm->watchdog_s());
  exchanger.agree([&] { run->make_requests(); });
  return Exchange(std::move(run));
}

}  // namespace nuice::drs::mpi
