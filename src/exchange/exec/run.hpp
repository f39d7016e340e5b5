// SPDX-License-Identifier: BSD-3-Clause
// What an executor makes of a bound plan, and the table of those that run on MPI.
//
// To add one: a file in this folder with a class for its runs and a bind function, a row in table.cpp, and a row in
// src/core/executors.cpp. Most go step by step and begin with Steps (steps.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "exchange/bind/binding.hpp"

namespace nuice::mpi {

/// One rank's part of a bound exchange, carried out as often as it is started.
class Run {
 public:
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run() = default;

  /// Nothing from here to the end of the exchange allocates memory.
  virtual void start() = 0;
  /// Makes progress. True when this rank's part is complete; block: not before.
  virtual bool advance(bool block) = 0;
  /// From here on, until the exchange is complete, next() notes every message that lands; those that have landed are noted
  /// now. In a running exchange, once.
  virtual void follow() = 0;
  /// Whether messages must be noted from start() on: follow() then comes before it.
  virtual bool always_follows() const { return false; }
  /// Whether every send waits for Copies::await(), and every piece that has come is told to Copies::land().
  virtual bool awaits_copies() const { return false; }
  /// After follow(). As advance(), request by request: block: returns when a message can be handed over, or all is complete.
  virtual bool next(bool block) = 0;
  /// Steps and requests that have come to an end, since bind(). While this stands still nothing moves.
  virtual std::int64_t num_events() const = 0;
  /// While it is active, after follow(): "rank 2, rank 3".
  virtual std::string waits_for() const = 0;
  /// After an error: nothing that comes from now on is written into the user's memory. Sends cannot be called back.
  virtual void cancel() noexcept = 0;
  /// Exchange::ready() and arrived(), from any thread. Throw Error not_applicable where messages do not leave one by one.
  virtual void ready(std::size_t index);
  virtual bool arrived(std::size_t index);
  /// Adds what was learnt. May allocate.
  virtual void describe(ExchangeInfo& /*info*/) const {}
};

/// An executor on MPI. Its name is that of a row of nuice::executors(), which says what it needs.
struct RunnableExecutor {
  std::string_view name;
  /// Not collective, but may fail on some ranks only. Throws Error as Plan::bind().
  std::unique_ptr<Run> (*bind)(const Binding&);
};

std::span<const RunnableExecutor> runnable_executors();
/// Throws Error invalid_argument that lists the known names.
const RunnableExecutor& find_runnable_executor(std::string_view name);
/// As nuice::add_executor(), which adds the row that this one belongs to.
void add_runnable_executor(const RunnableExecutor& row);

}  // namespace nuice::mpi
