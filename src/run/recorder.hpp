// SPDX-License-Identifier: BSD-3-Clause
// What one rank of an unmodified program exchanges with which others: which call, from where in the program, over
// which communicator, with which bytes for which rank, and how long it took. Nothing is communicated; at the end
// each rank writes a file of its own, and `nuice record merge` puts them together
// (python/nuice/recording.py has the other end of the format).
//
// Cost: a call of a collective costs a walk through its counts and some look-ups; one of MPI_Isend or
// MPI_Irecv, and each request that is waited for, a look-up (bench/run.py recording measures both).
// Memory: every row (how much this rank sends to which rank in one call) is kept once, and six bytes or so for each
// call, both up to a limit; what comes later is counted only.
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

/// One rank's part of one exchange: destination and bytes alternately, by ascending destination, none of them
/// zero.
using Row = std::vector<std::int64_t>;

/// Where the program called MPI: the callers' return addresses, innermost first, 0 where there are no more.
/// `from` is the innermost, by which a place is known: the others are looked up when it calls for the first
/// time, as that takes some 8 us.
using Site = std::array<void*, 4>;

class Recorder {
 public:
  /// After MPI_Init: records if NUICE_RECORD_DIR names a folder.
  void begin();
  bool is_on() const { return is_on_; }
  /// Writes the file and records nothing more. Errors go to stderr; the program goes on.
  void end() noexcept;

  /// A collective call that has ended, on this rank, after that many seconds.
  void note(const char* call, MPI_Comm comm, void* from, Row row, double seconds);

  /// One that goes on in the background, and whose request is persistent or not.
  void note_started(const char* call, MPI_Comm comm, void* from, Row row, double seconds,
                    MPI_Request request);
  void note_init(const char* call, MPI_Comm comm, void* from, Row row, MPI_Request request);

  /// Point to point: all that a rank starts on a communicator before it has waited for all of it is one
  /// exchange. destination: MPI_PROC_NULL or below for a receive.
  void note_transfer(MPI_Comm comm, int destination, std::int64_t bytes, double seconds, MPI_Request request);
  void note_transfer_init(MPI_Comm comm, int destination, std::int64_t bytes, MPI_Request request);
  /// A blocking send or receive inside such an exchange; alone it is none.
  void note_blocking(MPI_Comm comm, int destination, std::int64_t bytes, double seconds);

  /// A persistent request has begun again, in a call that took so long.
  void start(MPI_Request request, void* from, double seconds);
  /// These requests are complete, after a call that took so long and began when `begun_after` operations
  /// had been started.
  void complete(const std::vector<MPI_Request>& requests, std::int64_t begun_after, void* from,
                double seconds);
  void forget(MPI_Request request);
  bool waits_for_any() const { return num_pending_.load(std::memory_order_relaxed) > 0; }
  std::int64_t num_started() const { return num_started_.load(std::memory_order_relaxed); }

  /// Destinations of the communicator's neighbourhood collectives.
  const std::vector<int>& neighbours(MPI_Comm comm);

 private:
  static constexpr std::int64_t no_pattern = -1;
  struct Series {
    const char* call;
    int comm;
    int site;
    std::vector<std::int32_t> patterns;  // by call
    std::vector<float> seconds;          // likewise
    std::int64_t num_calls = 0;
    double total_s = 0;
    double total_bytes = 0;
  };
  struct Group {
    std::vector<int> ranks;  // in MPI_COMM_WORLD
    std::vector<int> neighbours;
    bool knows_neighbours = false;
    bool has_others =
        false;  // an intercommunicator, or processes of another MPI_COMM_WORLD: its rows are not recorded
  };
  /// What is known of a request that is not complete, or persistent. A handle is not a name: MPI gives it
  /// again once its operation is complete, be that at once (all short sends of Open MPI have one). So an
  /// operation whose handle another one gets is complete, and a call that waits completes only operations
  /// that were started before it.
  struct Operation {
    std::int64_t number = 0;  // of its start
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
  /// Transfers of one communicator since all were complete last.
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
  std::size_t pattern_numbers_ = 0;  // in all rows
  std::vector<Series> series_;
  std::map<std::tuple<std::string_view, int, int>, std::size_t> series_by_;  // call, communicator, site
  std::unordered_map<MPI_Request, Operation> pending_;
  std::map<int, Epoch> epochs_;
  std::set<int> ended_;  // epochs with nothing open: the next call that completes something closes them
};

Recorder& recorder();

}  // namespace nuice::run
