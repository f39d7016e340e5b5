// SPDX-License-Identifier: BSD-3-Clause
// The state of every bound exchange, with any executor: the run, the message of a rank to itself, arrivals,
// and the watchdog.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/watchdog.hpp"
#include "exchange/bind/arrivals.hpp"
#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/run.hpp"
#include "mpi/communicator.hpp"
#include "mpi/faults.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// The streams that the user named for a running exchange of device memory.
struct StreamUse {
  void* start = nullptr;  ///< Null: the legacy default stream.
  bool has_wait = false;  ///< Whether a stream waits for the data instead of the processor.
  void* wait = nullptr;
};

struct Exchange::State {
  // Fixed by bind(). Destroyed in the opposite order.
  std::shared_ptr<const Communicator> comm;
  Arrivals arrivals;
  State* left_before = nullptr;  // list of the exchanges that were left to MPI
  std::unique_ptr<Run> run;      // null if there is nothing to do
  ExchangeInfo info;
  std::optional<SelfMessage> self_message;
  // send memory of in-place exchanges; a copy from rank to itself fills it
  std::vector<std::byte> staged;
  int self_tag = 0;
  bool self_is_copied_by_run = false;  // by the run's start()
  StreamUse streams;                   // for runs on devices

  // for runs on devices: a driver's error on one rank is an error of all ranks
  std::unique_ptr<Faults> faults;
  double watchdog_s = 0;        // give up after this time without progress; 0: never
  bool watches_deaths = false;  // if MPI reports dead ranks: give up when a rank of the plan has died

  // idle before start(); running until the exchange is complete; broken forever after an error of MPI,
  // because the state of the requests is then unknown. During calls of MPI the exchange is marked broken in
  // advance.
  enum class Standing : std::uint8_t { idle, running, broken };
  Standing standing = Standing::idle;

  void start();
  bool advance(bool block);  // returns whether the exchange is complete; block: waits for it

  /// Returns the next message that was not handed over before. Without block, returns nothing if no message
  /// is here. With block, returns nothing only if the exchange is complete.
  std::optional<Arrival> next(bool block);
  /// Calls act(). If act() fails, the exchange is given up: nothing is written into the user's memory any
  /// more, and an error of MPI names the dead ranks.
  template <typename Act>
  auto guarded(Act&& act);
  /// Gives the exchange up, and throws the error of this rank.
  [[noreturn]] void give_up(const Error& error);
  /// Destroys an exchange.
  static void release(std::unique_ptr<State> state) noexcept;

 private:
  void follow();
  /// A number that identifies the exchange.
  std::int64_t number() const { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(this)); }
  bool watches() const { return watchdog_s > 0 || watches_deaths; }
  bool advance_noting(bool block);
  bool advance_watching(bool block, bool is_first_look = true);
  void check_watchdog(double most_s);
  void check_deaths() const;
  void say_forgotten(const char* what) const noexcept;
  void finish_quietly() noexcept;

  bool follows_ = false;  // whether single messages are asked for
  QuietTime quiet_;       // for the watchdog
};

}  // namespace nuice::mpi
