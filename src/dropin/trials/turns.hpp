// SPDX-License-Identifier: BSD-3-Clause
// Which calls of a communicator MPI does, and which we do.
//
//   call 1       before it all are asked whether they have long messages. By MPI, which makes its connections. If nobody has any: asked again
//                beside call 8, 64, ...
//   calls 2, 3   by MPI
//   call 4       by MPI, timed; beside it the shadow communicator is made
//   calls 5, 6   by us, the second one timed
//   call 7       by us; beside it all are told how many bytes a second either has moved. The winner goes on. MPI has its turn again at twice that
//                call, or at sixteen times where we were far ahead; we at four times, at sixteen times once we were beaten again, and at 64 times where
//                we were far behind: three calls that take twice as long are more than a program of some hundred should pay. MPI wins where we
//                are not clearly faster.
//
// Trusted are large exchanges, and communicators all of whose ranks have last seen us faster, on whatever communicator. Their shadow is made before
// call 1. Over TCP, whose senders lose what they send faster than a port takes it, all calls are ours, and MPI has its first turn at call 64.
// What else carries messages may have a pace of its own, so there:
//
//   call 1       by MPI, timed
//   calls 2, 3   by us, the second one timed
//   call 4       by us; beside it all are told the rates. Were we far ahead, MPI has its next turn at call 64, else at call 16. It is that turn which
//                decides, as MPI's first call made connections.
//
// Where any rank has last seen MPI faster, none is trusted, and it is asked at call 8 for the first time that counts. A communicator of the same ranks
// in the same order as one that is trusted, or on which we were faster, shares its shadow and is ours from its first call on; MPI has its first turn at
// call 16, or 64 where we were faster or it goes over TCP. (heFFTe calls six communicators in turn, each of them six times.)
//
// What all are told goes beside an exchange but for the first question: behind an exchange that has filled the queues, the few small packets of a
// reduction are lost like others, and nothing follows that would show it before a timeout (60 calls of 16 ranks, 8 KiB for each other: 1.4 times as
// long with seven reductions between them).
//
// A call after one of the other's is not timed: TCP senders that have lost packets stay slow for a while. All ranks of a communicator come to
// the same steps, as they go by the number of the call and by what was agreed before.
#pragma once

#include <cstdint>

namespace nuice::dropin {

class Turns {
 public:
  enum class Way : std::uint8_t { mpi, replace };
  enum class Beside : std::uint8_t { nothing, ask, make_shadow, compare };
  /// Who was faster where it was tried.
  enum class Experience : std::uint8_t { none, mpi, ours };
  struct Step {
    Way way;
    bool is_timed = false;
    Beside beside = Beside::nothing;
    bool asks_first = false;  // before it, and then goes as first() says
  };
  /// Bytes that crossed this rank's port, and the seconds of the calls; or their sums over the ranks.
  struct Rate {
    double bytes = 0;
    double seconds = 0;
  };

  /// Of the next call. can_replace: there is a shadow.
  Step next(bool can_replace);
  /// What all have answered, experience for all of them. most_bytes: that come to a rank; by_tcp: to all of them.
  void answer(bool is_wanted, double most_bytes, Experience experience, bool by_tcp = false);
  /// Call 1, after that.
  Step first() const;
  /// A timed call.
  void add(bool is_ours, double bytes, double seconds);
  const Rate& by_mpi() const { return by_mpi_; }
  const Rate& by_us() const { return by_us_; }
  /// From sums over all ranks, which so choose alike.
  void decide(const Rate& by_mpi, const Rate& by_us);
  Experience experience() const { return experience_; }
  bool prefers_mpi() const { return prefers_mpi_; }
  /// To be ours before it is decided.
  bool is_trusted() const { return is_trusted_; }
  bool is_decided() const { return is_decided_; }
  /// Of a call that does not block, and so takes no turn.
  bool are_ours() const { return is_decided_ ? !prefers_mpi_ : is_trusted_; }
  static bool would_trust(double most_bytes, Experience experience);
  /// So large that we are expected to be faster.
  static bool is_large(double most_bytes);
  struct Outcome {
    bool prefers_mpi;
    bool is_far_apart;
  };
  static Outcome outcome_of(const Rate& by_mpi, const Rate& by_us);
  /// There is a shadow already, on which we are expected, or known, to be faster.
  void share(bool is_known);

 private:
  Step next_of_ours();

  std::int64_t calls_ = 0;
  std::int64_t next_ask_ = 1;    // a call
  std::int64_t next_trial_ = 0;  // likewise; 0: none was set
  bool is_wanted_ = false;
  bool is_trusted_ = false;
  bool is_decided_ = false;
  bool prefers_mpi_ = false;
  Experience experience_ = Experience::none;
  Rate by_mpi_;
  Rate by_us_;
};

}  // namespace nuice::dropin
