// SPDX-License-Identifier: BSD-3-Clause
// The planned exchange as a method.
#include "nuice_bench/methods.hpp"

#include "nuice/mpi/agree.hpp"

namespace nuice::bench {
namespace {

class PlannedMethod : public Method {
 public:
  PlannedMethod(const MethodSpec& spec, const Options& options, Payload& payload)
      : plan_(MPI_COMM_WORLD, payload.send.partners, plan_options(spec, options)), planned_s_(MPI_Wtime()) {
    payload.check_sources(plan_.sources());
    const auto send = payload.send.buffers<SendBuffer>();
    const auto receive = payload.receive.buffers<ReceiveBuffer>();
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
    if (plan_.advice() != nullptr) choice = {*plan_.advice(), info.predicted_s, info.warning};
  }

  std::optional<mpi::ExchangeInfo> learnt() const override { return exchange_->info(); }
  std::string carried_out_by() const override { return exchange_->info().last; }
  void run() override {
    exchange_->start();
    exchange_->wait();
  }

 private:
  static mpi::PlanOptions plan_options(const MethodSpec& spec, const Options& options) {
    mpi::PlanOptions common = options.plan;
    common.scheduler = spec.scheduler;
    common.executor = spec.executor;
    common.combine = spec.combine;
    if (spec.executor != "async") common.async.max_sends = 0;
    if (spec.blind) common.topology = common.hosts = "";
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
  if (spec.is_peer) return make_peer(spec.word, payload);
  if (spec.drs) return make_drs(spec, options, payload);
  return std::make_unique<PlannedMethod>(spec, options, payload);
}

}  // namespace nuice::bench
