// SPDX-License-Identifier: BSD-3-Clause
// DRS_N as a method. It has no plan: making it ready is to learn the sources and to bind.
#include "nuice_bench/on_the_fly.hpp"

#include <algorithm>

#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/drs.hpp"

namespace nuice::bench {
namespace {

drs::Options options_of(const DrsSpec& spec, const Options& options) {
  drs::Options how;
  if (spec.form == "rma") how.lock = drs::Lock::rma;
  if (spec.form == "list" || spec.form == "early") how.when_busy = drs::WhenBusy::list;
  how.early_bytes = spec.form == "early" ? options.drs_early_bytes : 0;
  how.delay_us = how.when_busy == drs::WhenBusy::refuse ? options.drs_delay_us : 0;
  how.seed = options.plan.seed;
  return how;
}

class DrsMethod : public Method {
 public:
  DrsMethod(const MethodSpec& spec, const Options& options, Payload& payload)
      : world_(MPI_COMM_WORLD, {.transport = spec.drs->transport}) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime();
    const std::vector<Partner> sources = world_.sources(payload.send.partners);
    const double learned_s = MPI_Wtime();
    payload.check_sources(sources);
    const double before_bind_s = MPI_Wtime();
    exchange_.emplace(world_.bind(payload.send.partners, sources, payload.send.buffers<SendBuffer>(),
                                  payload.receive.buffers<ReceiveBuffer>(), options_of(*spec.drs, options)));
    const double bind_s = MPI_Wtime() - before_bind_s;
    planning.total_s = mpi::max_over_ranks(learned_s - begin_s + bind_s);
    planning.gather_s = mpi::max_over_ranks(learned_s - begin_s);
    planning.bind_s = mpi::max_over_ranks(bind_s);
  }

  void run() override {
    exchange_->start();
    exchange_->wait();
  }

  std::optional<Asking> asking() const override {
    const drs::Counters mine = exchange_->counters();
    unsigned long long sums[3] = {mine.messages, mine.inquiries, mine.refusals};
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    const double messages = static_cast<double>(std::max(sums[0], 1ULL));
    return Asking{static_cast<double>(sums[1]) / messages, static_cast<double>(sums[2]) / messages};
  }

 private:
  drs::mpi::World world_;
  std::optional<drs::Exchange> exchange_;
};

class WorldSources final : public AmSources {
 public:
  std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way) override {
    return world_.sources(destinations, way);
  }
  std::string transport_name() const override { return world_.transport_name(); }

 private:
  drs::mpi::World world_{MPI_COMM_WORLD};
};

}  // namespace

std::vector<std::string> drs_transports() {
  std::vector<std::string> known = am::mpi::transports();
  known.insert(known.begin(), "best");
  return known;
}

std::unique_ptr<Method> make_on_the_fly(const MethodSpec& spec, const Options& options, Payload& payload) {
  return std::make_unique<DrsMethod>(spec, options, payload);
}

std::unique_ptr<AmSources> make_am_sources() { return std::make_unique<WorldSources>(); }

}  // namespace nuice::bench
