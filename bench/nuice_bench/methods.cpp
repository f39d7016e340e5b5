// SPDX-License-Identifier: BSD-3-Clause
// The planned exchange as a method.
#include "nuice_bench/methods.hpp"

#include <array>

#include "nuice/mpi/agree.hpp"
#include "nuice_bench/broadcast_methods.hpp"
#include "nuice_bench/on_the_fly.hpp"

namespace nuice::bench {
namespace {

/// Stores each message in four parts, the last part first, so that no two consecutive parts can be sent as
/// one.
class Fields {
 public:
  explicit Fields(const Messages& messages) {
    for (std::size_t i = 0; i < messages.partners.size(); ++i) {
      const std::int64_t bytes = messages.partners[i].bytes;
      for (std::int64_t part = 0; part < num_parts; ++part) {
        const std::int64_t begin = bytes * (num_parts - 1 - part) / num_parts;
        const std::int64_t end = bytes * (num_parts - part) / num_parts;
        counts_[static_cast<std::size_t>(part)].push_back(end - begin);
        offsets_[static_cast<std::size_t>(part)].push_back(static_cast<std::int64_t>(messages.offsets[i]) +
                                                           begin);
      }
    }
  }
  template <typename Field>
  std::vector<Field> of(Messages& messages) const {
    std::vector<Field> fields;
    for (std::size_t part = 0; part < counts_.size(); ++part)
      fields.push_back({messages.memory.data(), MPI_BYTE, counts_[part], offsets_[part]});
    return fields;
  }

 private:
  static constexpr std::int64_t num_parts = 4;
  std::array<std::vector<std::int64_t>, num_parts> counts_;
  std::array<std::vector<std::int64_t>, num_parts> offsets_;
};

class PlannedMethod : public Method {
 public:
  PlannedMethod(const MethodSpec& spec, const Options& options, Payload& payload)
      : plan_(MPI_COMM_WORLD, payload.send.partners, plan_options(spec, options)), planned_s_(MPI_Wtime()) {
    payload.check_sources(plan_.sources());
    const auto send = payload.send.buffers<SendBuffer>();
    const auto receive = payload.receive.buffers<ReceiveBuffer>();
    const Fields send_fields(payload.send);
    const Fields receive_fields(payload.receive);
    const double before_bind_s = MPI_Wtime();
    exchange_.emplace(spec.fields ? plan_.bind(send_fields.of<mpi::SendField>(payload.send),
                                               receive_fields.of<mpi::ReceiveField>(payload.receive))
                                  : plan_.bind(send, receive));
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
    if (plan_.advice() != nullptr) choice = {*plan_.advice(), info.predicted_s};
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
  if (options.broadcast && spec.is_peer) return std::make_unique<BcastMethod>(*options.broadcast, payload);
  if (options.broadcast) return std::make_unique<PlannedBroadcast>(spec, *options.broadcast, payload);
  if (spec.is_peer) return make_peer(spec.word, payload);
  if (spec.drs) return make_on_the_fly(spec, options, payload);
  return std::make_unique<PlannedMethod>(spec, options, payload);
}

}  // namespace nuice::bench
