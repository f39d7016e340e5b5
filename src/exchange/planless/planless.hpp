// SPDX-License-Identifier: BSD-3-Clause
// One rank's messages of a planless exchange, carried out as often as it is started.
#pragma once

#include <memory>
#include <vector>

#include "exchange/exec/run.hpp"
#include "exchange/planless/engine.hpp"
#include "exchange/planless/travel.hpp"

namespace nuice::mpi {

class PlanlessRun : public Run, private PlanlessListener {
 public:
  /// Does not communicate. Arrivals are told of one piece for each message that is received.
  PlanlessRun(std::shared_ptr<const Communicator> comm, std::shared_ptr<PlanlessEngine> engine,
              Arrivals& arrivals);
  ~PlanlessRun() override;

  // Before the first start(). Empty messages are none.
  void add_send(Rank to, std::span<const Segment> segments);
  void add_receive(Rank from, std::span<const Segment> segments);

  void start() override;
  bool advance(bool block) override { return advance(block, false); }
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override { return advance(block, block); }
  std::int64_t num_events() const override { return engine_->num_events(); }
  std::string waits_for() const override;
  void cancel() noexcept override;
  void describe(ExchangeInfo& info) const override;

 private:
  void land(std::size_t receive) override;
  bool advance(bool block, bool until_arrival);

  std::shared_ptr<const Communicator> comm_;  // of the engine
  std::shared_ptr<PlanlessEngine> engine_;
  Arrivals& arrivals_;
  std::vector<Travel> outgoing_;
  std::vector<Travel> incoming_;
  std::vector<std::size_t> arrival_of_;  // by receive
  std::vector<PlanlessSend> sends_;
  std::vector<PlanlessReceive> receives_;
  PlanlessEngine::Ongoing* ongoing_ = nullptr;
};

}  // namespace nuice::mpi
