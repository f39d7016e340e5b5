// SPDX-License-Identifier: BSD-3-Clause
// Records what one rank of an unmodified program exchanges with which ranks: the call, the place in the
// program, the communicator, the bytes for each rank, and the time. Nothing is communicated. At the end each
// rank writes its own file, and `nuice record merge` combines the files (python/nuice/recording.py reads the
// format).
//
// Cost: a collective call costs a pass over its counts and some look-ups. MPI_Isend and MPI_Irecv, and each
// request that is waited for, cost one look-up (bench/run.py recording measures both). Memory: every
// different row (how much this rank sends to which rank in one call) is kept once, and each call takes about
// six bytes. Both have a limit; calls beyond it are only counted.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace nuice::run {

/// One rank's part of one exchange. Destination and bytes alternate, by ascending destination. Entries of
/// zero bytes are left out.
using Row = std::vector<std::int64_t>;

/// Where the program called MPI: the callers' return addresses, innermost first, then 0. A place is
/// identified by `from`, the innermost address. The other addresses are looked up only at the first call from
/// that place, because this takes about 8 us.
using Site = std::array<void*, 4>;

class Recorder {
 public:
  /// Starts recording if NUICE_RECORD_DIR names a folder. Called after MPI_Init.
  void begin();
  bool is_on() const { return is_on_; }
  /// Writes the file and stops recording. Prints errors on stderr; the program continues.
  void end() noexcept;

  /// Records a collective call that has ended on this rank after `seconds`.
  void note(const char* call, MPI_Comm comm, void* from, Row row, double seconds);

  /// Records a collective operation that continues in the background. note_init() is for persistent requests.
  void note_started(const char* call, MPI_Comm comm, void* from, Row row, double seconds,
                    MPI_Request request);
  void note_init(const char* call, MPI_Comm comm, void* from, Row row, MPI_Request request);

  /// Records a point-to-point operation. An exchange consists of all operations that a rank starts on a
  /// communicator before it has waited for all of them. destination: MPI_PROC_NULL or below for a receive.
  void note_transfer(MPI_Comm comm, int destination, std::int64_t bytes, double seconds, MPI_Request request);
  void note_transfer_init(MPI_Comm comm, int destination, std::int64_t bytes, MPI_Request request);
  /// Records a blocking send or receive inside such an exchange. Outside an exchange it is not recorded.
  void note_blocking(MPI_Comm comm, int destination, std::int64_t bytes, double seconds);

  /// Records that a persistent request has been started, by a call that took `seconds`.
  void start(MPI_Request request, void* from, double seconds);
  /// Records that these requests are complete after a call that took `seconds`. When the call began,
  /// `begun_after` operations had been started.
  void complete(const std::vector<MPI_Request>& requests, std::int64_t begun_after, void* from,
                double seconds);
  void forget(MPI_Request request);
  bool waits_for_any() const { return num_pending_.load(std::memory_order_relaxed) > 0; }
  std::int64_t num_started() const { return num_started_.load(std::memory_order_relaxed); }

  /// Returns the destinations of the communicator's neighbourhood collectives.
  const std::vector<int>& neighbours(MPI_Comm comm);

 private:
  static constexpr std::int64_t no_pattern = -1;
  struct Series {
    const char* call;
    int comm;
    int site;
    std::vector<std::int32_t> patterns;  // by call
    std::vector<float> seconds;          // by call
    std::int64_t num_calls = 0;
    double total_s = 0;
    double total_bytes = 0;
  };
  struct Group {
    std::vector<int> ranks;  // in MPI_COMM_WORLD
    std::vector<int> neighbours;
    bool knows_neighbours = false;
    bool has_others = false;  // rows are not recorded for an intercommunicator, or with processes of other
                              // worlds
  };
  /// A request that is not complete, or is persistent. A handle does not identify an operation, because MPI
  /// reuses the handle when the operation is complete. This may be at once: all short sends of Open MPI share
  /// one handle. So if another operation gets the same handle, this operation is complete. A call that waits
  /// completes only operations that were started before the call.
  struct Operation {
    std::int64_t number = 0;  // its place in the order of starts
    bool is_persistent = false;
    bool is_active = false;
    bool is_transfer = false;
    int comm = 0;
    // of a collective
    const char* call = nullptr;
    void* from = nullptr;
    Row row{};
    std::size_t series = 0;
    std::size_t index = 0;
    // of a transfer
    int destination = MPI_PROC_NULL;
    std::int64_t bytes = 0;
  };
  /// The transfers on one communicator since the last time that all its transfers were complete.
  struct Epoch {
    std::map<int, std::int64_t> bytes{};
    std::int64_t open = 0;
    double seconds = 0;
  };

  int number_of(MPI_Comm comm);
  int place_of(void* from);
  std::int32_t number_of(Row row);
  std::pair<std::size_t, std::size_t> add(const char* call, int comm, void* from, Row row, double seconds);
  Operation& keep(MPI_Request request, Operation operation);
  void begin_transfer(const Operation& transfer, double seconds);
  void end_transfer(const Operation& transfer);
  void close_epochs(void* from);
  void end_unclosed();
  void write() const;

  std::mutex mutex_;
  std::atomic<bool> is_on_ = false;
  std::atomic<std::int64_t> num_started_ = 0;
  std::atomic<std::int64_t> num_pending_ = 0;
  int process_ = 0;
  double begin_s_ = 0;
  std::string folder_;
  int rank_ = 0;
  int num_ranks_ = 0;
  int key_ = MPI_KEYVAL_INVALID;
  std::vector<Group> groups_;
  std::vector<Site> sites_;
  std::unordered_map<void*, int> places_;  // in sites_
  std::map<Row, std::int32_t> patterns_;
  std::size_t pattern_numbers_ = 0;  // in all rows together
  std::vector<Series> series_;
  std::map<std::tuple<std::string_view, int, int>, std::size_t> series_by_;  // call, communicator, site
  std::unordered_map<MPI_Request, Operation> pending_;
  std::map<int, Epoch> epochs_;
  std::set<int> ended_;  // epochs whose operations have all ended; the next call that completes a request
                         // closes them
};

Recorder& recorder();

}  // namespace nuice::run
