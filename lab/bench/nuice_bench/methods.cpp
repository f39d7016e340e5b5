// SPDX-License-Identifier: BSD-3-Clause
// The planned exchange as a method.
#include "nuice_bench/methods.hpp"

#include <algorithm>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::bench {
namespace {

template <typename Buffer>
std::vector<Buffer> buffers_of(Messages& messages) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < messages.partners.size(); ++i)
    buffers.push_back({messages.message(i).data(), messages.partners[i].bytes});
  return buffers;
}

/// The payload's sources come from the file: what the plan found out must be the same.
void check_sources(const mpi::Plan& plan, const Payload& payload) {
  mpi::all_or_none(MPI_COMM_WORLD, [&] {
    if (!std::ranges::equal(plan.sources(), payload.receive.partners))
      throw Error(ErrorCode::mismatch, "the plan's sources of rank " + std::to_string(payload.rank) +
                                           " are not those of the matrix");
  });
}

class PlannedMethod : public Method {
 public:
  PlannedMethod(const MethodSpec& spec, const Options& options, Payload& payload)
      : plan_(MPI_COMM_WORLD, payload.send.partners, plan_options(spec, options)), planned_s_(MPI_Wtime()) {
    check_sources(plan_, payload);
    const auto send = buffers_of<SendBuffer>(payload.send);
    const auto receive = buffers_of<ReceiveBuffer>(payload.receive);
    const double before_bind_s = MPI_Wtime();
    exchange_.emplace(plan_.bind(send, receive));
    const double bind_s = MPI_Wtime() - before_bind_s;
    const mpi::PlanInfo& info = plan_.info();
    planning = {.total_s = mpi::max_over_ranks(planned_s_ - begun_s_ + bind_s),
                .gather_s = info.gather_s,
                .choose_s = info.choose_s,
                .schedule_s = info.schedule_s,
                .check_s = info.check_s,
                .bind_s = mpi::max_over_ranks(bind_s)};
    num_phases = info.num_phases;
    phase_bytes = info.phase_bytes;
    num_hosts = info.num_hosts;
    if (plan_.advice() != nullptr) choice = Choice::of(plan_);
  }

  std::optional<mpi::ExchangeInfo> learnt() const override { return exchange_->info(); }
  void run() override {
    exchange_->start();
    exchange_->wait();
  }

 private:
  static mpi::PlanOptions plan_options(const MethodSpec& spec, const Options& options) {
    const bool windowed = spec.executor == "async";
    const mpi::PlanOptions common = {.scheduler = spec.scheduler,
                                     .executor = spec.executor,
                                     .seed = options.seed,
                                     .phase_cost_bytes = options.phase_cost_bytes,
                                     .topology = spec.blind ? std::string() : options.topology,
                                     .hosts = spec.blind ? std::string() : options.hosts,
                                     .combine = spec.combine,
                                     .async = {.max_sends = windowed ? options.max_sends_in_flight : 0},
                                     .credit = {.chunk_bytes = options.chunk_bytes,
                                                .window_bytes = options.window_bytes,
                                                .window_senders = options.window_senders},
                                     .automatic = {.reuse = options.reuse,
                                                   .machine = options.machine,
                                                   .measure = options.measure,
                                                   .wisdom = options.wisdom}};
    return mpi::PlanOptions::parse(spec.further, common);
  }

  double begun_s_ = MPI_Wtime();  // before plan_, so that it is set before the plan is made
  mpi::Plan plan_;
  double planned_s_;
  std::optional<mpi::Exchange> exchange_;
};

}  // namespace

std::unique_ptr<Method> make_method(const MethodSpec& spec, const Options& options, Payload& payload) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (options.broadcast) return make_broadcast_method(spec, *options.broadcast, payload);
  if (spec.peer) return make_peer(*spec.peer, payload);
  if (spec.drs) return make_drs(spec, options, payload);
  return std::make_unique<PlannedMethod>(spec, options, payload);
}

}  // namespace nuice::bench
