// SPDX-License-Identifier: BSD-3-Clause
// Calls that no call of their own can be agreed in, because ranks may be several of them apart: those of a
// neighbourhood, and MPI_Ialltoall, v and w. Whether MPI or we are faster there is tried all the same.
//
//   number     every rank numbers the calls that it begins. Both ends of a message begin it in the call of one number.
//   meeting    a collective call of the ranks concerned, in which each needs all others, so that waiting for them is
//              nothing new. All tell how many calls they have begun, and from the call behind the greatest number all
//              go another way: nobody has begun that one.
//   rounds     both ways have four calls that are timed. If neither is far ahead, both have eight more.
//   verdict    whoever has moved more bytes a second in these calls; MPI where we are not clearly ahead. It is tried
//              again at eight times the call.
//
// Timed is what the program waits for: beginning a call, and from when it first comes back until the exchange is
// complete. The first call after another way is not timed. Where exchanges are large we are trusted to be faster, and
// MPI has its first turn at call 16 (as in turns.hpp).
//
// Which calls are meetings is agreed upon as well: numbers of collective calls that all ranks count alike. The first
// is the 8th behind the making of a trial; then they come at the same distance while calls are measured, else at
// twice. They cost two small reductions each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace nuice::dropin {

class Trial {
 public:
  enum class Way : std::uint8_t { ours, mpi };
  /// Of one call.
  struct Step {
    Way way = Way::ours;
    std::int64_t phase = 0;
    bool is_timed = false;
  };
  /// What a rank tells the others: they learn the greatest of these,
  struct Most {
    double begun = 0;
    double kept = 0;  // persistent requests that were made
    double timed = 0;
    double bytes = 0;  // that a call brings to a rank
    double is_over = 0;
  };
  /// and the sums of these.
  struct Sums {
    double our_bytes = 0;
    double our_s = 0;
    double mpi_bytes = 0;
    double mpi_s = 0;
  };

  explicit Trial(Way first, bool is_trusted = false);

  /// Of the call that begins now.
  Step next();
  /// Of a persistent request that is made now: the way that has won last, as it cannot take another later.
  Way next_kept();
  /// What a call that is complete has brought to this rank, and how long the program waited for that.
  void add(const Step& step, double bytes, double seconds);
  /// The communicator is gone.
  void end() { is_over_ = true; }

  const Most& most() const { return most_; }
  const Sums& sums() const { return sums_; }
  /// What all ranks have told. Whether something was changed by it.
  bool hear(const Most& most, const Sums& sums);
  bool is_over() const { return is_over_; }
  bool is_measuring() const { return is_measuring_; }
  std::int64_t num_lost() const { return num_lost_; }
  std::int64_t num_decided() const { return num_decided_; }

 private:
  /// Which way is gone from a call on.
  struct Switch {
    double from;
    Way way;
    std::int64_t phase;
  };
  void go(Way way, const Most& most);
  void begin(const Most& most);
  void decide(const Most& most, const Sums& sums);

  std::deque<Switch> switches_;       // the first one is that of the last call
  std::deque<Switch> kept_switches_;  // likewise, of persistent requests
  Most most_;
  Sums sums_;
  std::int64_t phase_ = 0;  // the last one that was agreed upon
  int num_phases_ = 0;      // of this trial, that are through
  bool is_measuring_ = true;
  bool is_trusted_;
  bool is_over_ = false;
  double again_at_ = 0;  // a call
  std::int64_t num_lost_ = 0;
  std::int64_t num_decided_ = 0;
};

/// Those of all communicators of the same ranks in the same order.
class Trials {
 public:
  /// In a collective call of these ranks, as all that follows. Whether there are more of them then: of very many the
  /// oldest is given up, and goes on as it goes.
  bool add(std::shared_ptr<Trial> trial);
  bool any() const { return !all_.empty(); }
  /// Whether this call is a meeting.
  bool reach();
  /// For reductions by MPI_MAX, and by MPI_SUM.
  std::vector<double> most() const;
  std::vector<double> sums() const;
  /// Of all ranks.
  struct News {
    std::int64_t num_over = 0;
    std::int64_t num_lost = 0;           // that MPI has won now
    std::vector<Trial::Sums> decided{};  // what was found where somebody has
  };
  News hear(std::span<const double> most, std::span<const double> sums);

 private:
  std::vector<std::shared_ptr<Trial>> all_;
  std::int64_t calls_ = 0;
  std::int64_t next_meeting_ = 0;
  std::int64_t distance_ = 0;
};

}  // namespace nuice::dropin
