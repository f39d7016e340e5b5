// SPDX-License-Identifier: BSD-3-Clause
// A run, which an executor makes from a bound plan, and the table of the executors on MPI.
//
// To add an executor: write a file in this folder with a class for its runs and a bind function, and add an
// entry to table.cpp and to src/core/executors.cpp. Most executors work step by step and begin with Steps
// (steps.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "exchange/bind/binding.hpp"

namespace nuice::mpi {

/// One rank's part of a bound exchange, executed as often as it is started.
class Run {
 public:
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run() = default;

  /// Starts the exchange. Nothing allocates memory from here to the end of the exchange.
  virtual void start() = 0;
  /// Makes progress. Returns true when this rank's part is complete; with block, only then.
  virtual bool advance(bool block) = 0;
  /// Makes next() record every message that lands until the exchange is complete; messages that have landed
  /// already are recorded now. In a running exchange it is called at most once.
  virtual void follow() = 0;
  /// Whether messages must be recorded from start() on; then follow() is called before start().
  virtual bool always_follows() const { return false; }
  /// Whether every send waits for Copies::await(), and every received piece is reported to Copies::land().
  virtual bool awaits_copies() const { return false; }
  /// Requires follow(). Like advance(), but tests single requests. With block, returns when a message can be
  /// handed over or the exchange is complete.
  virtual bool next(bool block) = 0;
  /// The number of steps and requests that have completed since bind(). If it stands still, nothing makes
  /// progress.
  virtual std::int64_t num_events() const = 0;
  /// The ranks for which an active exchange waits: "rank 2, rank 3". Requires follow().
  virtual std::string waits_for() const = 0;
  /// Ends the exchange after an error: nothing that arrives later is written into the user's memory. Sends
  /// cannot be cancelled.
  virtual void cancel() noexcept = 0;
  /// These implement Exchange::ready() and arrived(), from any thread. They throw Error not_applicable if
  /// messages are not sent one by one.
  virtual void ready(std::size_t index);
  virtual bool arrived(std::size_t index);
  /// Adds to `info` what the run knows about itself. May allocate.
  virtual void describe(ExchangeInfo& /*info*/) const {}
};

/// An executor on MPI. nuice::executors() has an entry of the same name, which says what it needs.
struct RunnableExecutor {
  std::string_view name;
  /// Not collective; may fail on some ranks only. Throws Error as Plan::bind().
  std::unique_ptr<Run> (*bind)(const Binding&);
};

std::span<const RunnableExecutor> runnable_executors();
/// Throws Error invalid_argument that lists the known names.
const RunnableExecutor& find_runnable_executor(std::string_view name);
/// Adds an executor on MPI. nuice::add_executor() adds the entry to which it belongs.
void add_runnable_executor(const RunnableExecutor& row);

}  // namespace nuice::mpi
