// SPDX-License-Identifier: BSD-3-Clause
// Coloring by size: exactly as many phases as the maximum degree D, with nearly as few bytes as whole
// messages allow.
//
// The whole-message bound W (bounds.hpp) is a sum of D targets T_k. T_k is the maximum, over all ports, of
// the port's k-th largest message. Every phase gets a target: phase k takes no message larger than T_k. If
// all phases keep to their targets, phase_bytes() is W. Phases are made one at a time. Let the R remaining
// targets be T_1 >= .. >= T_R, and the remaining messages of a port x_1 >= x_2 >= .. Then every port has
//
//   x_i <= T_i for all i, and at most R messages                                                        (1)
//
// Condition (1) holds in the beginning, and every phase preserves it. Suppose that a phase with target T_q
// takes from the port some x_p <= T_q. Then (1) holds for the remaining messages if and only if there is no i
// with q <= i < p and x_i > T_(i+1), where T_(R+1) = 0. So the first such x_i is the *limit* of the port: the
// phase must take a message of this port that is at least as large. If there is no such x_i, the port may
// stay idle. To find a matching within the targets and limits, the largest messages are taken first, and
// alternating paths complete the matching. If there is no such matching, some targets are raised, as little
// as possible (relax()). When targets no longer restrict the choice, only the ports with R messages must take
// part. Then there always is a matching (Koenig 1916), so there are D phases.
//
// The next phase to be made is the one with the largest or with the smallest remaining target, depending on
// which end has the larger step to its neighbour. The phases that are made last have little choice, so their
// targets should be close to each other. Such targets are the small ones for skewed sizes, and the middle
// ones for uniform sizes. To start from one end only is worse for some distributions: ascending order needs
// 1.3 W for Zipf's law, and descending order 1.015 W for uniform sizes and regular sparse matrices. The order
// used here needs at most 1.005 W.
//
// Cost: O(m log m + D n) plus the searches. Measured: about 0.6 us per message for dense matrices of 1,024
// ranks. 40 bytes per message.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "schedulers/coloring_by_size.hpp"

#include "core/by_size.hpp"
#include "nuice/core/interrupt.hpp"
#include "schedulers/graph/sized_ports.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

class Coloring {
 public:
  Coloring(const CommMatrix& matrix, Pieces pieces);

  /// Returns the phase of every piece. Phases with larger targets have lower numbers.
  std::vector<PhaseId> run();
  const Pieces& pieces() const { return ports_.pieces(); }
  PhaseId num_phases() const { return num_phases_; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  using Raise = std::uint64_t;  // bytes; raises of many targets together are at most max_bytes
  struct AtPort {
    Place to = none;       // the first message beyond its limit; none: the port may stay idle
    Place matched = none;  // the message that is matched, or none
    Port partner = none;   // the other end of `matched`
    // NOLINTNEXTLINE(readability-implicit-bool-conversion): avoids a branch
    bool takes(Place place) const { return (matched == none) & (place < to); }
  };
  struct Reached {
    std::uint32_t in_search = 0;  // the number of the search that reached this port
    Place along = none;           // the message along which it was reached
    Port from = none;             // the other end of that message
  };

  PhaseId num_left() const { return end_ - first_; }
  bool is_required(Port port) const { return at_[port].to != none; }

  static Raise plus(Raise raised, Bytes more) {
    return std::min<Raise>(raised + static_cast<Raise>(more), max_bytes);
  }

  PhaseId steeper_end() const;
  void match();
  void pair(Port port, Port partner, Place place);
  void set_limits();
  Place limit(Port port) const;
  void match_largest_first();
  void match_idle_senders();
  bool find_message_for(Port root);
  void turn_path(Port root, Port reached);
  void relax();
  Raise raise_target(Place place, bool really);
  Raise raise_limit(Port port, Place place, bool really);
  void take_phase(std::vector<PhaseId>& at_place);

  SizedPorts ports_;
  std::vector<Place> from_;  // for each phase: the first message within its target; then num_messages()
  PhaseId num_phases_ = 0;
  PhaseId first_ = 0;  // phases first_ .. end_ - 1 are still to be made
  PhaseId end_ = 0;
  PhaseId phase_ = 0;             // the phase that is being made: first_ or end_ - 1
  std::vector<AtPort> at_;        // by port
  std::vector<Reached> reached_;  // by port
  std::vector<Port> queue_;       // ports that find_message_for() has reached, on the side of its root
  std::uint32_t search_ = 0;
};

/// Finds the targets. Messages are ordered by descending size. T_k is the size of the first message that is
/// the k-th message of its sender or of its receiver.
Coloring::Coloring(const CommMatrix& matrix, Pieces pieces) : ports_(matrix, std::move(pieces)) {
  std::vector<PhaseId> met(ports_.num_ports(), 0);
  for (Place place = 0; place < ports_.num_messages(); ++place) {
    const PhaseId k = std::max(++met[ports_.sender(place)], ++met[ports_.receiver(place)]);
    if (k > from_.size()) from_.push_back(ports_.same_size_begin(place));
  }
  num_phases_ = end_ = static_cast<PhaseId>(from_.size());
  from_.push_back(ports_.num_messages());
  at_.resize(ports_.num_ports());
  reached_.resize(ports_.num_ports());
}

std::vector<PhaseId> Coloring::run() {
  std::vector<PhaseId> at_place(ports_.num_messages());
  while (num_left() > 0) {
    check_interrupt();
    phase_ = steeper_end();
    match();
    take_phase(at_place);
  }
  return at_place;
}

PhaseId Coloring::steeper_end() const {
  if (num_left() == 1) return first_;
  const Bytes at_first = ports_.bytes(from_[first_]) - ports_.bytes(from_[first_ + 1]);
  const Bytes at_last = ports_.bytes(from_[end_ - 2]) - ports_.bytes(from_[end_ - 1]);
  return at_first >= at_last ? first_ : end_ - 1;
}

void Coloring::match() {
  set_limits();
  match_largest_first();
  for (Port port = 0; port < ports_.num_ports(); ++port) {
    while (is_required(port) && at_[port].matched == none && !find_message_for(port)) relax();
  }
  match_idle_senders();
}

void Coloring::set_limits() {
  for (Port port = 0; port < ports_.num_ports(); ++port) at_[port].to = limit(port);
}

/// Returns the end of the messages that are as large as the port's limit (see the top of this file): the
/// first x_i with i >= q and x_i > T_(i+1). In the code i counts from 0, and larger messages have lower
/// places.
Place Coloring::limit(Port port) const {
  const auto left = ports_.left(port);
  if (phase_ != first_) return left.size() == num_left() ? ports_.same_size_end(left.back().place) : none;
  const Place* next_from = from_.data() + first_ + 1;
  if (left.empty() || left.front().place >= next_from[left.size() - 1])
    return none;                      // no x_i is above the lowest T
  constexpr std::size_t fewest = 16;  // checked one by one; longer steps double while they succeed
  for (std::size_t begin = 0, step = fewest; begin < left.size();) {
    const std::size_t end = std::min(begin + step, left.size());
    if (left[begin].place >= next_from[end - 1]) {  // this holds for all from `begin` to `end`
      begin = end;
      step *= 2;
    } else if (step > fewest) {
      step = fewest;
    } else {
      for (; begin < end; ++begin) {
        if (left[begin].place < next_from[begin]) return ports_.same_size_end(left[begin].place);
      }
    }
  }
  return none;
}

void Coloring::pair(Port port, Port partner, Place place) {
  at_[port].matched = at_[partner].matched = place;
  at_[port].partner = partner;
  at_[partner].partner = port;
}

/// Makes nearly all of the matching. It stops when the remaining pairs would need a long scan, because a
/// search finds them faster.
void Coloring::match_largest_first() {
  for (AtPort& at : at_) at.matched = none;
  std::size_t free_senders = 0;
  std::size_t free_receivers = 0;
  for (Port port = 0; port < ports_.num_ports(); ++port) {
    if (!ports_.left(port).empty()) ++(port < ports_.num_senders() ? free_senders : free_receivers);
  }
  std::size_t free = std::min(free_senders, free_receivers);
  constexpr std::size_t looks_for_each = 3;
  std::size_t looks = looks_for_each * free;
  for (Place place = ports_.next_left(from_[phase_]); free > 0 && looks > 0 && place < ports_.num_messages();
       place = ports_.next_left(place + 1), --looks) {
    const auto [sender, receiver] = ports_.ends(place);
    if (!at_[sender].takes(place) || !at_[receiver].takes(place)) continue;
    pair(sender, receiver, place);
    --free;
  }
}

/// Matches more senders than necessary, because a message that is sent now does not restrict later phases. A
/// few checks per sender find nearly all messages that fit.
void Coloring::match_idle_senders() {
  constexpr std::size_t most_looks = 8;
  for (Port sender = 0; sender < ports_.num_senders(); ++sender) {
    if (at_[sender].matched != none) continue;
    const auto left = ports_.left(sender);
    const std::size_t begin = ports_.num_before(sender, from_[phase_]);
    for (const auto [place, receiver] : left.subspan(begin, std::min(most_looks, left.size() - begin))) {
      if (place >= at_[sender].to) break;
      if (!at_[receiver].takes(place)) continue;
      pair(sender, receiver, place);
      break;
    }
  }
}

/// Searches breadth first along alternating paths. Looks for a port that has no message in this phase, or may
/// give up its message.
bool Coloring::find_message_for(Port root) {
  check_interrupt();
  ++search_;
  queue_.assign(1, root);
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const Port port = queue_[next];
    const auto left = ports_.left(port);
    for (const auto [place, partner] : left.subspan(ports_.num_before(port, from_[phase_]))) {
      if (place >= at_[port].to) break;
      if (reached_[partner].in_search == search_ || place >= at_[partner].to) continue;
      reached_[partner] = {search_, place, port};
      const Port displaced = at_[partner].matched == none ? none : at_[partner].partner;
      if (displaced != none && is_required(displaced)) {
        queue_.push_back(displaced);
        continue;
      }
      if (displaced != none) at_[displaced].matched = none;
      turn_path(root, partner);
      return true;
    }
  }
  return false;
}

void Coloring::turn_path(Port root, Port reached) {
  for (;;) {
    const auto [search, along, port] = reached_[reached];
    const Port before = at_[port].partner;
    pair(port, reached, along);
    if (port == root) return;
    reached = before;
  }
}

/// Called after a failed search. Raises targets until a port of the search's queue may use a message to a
/// port that was not reached, or may stay idle. It chooses the possibility that raises targets least. There
/// always is a possibility. Otherwise every port in the queue would have one message for each of the R
/// remaining phases, all of them to reached ports. But the reached ports are one fewer, and each has at most
/// R messages.
void Coloring::relax() {
  struct {
    Raise bytes = std::numeric_limits<Raise>::max();
    Port port = none;
    Place place = none;  // num_messages() if the port may be idle
    Port partner = none;
  } least;
  for (const Port port : queue_) {
    const auto left = ports_.left(port);
    for (const auto [place, partner] : left) {
      if (reached_[partner].in_search == search_) continue;
      Raise bytes = raise_target(place, false) + raise_limit(port, place, false);
      if (bytes < least.bytes) bytes += raise_limit(partner, place, false);
      if (bytes < least.bytes) least = {bytes, port, place, partner};
    }
    if (left.size() == num_left()) continue;
    const Raise bytes = raise_limit(port, ports_.num_messages(), false);
    if (bytes < least.bytes) least = {bytes, port, ports_.num_messages(), none};
  }
  if (least.place < ports_.num_messages()) {
    raise_target(least.place, true);
    raise_limit(least.partner, least.place, true);
  }
  raise_limit(least.port, least.place, true);
  set_limits();
}

/// Raises the target of this phase so that the phase may take `place`. Targets of lower-numbered phases that
/// are too low are raised too, so that targets keep descending. Returns the number of bytes by which it
/// raises targets. really: if false, only computes this number.
Coloring::Raise Coloring::raise_target(Place place, bool really) {
  Raise raised = 0;
  for (PhaseId above = phase_ + 1; above > first_ && from_[above - 1] > place; --above) {
    const PhaseId phase = above - 1;
    raised = plus(raised, ports_.bytes(place) - ports_.bytes(from_[phase]));
    if (really) from_[phase] = ports_.same_size_begin(place);
  }
  return raised;
}

/// Raises the targets T_(i+1) that do not allow the port to keep messages x_i larger than `place` for later
/// phases. Returns the number of bytes by which it raises targets.
Coloring::Raise Coloring::raise_limit(Port port, Place place, bool really) {
  if (place < at_[port].to) return 0;
  Raise raised = 0;
  const auto left = ports_.left(port);
  for (std::size_t i = phase_ - first_; i < left.size() && left[i].place < place; ++i) {
    Place& next_from = from_[first_ + i + 1];
    if (left[i].place >= next_from) continue;
    raised = plus(raised, ports_.bytes(left[i].place) - ports_.bytes(next_from));
    if (really) next_from = ports_.same_size_begin(left[i].place);
  }
  return raised;
}

void Coloring::take_phase(std::vector<PhaseId>& at_place) {
  for (Port sender = 0; sender < ports_.num_senders(); ++sender) {
    const Place place = at_[sender].matched;
    if (place == none) continue;
    at_place[place] = phase_;
    ports_.remove(place, sender, at_[sender].partner);
  }
  if (phase_ == first_) {
    ++first_;
  } else {
    from_[--end_] = ports_.num_messages();
  }
}

Schedule of_whole(const CommMatrix& matrix, const Pieces& pieces, const std::vector<PhaseId>& at_place,
                  PhaseId num_phases) {
  std::vector<PhaseId> phase_of(at_place.size());
  for (std::size_t place = 0; place < at_place.size(); ++place)
    phase_of[pieces.messages[place]] = at_place[place];
  return Schedule::of_whole_messages(matrix, phase_of, num_phases);
}

}  // namespace

Schedule color_pieces(const CommMatrix& matrix, Pieces pieces) {
  std::optional<Coloring> coloring(std::in_place, matrix, std::move(pieces));
  const std::vector<PhaseId> phase_of = coloring->run();
  const PhaseId num_phases = coloring->num_phases();
  const Pieces colored = coloring->pieces();
  coloring.reset();  // frees the memory before the schedule is made
  return colored.bytes.empty() ? of_whole(matrix, colored, phase_of, num_phases)
                               : schedule_of(matrix, colored, phase_of);
}

Schedule make_coloring_by_size(const Problem& problem) {
  return color_pieces(problem.matrix, {core::ids_by_size(problem.matrix), {}});
}

}  // namespace nuice::sched
