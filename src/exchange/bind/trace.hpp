// SPDX-License-Identifier: BSD-3-Clause
// A trace: what the exchanges of one binding did on this rank, and when (option `trace`). Without a trace, a
// note costs the test of a pointer. With a trace it reads the clock and writes 24 bytes into a ring that
// bind() has allocated. The latest `capacity` notes are kept, and written when the exchange is freed:
//
//   DIR/KEY-rank-R.trace    one line of JSON, then the notes as they lie in memory (docs/how-to/trace.md)
//
// Executors add notes through Arrivals. Start, wait, arrivals and end are noted for every executor, also for
// executors of other libraries.
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
  /// The numbers must agree with docs/how-to/trace.md and python/nuice/tracing.py.
  enum class Kind : std::int32_t {
    start,
    wait,     // a waiting call begins
    sent,     // a transfer to partner has started
    landed,   // a transfer from partner has arrived
    message,  // a message from partner has arrived completely
    step,     // this number of steps has completed
    over,
  };

  /// Collective over comm, called by bind(). Allocates the ring, and measures the difference between this
  /// rank's clock and rank 0's. tag: no other message uses this tag during the call.
  void open(const std::string& folder, const std::string& executor, const std::string& scheduler,
            const PhaseTable& table, const Communicator& comm, int tag);
  bool is_on() const { return !ring_.empty(); }
  void note(Kind kind, Rank partner = no_rank, Bytes bytes = 0) {
    if (is_on()) ring_[num_notes_++ % capacity] = {now_s(), static_cast<std::int32_t>(kind), partner, bytes};
  }
  /// Writes the trace. Call it once. Reports failure on stderr.
  void write() noexcept;

 private:
  /// The number of notes that are kept, in 1.5 MiB. An exchange with 64 sources and 64 destinations makes
  /// about 200 notes, so a trace has its last 300 exchanges.
  static constexpr std::size_t capacity = std::size_t{1} << 16;
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
  std::string about_;  // the part of the JSON line that bind() knows
  Rank rank_ = 0;
  std::int64_t key_ = 0;  // microseconds since 1970 on rank 0
  double offset_s_ = 0;   // to be added to this rank's times to get rank 0's
  double error_s_ = 0;
};

}  // namespace nuice::mpi
