// SPDX-License-Identifier: BSD-3-Clause
// What every bound exchange has, whatever executor carries it out: the message to itself, what has landed, and an eye on
// whether anything moves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/run.hpp"
#include "mpi/communicator.hpp"
#include "mpi/faults.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// Of a running exchange on a device's memory: the streams that the user has named.
struct StreamUse {
  void* start = nullptr;  ///< Null: the legacy default stream.
  bool has_wait = false;  ///< A stream waits for the data, and not the processor.
  void* wait = nullptr;
};

struct Exchange::State {
  // Fixed by bind(). Destroyed in the opposite order.
  std::shared_ptr<const Communicator> comm;
  Arrivals arrivals;
  State* left_before = nullptr;  // of those that were left to MPI
  std::unique_ptr<Run> run;      // none: nothing to do
  ExchangeInfo info;
  std::optional<SelfMessage> self_message;
  std::vector<std::byte> staged;  // what is sent in place: the message to itself copies it there
  int self_tag = 0;
  bool self_is_copied_by_run = false;  // in its start()
  StreamUse streams;                   // for runs on devices
  std::unique_ptr<Faults> faults;      // likewise: what a driver returns on one rank is an error of all
  double watchdog_s = 0;               // give up after so long without progress; 0: never
  bool watches_deaths = false;         // where MPI tells of them: give up when a rank of the plan has died

  // idle, until start(); running, until it is complete; broken, for good: MPI returned an error, and nothing more can be
  // expected of the requests. While MPI is called, it is broken in advance.
  enum class Standing : std::uint8_t { idle, running, broken };
  Standing standing = Standing::idle;

  void start();
  bool advance(bool block);  // true when the exchange is complete; block: not before
  /// The next message, which was not handed over before. Nothing: no message is here (block: the exchange is complete).
  std::optional<Arrival> next(bool block);
  /// Acts on an exchange. One that fails is given up: nothing is written into the user's memory any more, and an error of
  /// MPI names the ranks that have died.
  template <typename Act>
  auto guarded(Act&& act);
  /// Throws the error, as this rank's.
  [[noreturn]] void give_up(const Error& error);
  /// What destroying an exchange does.
  static void release(std::unique_ptr<State> state) noexcept;

 private:
  void follow();
  /// Tells exchanges apart.
  std::int64_t number() const { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(this)); }
  bool watches() const { return watchdog_s > 0 || watches_deaths; }
  bool advance_noting(bool block);
  bool advance_watching(bool block, bool is_first_look = true);
  void check_watchdog(std::int64_t events_before, double most_s);
  void check_deaths() const;
  void say_forgotten(const char* what) const noexcept;
  void finish_quietly() noexcept;

  bool follows_ = false;    // somebody asks for single messages
  double quiet_s_ = 0;      // watchdog only
  double last_look_s_ = 0;  // likewise
};

}  // namespace nuice::mpi
