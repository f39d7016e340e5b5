// SPDX-License-Identifier: BSD-3-Clause
// The executor `planless`: the messages of a plan in an order that needs none (engine.hpp). With it a plan is what others are
// measured against: what order and agreement are worth beyond the pace.
#include "exchange/planless/planless.hpp"

#include <algorithm>
#include <utility>

#include "exchange/exec/rows.hpp"
#include "mpi/failure.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

PlanlessRun::PlanlessRun(std::shared_ptr<const Communicator> comm, std::shared_ptr<PlanlessEngine> engine,
                         Arrivals& arrivals)
    : comm_(std::move(comm)), engine_(std::move(engine)), arrivals_(arrivals) {}

PlanlessRun::~PlanlessRun() {
  if (ongoing_ != nullptr && engine_->is_done(*ongoing_)) engine_->end(ongoing_);
}

void PlanlessRun::add_send(Rank to, std::span<const Segment> segments) {
  Travel travel(segments);
  if (travel.bytes() == 0) return;
  sends_.push_back({to, travel.at(), travel.bytes()});
  outgoing_.push_back(std::move(travel));
}

void PlanlessRun::add_receive(Rank from, std::span<const Segment> segments) {
  Travel travel(segments);
  if (travel.bytes() == 0) return;
  receives_.push_back({from, travel.at(), travel.bytes()});
  incoming_.push_back(std::move(travel));
  arrivals_.expect_pieces(from, 1);
  arrival_of_.push_back(arrivals_.index_of(from));
}

void PlanlessRun::start() {
  if (ongoing_ != nullptr) engine_->end(std::exchange(ongoing_, nullptr));
  for (Travel& each : outgoing_) each.pack();
  ongoing_ = engine_->begin(sends_, receives_, *this);
  for (const PlanlessSend& send : sends_) arrivals_.trace().note(Trace::Kind::sent, send.rank, send.bytes);
}

void PlanlessRun::land(std::size_t receive) {
  incoming_[receive].unpack();
  arrivals_.land_piece(arrival_of_[receive]);
}

/// block: not before the end, or (until_arrival) when a message can be handed over. Not MPI_Waitsome: others' exchanges go on meanwhile.
bool PlanlessRun::advance(bool block, bool until_arrival) {
  Patience patience;
  while (!engine_->is_done(*ongoing_)) {
    if (until_arrival && arrivals_.any()) return false;
    if (engine_->look()) {
      patience.found_something();
      continue;
    }
    if (!block) return false;
    patience.found_nothing();
  }
  return true;
}

std::string PlanlessRun::waits_for() const { return names_of(engine_->waits_for(*ongoing_)); }

void PlanlessRun::cancel() noexcept {
  if (ongoing_ != nullptr) engine_->cancel(ongoing_);
}

void PlanlessRun::describe(ExchangeInfo& info) const {
  info.window_bytes = engine_->window().window_for(1);
  info.chunk_bytes = engine_->window().chunk_bytes();
}

BoundRun bind_planless(const Binding& binding) {
  const RunSettings& settings = binding.settings;
  const Bytes unasked = settings.unasked_bytes > 0 ? settings.unasked_bytes
                                                   : default_unasked_bytes(binding.table.num_ranks - 1);
  auto engine = std::make_shared<PlanlessEngine>(
      PlanlessChannel{binding.comm->get(), binding.table.rank, binding.table.num_ranks, binding.tag, 1},
      PlanlessSettings{.unasked_bytes = unasked,
                       .window_senders = settings.window_senders,
                       .window = settings.window,
                       .send_share = settings.send_share,
                       .near = {settings.near.begin(), settings.near.end()}});
  auto run = std::make_unique<PlanlessRun>(binding.comm, std::move(engine), binding.arrivals);
  Places places;
  for (const auto& [rank, bytes] : binding.table.destinations) {
    if (rank == binding.table.rank) continue;
    places.clear();
    binding.layout.find_to_send(rank, 0, bytes, places);
    run->add_send(rank, places);
  }
  for (const auto& [rank, bytes] : binding.table.sources) {
    if (rank == binding.table.rank) continue;
    places.clear();
    binding.layout.find_to_receive(rank, 0, bytes, places);
    run->add_receive(rank, places);
  }
  return {std::move(run), "planless"};
}

}  // namespace nuice::mpi
