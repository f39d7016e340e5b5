// SPDX-License-Identifier: BSD-3-Clause
#include "lossless/exchange.hpp"

#include <algorithm>
#include <ctime>
#include <string>

#include "nuice/core/dependencies.hpp"
#include "nuice/core/error.hpp"

namespace nuice::lossless {
namespace {

constexpr Bytes data_bytes = packet_payload - static_cast<Bytes>(sizeof(Packet));
// The value of simulate_packets() in packets of 4096 bytes.
constexpr std::uint32_t early = 12;
constexpr int wait_ms = 100;
constexpr int patience = 100;  // number of waits

std::uint32_t packets_of(Bytes bytes) { return static_cast<std::uint32_t>((bytes - 1) / data_bytes + 1); }

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

}  // namespace

Exchange::Exchange(Cards& cards, const Schedule& schedule, const Topology& topology, const Executor& executor,
                   std::uint32_t window)
    : cards_(cards), pace_(executor.pace), window_(window) {
  if (pace_ != Pace::at_once && pace_ != Pace::phases && pace_ != Pace::notices)
    throw Error(ErrorCode::not_applicable,
                "executor " + std::string(executor.name) + ": of RDMA's there are async, phased and depend");
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    for (const nuice::Transfer& transfer : schedule.transfers(phase))
      fresh_.push_back({transfer.src, transfer.dst, phase, packets_of(transfer.bytes()), transfer.path});
  if (pace_ == Pace::notices) {
    const Dependencies before = dependencies(schedule, &topology, Bytes{2} * early * data_bytes);
    after_.resize(fresh_.size());
    for (std::uint32_t id = 0; id < fresh_.size(); ++id) {
      fresh_[id].gates += static_cast<std::uint32_t>(before.of(id).size());
      for (const std::uint32_t earlier : before.of(id)) after_[earlier].push_back(id);
    }
  }
  fresh_stages_.resize(at(schedule.num_ranks()));
  if (pace_ == Pace::phases) lay_stages();
}

void Exchange::lay_stages() {
  for (std::uint32_t id = 0; id < fresh_.size(); ++id)
    for (const Rank rank : {fresh_[id].src, fresh_[id].dst}) {
      auto& all = fresh_stages_[at(rank)];
      if (all.empty() || all.back().phase != fresh_[id].phase) all.push_back({fresh_[id].phase, 0, {}});
      ++all.back().left;
      if (rank == fresh_[id].src) all.back().sends.push_back(id);
    }
}

ExchangeResult Exchange::run(std::uint32_t number) {
  run_ = number;
  transfers_ = fresh_;
  stages_ = fresh_stages_;
  stage_of_.assign(stages_.size(), 0);
  incomplete_ = 2 * transfers_.size();  // one for arrival, one for acknowledgement
  result_ = {0, std::vector<double>(transfers_.size(), 0), {}};
  began_s_ = now_s();
  start();
  for (int waits = 0; incomplete_ > 0;) {
    const bool any = cards_.receive(wait_ms, [this](const Packet& packet) {
      if (packet.run == run_) take(packet);
    });
    waits = any ? 0 : waits + 1;
    if (waits == patience)
      throw Error(ErrorCode::timeout, std::to_string(incomplete_) + " transfers wait forever");
  }
  result_.seconds = *std::ranges::max_element(result_.arrived_s);
  return std::move(result_);
}

void Exchange::start() {
  if (pace_ == Pace::phases)
    for (std::size_t rank = 0; rank < stages_.size(); ++rank) enter(static_cast<Rank>(rank));
  else
    for (std::uint32_t id = 0; id < transfers_.size(); ++id) open(id);
}

void Exchange::take(const Packet& packet) {
  Transfer& transfer = transfers_.at(packet.transfer);
  switch (packet.kind) {
    case Kind::data:
      take_data(packet.transfer, packet.number);
      break;
    case Kind::acknowledgement:
      transfer.acknowledged = packet.number;
      allow(packet.transfer, 0);
      if (transfer.acknowledged < transfer.packets) break;
      --incomplete_;
      complete(transfer.src, transfer.phase);
      break;
    case Kind::notice:
      open(packet.transfer);
  }
}

void Exchange::take_data(std::uint32_t id, std::uint32_t number) {
  Transfer& transfer = transfers_[id];
  if (number != transfer.came++)
    throw Error(ErrorCode::state, "packet " + std::to_string(number) + " came from host " +
                                      std::to_string(transfer.src + 1) + " to " +
                                      std::to_string(transfer.dst + 1) + " in place of " +
                                      std::to_string(transfer.came - 1));
  const double now = now_s() - began_s_;
  if (number > 0) result_.gaps_s.push_back(static_cast<float>(now - transfer.last_s));
  transfer.last_s = now;
  const std::uint32_t missing = transfer.packets - transfer.came;
  if (missing == 0 || transfer.came % std::max(window_ / 4, 1U) == 0)
    control(Kind::acknowledgement, id, transfer.came);
  if (!transfer.told && missing <= std::min(early, transfer.packets / 2)) tell(id);
  if (missing > 0) return;
  result_.arrived_s[id] = now;
  --incomplete_;
  complete(transfer.dst, transfer.phase);
}

void Exchange::open(std::uint32_t id) {
  if (--transfers_[id].gates == 0) allow(id, transfers_[id].packets);
}

/// Sends this number of further packets, or fewer if the window has no room.
void Exchange::allow(std::uint32_t id, std::uint32_t packets) {
  Transfer& transfer = transfers_[id];
  transfer.allowed += packets;
  const std::uint32_t end = std::min(transfer.allowed, transfer.acknowledged + window_);
  while (transfer.sent < end)
    cards_.send(transfer.src, transfer.dst, {run_, Kind::data, id, transfer.sent++}, transfer.path);
}

/// Marks a transfer as complete for the rank. The rank enters its next phase when all its transfers of the
/// current phase are complete.
void Exchange::complete(Rank rank, PhaseId phase) {
  if (pace_ != Pace::phases) return;
  auto& all = stages_[at(rank)];
  --std::ranges::lower_bound(all, phase, {}, &Stage::phase)->left;
  std::size_t& stage = stage_of_[at(rank)];
  while (stage < all.size() && all[stage].left == 0) {
    ++stage;
    enter(rank);
  }
}

void Exchange::enter(Rank rank) {
  const auto& all = stages_[at(rank)];
  if (const std::size_t stage = stage_of_[at(rank)]; stage < all.size())
    for (const std::uint32_t id : all[stage].sends) open(id);
}

void Exchange::tell(std::uint32_t id) {
  transfers_[id].told = true;
  if (pace_ != Pace::notices) return;
  for (const std::uint32_t next : after_[id]) {
    if (transfers_[next].src == transfers_[id].dst)
      open(next);
    else
      cards_.send(transfers_[id].dst, transfers_[next].src, {run_, Kind::notice, next, 0});
  }
}

/// Sends a control packet from the receiver to the sender.
void Exchange::control(Kind kind, std::uint32_t id, std::uint32_t number) {
  cards_.send(transfers_[id].dst, transfers_[id].src, {run_, kind, id, number});
}

}  // namespace nuice::lossless
