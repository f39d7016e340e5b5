// SPDX-License-Identifier: BSD-3-Clause
// What the exchanges of one binding did on this rank, and when: the option `trace`. Off, a note costs a test of a pointer; on, a look
// at the clock and 24 bytes of a ring that bind() has taken: the latest `capacity` notes stay. Written when the exchange is freed:
//
//   DIR/KEY-rank-R.trace    one line of JSON, then the notes as they lie in memory (docs/how-to/trace.md)
//
// Executors note what they do through the Arrivals that they all have; start, wait, what landed and the end are noted for every
// executor, also for those from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

class Trace {
 public:
  /// As docs/how-to/trace.md and python/nuice/tracing.py have them.
  enum class Kind : std::int32_t {
    start,
    wait,     // a call that waits begins
    sent,     // to partner: on its way from here on
    landed,   // from partner: a transfer is here
    message,  // from partner: a message is here as a whole
    step,     // a number of steps is over
    over,
  };

  /// Collective over comm, in bind(): takes the ring, and finds what this rank's clock is behind rank 0's. tag: one that nothing else uses
  /// meanwhile.
  void open(const std::string& folder, const std::string& executor, const std::string& scheduler,
            const PhaseTable& table, const Communicator& comm, int tag);
  bool is_on() const { return !ring_.empty(); }
  void note(Kind kind, Rank partner = no_rank, Bytes bytes = 0) {
    if (is_on()) ring_[num_notes_++ % capacity] = {now_s(), static_cast<std::int32_t>(kind), partner, bytes};
  }
  /// Once; says on stderr where it cannot.
  void write() noexcept;

 private:
  static constexpr std::size_t capacity = std::size_t{1} << 16;  // notes, in 1.5 MiB
  struct Note {
    double at_s;
    std::int32_t kind;
    Rank partner;
    std::int64_t bytes;
  };
  static double now_s();
  void synchronize(const Communicator& comm, int tag);

  std::vector<Note> ring_;
  std::size_t num_notes_ = 0;
  std::string folder_;
  std::string about_;  // of the line of JSON, what bind() knows
  Rank rank_ = 0;
  std::int64_t key_ = 0;  // of rank 0: microseconds since 1970
  double offset_s_ = 0;   // to be added to this rank's times
  double error_s_ = 0;
};

}  // namespace nuice::mpi
