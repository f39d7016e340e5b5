// SPDX-License-Identifier: BSD-3-Clause
// The checker walks through the schedule once, phase by phase, and tracks where every byte is (holdings.hpp).
#include "nuice/core/check.hpp"

#include <algorithm>
#include <array>

#include "core/holdings.hpp"
#include "core/link_use.hpp"
#include "core/support/table.hpp"
#include "core/text/violation_text.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice {
namespace {

using core::at_piece;
using core::at_transfer;
using core::Holdings;
using core::LinkUse;
using core::text;

constexpr core::Named<Guarantee> guarantee_table[] = {{"direct", direct},
                                                      {"one_port", one_port},
                                                      {"fewest_phases", fewest_phases},
                                                      {"fewest_bytes", fewest_bytes},
                                                      {"link_free", link_free}};

bool is_rank(Rank rank, Rank num_ranks) { return rank >= 0 && rank < num_ranks; }

/// The ranks that send and the ranks that receive in the present phase.
class Ports {
 public:
  explicit Ports(Rank num_ranks)
      : send_to_(static_cast<std::size_t>(num_ranks)), recv_from_(static_cast<std::size_t>(num_ranks)) {}

  std::optional<Violation> use(PhaseId phase, Rank src, Rank dst) {
    Use& send = send_to_[static_cast<std::size_t>(src)];
    if (send.in_phase(phase)) {
      return at_transfer(ViolationKind::two_sends, phase, src, dst,
                         text(src) + " sends to " + text(send.partner) + " and to " + text(dst));
    }
    Use& receive = recv_from_[static_cast<std::size_t>(dst)];
    if (receive.in_phase(phase)) {
      return at_transfer(ViolationKind::two_receives, phase, src, dst,
                         text(dst) + " receives from " + text(receive.partner) + " and from " + text(src));
    }
    send = {phase + 1, dst};
    receive = {phase + 1, src};
    return std::nullopt;
  }

 private:
  struct Use {
    PhaseId phase_plus_1 = 0;  // 0: not used yet
    Rank partner = no_rank;
    bool in_phase(PhaseId phase) const { return phase_plus_1 == phase + 1; }
  };
  std::vector<Use> send_to_;
  std::vector<Use> recv_from_;
};

std::optional<Violation> check_ends(PhaseId phase, const Transfer& transfer, Rank num_ranks) {
  if (!is_rank(transfer.src, num_ranks) || !is_rank(transfer.dst, num_ranks)) {
    return at_transfer(ViolationKind::bad_rank, phase, transfer.src, transfer.dst,
                       "transfer " + text(transfer.src, transfer.dst) + ": ranks go from 0 to " +
                           std::to_string(num_ranks - 1));
  }
  if (transfer.src == transfer.dst) {
    return at_transfer(ViolationKind::self_transfer, phase, transfer.src, transfer.dst,
                       text(transfer.src) + " sends to itself; that needs no transfer");
  }
  return std::nullopt;
}

std::optional<Violation> check_piece(PhaseId phase, const Transfer& transfer, const Piece& piece,
                                     const CommMatrix& matrix, unsigned guarantees) {
  if (piece.message >= matrix.num_messages()) {
    return at_transfer(ViolationKind::bad_piece, phase, transfer.src, transfer.dst,
                       "transfer " + text(transfer.src, transfer.dst) +
                           ": the matrix has no message number " + std::to_string(piece.message));
  }
  const Message message = matrix.message(piece.message);
  // The sums are arranged so that none can overflow, because offset and bytes may have any value.
  if (piece.offset < 0 || piece.bytes <= 0 || piece.offset > message.bytes ||
      piece.bytes > message.bytes - piece.offset) {
    return at_piece(ViolationKind::bad_piece, phase, transfer, message, piece,
                    text(message) + " has " + std::to_string(message.bytes) + " bytes, the piece is " +
                        std::to_string(piece.bytes) + " bytes from " + std::to_string(piece.offset));
  }
  const bool straight = transfer.src == message.src && transfer.dst == message.dst;
  if ((guarantees & direct) != 0 && !straight) {
    return at_piece(ViolationKind::not_direct, phase, transfer, message, piece,
                    text(message) + " does not go straight");
  }
  return std::nullopt;
}

MessageId max_degree(const CommMatrix& matrix) {
  std::vector<MessageId> sends(static_cast<std::size_t>(matrix.num_ranks()), 0);
  std::vector<MessageId> receives(sends);
  MessageId most = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    most = std::max({most, ++sends[static_cast<std::size_t>(matrix.src(id))],
                     ++receives[static_cast<std::size_t>(matrix.dst(id))]});
  }
  return most;
}

Bytes busiest_port_bytes(const CommMatrix& matrix) {
  std::vector<Bytes> sent(static_cast<std::size_t>(matrix.num_ranks()), 0);
  std::vector<Bytes> received(sent);
  Bytes most = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    most = std::max({most, sent[static_cast<std::size_t>(matrix.src(id))] += matrix.bytes(id),
                     received[static_cast<std::size_t>(matrix.dst(id))] += matrix.bytes(id)});
  }
  return most;
}

}  // namespace

std::string guarantee_names(unsigned guarantees) {
  std::string names;
  for (const auto& [name, flag] : guarantee_table) {
    if ((guarantees & flag) == 0) continue;
    if (!names.empty()) names += ' ';
    names += name;
  }
  return names;
}

Guarantee find_guarantee(std::string_view name) {
  return core::require_row(guarantee_table, "guarantee", name).value;
}

std::string_view violation_name(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::bad_rank:
      return "bad_rank";
    case ViolationKind::bad_piece:
      return "bad_piece";
    case ViolationKind::self_transfer:
      return "self_transfer";
    case ViolationKind::two_sends:
      return "two_sends";
    case ViolationKind::two_receives:
      return "two_receives";
    case ViolationKind::not_direct:
      return "not_direct";
    case ViolationKind::not_held:
      return "not_held";
    case ViolationKind::not_delivered:
      return "not_delivered";
    case ViolationKind::too_many_phases:
      return "too_many_phases";
    case ViolationKind::too_many_bytes:
      return "too_many_bytes";
    case ViolationKind::link_contention:
      return "link_contention";
    case ViolationKind::bad_path:
      return "bad_path";
    case ViolationKind::wrong_num_ranks:
      return "wrong_num_ranks";
  }
  return "unknown";
}

std::optional<Violation> find_node_contention(const Schedule& schedule, PhaseId phase) {
  Ports ports(schedule.num_ranks());
  for (const Transfer& transfer : schedule.transfers(phase)) {
    if (auto violation = check_ends(phase, transfer, schedule.num_ranks())) return violation;
    if (auto violation = ports.use(phase, transfer.src, transfer.dst)) return violation;
  }
  return std::nullopt;
}

std::optional<Violation> find_link_contention(const Schedule& schedule, PhaseId phase,
                                              const Topology& topology) {
  core::require_ranks(topology, schedule.num_ranks());
  for (const Transfer& transfer : schedule.transfers(phase)) {
    if (auto violation = check_ends(phase, transfer, schedule.num_ranks())) return violation;
  }
  return LinkUse(topology).find_contention(schedule, phase);
}

namespace {

std::optional<Violation> check_transfer(PhaseId phase, const Transfer& transfer, const CommMatrix& matrix,
                                        unsigned guarantees, Ports& ports, Holdings& holdings) {
  if (auto violation = check_ends(phase, transfer, matrix.num_ranks())) return violation;
  if ((guarantees & one_port) != 0) {
    if (auto violation = ports.use(phase, transfer.src, transfer.dst)) return violation;
  }
  for (const Piece& piece : transfer.pieces) {
    if (auto violation = check_piece(phase, transfer, piece, matrix, guarantees)) return violation;
    if (auto violation = holdings.move(phase, transfer, piece)) return violation;
  }
  return std::nullopt;
}

std::optional<Violation> check_phases(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees,
                                      LinkUse* links) {
  Ports ports(matrix.num_ranks());
  Holdings holdings(matrix);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      check_interrupt();
      if (auto violation = check_transfer(phase, transfer, matrix, guarantees, ports, holdings))
        return violation;
    }
    if (links != nullptr) {
      if (auto violation = links->find_contention(schedule, phase)) return violation;
    }
  }
  return holdings.find_undelivered(schedule.num_phases());
}

std::optional<Violation> check_num_phases(const CommMatrix& matrix, const Schedule& schedule) {
  const MessageId fewest = max_degree(matrix);
  if (schedule.num_phases() <= fewest) return std::nullopt;
  Violation violation{.kind = ViolationKind::too_many_phases, .phase = fewest};
  violation.text = std::to_string(schedule.num_phases()) + " phases, more than the maximum degree " +
                   std::to_string(fewest);
  return violation;
}

std::optional<Violation> check_phase_bytes(const CommMatrix& matrix, const Schedule& schedule) {
  const Bytes fewest = busiest_port_bytes(matrix);
  Bytes left = fewest;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    Bytes largest = 0;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      Bytes bytes = 0;
      for (const Piece& piece : transfer.pieces) bytes += piece.bytes;
      largest = std::max(largest, bytes);
    }
    if (largest > left) {
      Violation violation{.kind = ViolationKind::too_many_bytes, .phase = phase};
      violation.text = "phase " + std::to_string(phase) +
                       ": the largest transfers of the phases add up to more than the " +
                       std::to_string(fewest) + " bytes that the busiest rank sends or receives";
      return violation;
    }
    left -= largest;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Violation> check(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees,
                               const Topology* topology) {
  std::optional<LinkUse> links;
  if ((guarantees & link_free) != 0) {
    if (topology == nullptr)
      throw Error(ErrorCode::invalid_argument, "link_free can only be checked with a topology");
    core::require_ranks(*topology, schedule.num_ranks());
    links.emplace(*topology);
  }
  if (schedule.num_ranks() != matrix.num_ranks()) {
    Violation violation{.kind = ViolationKind::wrong_num_ranks};
    violation.text = "the schedule is for " + std::to_string(schedule.num_ranks()) +
                     " ranks, the matrix has " + std::to_string(matrix.num_ranks());
    return violation;
  }
  if (auto violation = check_phases(matrix, schedule, guarantees, links ? &*links : nullptr)) {
    return violation;
  }
  if ((guarantees & fewest_phases) != 0) {
    if (auto violation = check_num_phases(matrix, schedule)) return violation;
  }
  if ((guarantees & fewest_bytes) != 0) return check_phase_bytes(matrix, schedule);
  return std::nullopt;
}

}  // namespace nuice
