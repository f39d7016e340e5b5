// SPDX-License-Identifier: BSD-3-Clause
// A run, which an executor makes from a bound plan, and the table of the executors on MPI.
//
// To add an executor, write a file in this folder with a class for its runs and a function that binds, and
// add an entry to table.cpp and to src/core/executors.cpp. Most executors work step by step, and derive from
// Steps (steps.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "exchange/bind/binding.hpp"

namespace nuice::mpi {

/// One rank's part of a bound exchange. It is executed each time that it is started.
class Run {
 public:
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run() = default;

  /// Starts the exchange. From here to the end of the exchange no memory is allocated.
  virtual void start() = 0;
  /// Makes progress. Returns whether this rank's part is complete. With block, waits until it is complete.
  virtual bool advance(bool block) = 0;
  /// Makes next() record every message that lands until the exchange is complete. Messages that have landed
  /// already are recorded now. In one exchange it is called at most once after start().
  virtual void follow() = 0;
  /// Whether messages must be recorded from start() on. If so, follow() is called before start().
  virtual bool always_follows() const { return false; }
  /// Whether every send waits for Copies::await(), and every received piece is reported to Copies::land().
  virtual bool awaits_copies() const { return false; }
  /// Requires follow(). Like advance(), but tests single requests. With block, waits until a message can be
  /// handed over or the exchange is complete.
  virtual bool next(bool block) = 0;
  /// The number of steps and requests that have completed since bind(). If it stands still, nothing makes
  /// progress.
  virtual std::int64_t num_events() const = 0;
  /// The ranks for which an active exchange waits, for example "rank 2, rank 3". Requires follow().
  virtual std::string waits_for() const = 0;
  /// Ends the exchange after an error. Nothing that arrives later is written into the user's memory. Sends
  /// cannot be cancelled.
  virtual void cancel() noexcept = 0;
  /// These implement Exchange::ready() and arrived(), and may be called in any thread. They throw Error
  /// `not_applicable` if messages are not sent one by one.
  virtual void ready(std::size_t index);
  virtual bool arrived(std::size_t index);
  /// Adds to `info` what the run knows about itself. May allocate.
  virtual void describe(ExchangeInfo& /*info*/) const {}
};

/// An executor on MPI. nuice::executors() has an entry of the same name, which says what it needs.
struct RunnableExecutor {
  std::string_view name;
  /// Not collective; may fail on some ranks only. Throws Error like Plan::bind().
  std::unique_ptr<Run> (*bind)(const Binding&);
};

std::span<const RunnableExecutor> runnable_executors();
/// Throws Error `invalid_argument` that lists the known names.
const RunnableExecutor& find_runnable_executor(std::string_view name);
/// Adds an executor on MPI. nuice::add_executor() adds the other entry, in nuice::executors().
void add_runnable_executor(const RunnableExecutor& row);

}  // namespace nuice::mpi
