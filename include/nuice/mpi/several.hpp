// SPDX-License-Identifier: BSD-3-Clause
// Functions that wait for several exchanges of any kind, in any order, like MPI_Waitall, MPI_Waitany and
// MPI_Testsome.
//
//   // each an Exchange or a HaloExchange; exchanges that are not active are skipped
//   nuice::mpi::waitall(x, y, ghosts);
//   nuice::mpi::waitall(exchanges);    // a range of exchanges, or of pointers to exchanges
//   while (const auto which = nuice::mpi::waitany(exchanges)) use(*which);
//
// Errors: as wait(), for the first exchange that fails; the other exchanges are not affected.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <thread>
#include <vector>

namespace nuice::mpi {

template <typename Type>
concept Waitable = requires(Type& exchange) {
  { exchange.test() } -> std::convertible_to<bool>;
  { exchange.is_under_way() } -> std::convertible_to<bool>;
};

namespace several {

template <typename Type>
auto& exchange_in(Type& element) {
  if constexpr (Waitable<Type>)
    return element;
  else
    return *element;
}

template <typename Type>
concept RangeOfWaitables = std::ranges::input_range<Type> && requires(Type& range) {
  { exchange_in(*std::ranges::begin(range)).test() } -> std::convertible_to<bool>;
};

/// Calls look() until it returns true, and yields the core from time to time.
template <typename Look>
void until(Look&& look) {
  constexpr unsigned looks_per_yield = 16;
  for (unsigned looks = 1; !look(); ++looks)
    if (looks % looks_per_yield == 0) std::this_thread::yield();
}

/// Tests the exchange if it is active. Returns true if the exchange is complete or was not active.
template <typename Type>
bool is_over(Type& element) {
  auto& exchange = exchange_in(element);
  return !exchange.is_under_way() || exchange.test();
}

}  // namespace several

/// Tests all active exchanges without waiting, and returns the positions of the exchanges that are now
/// complete.
template <several::RangeOfWaitables Range>
std::vector<std::size_t> testsome(Range&& exchanges) {
  std::vector<std::size_t> done;
  std::size_t i = 0;
  for (auto& each : exchanges) {
    if (several::exchange_in(each).is_under_way() && several::exchange_in(each).test()) done.push_back(i);
    ++i;
  }
  return done;
}

/// Waits until all active exchanges are complete.
template <several::RangeOfWaitables Range>
void waitall(Range&& exchanges) {
  several::until([&] {
    bool are_over = true;
    for (auto& each : exchanges) are_over = several::is_over(each) && are_over;
    return are_over;
  });
}
template <Waitable... Exchanges>
  requires(sizeof...(Exchanges) > 0)
void waitall(Exchanges&... exchanges) {
  several::until([&] { return (... & static_cast<int>(several::is_over(exchanges))) != 0; });
}

/// Waits until one of the active exchanges is complete, and returns its position; nothing if no exchange was
/// active.
template <several::RangeOfWaitables Range>
std::optional<std::size_t> waitany(Range&& exchanges) {
  std::optional<std::size_t> done;
  several::until([&] {
    bool any_left = false;
    std::size_t i = 0;
    for (auto& each : exchanges) {
      auto& exchange = several::exchange_in(each);
      const bool is_under_way = exchange.is_under_way();
      any_left = any_left || is_under_way;
      if (is_under_way && exchange.test()) {
        done = i;
        return true;
      }
      ++i;
    }
    return !any_left;
  });
  return done;
}

}  // namespace nuice::mpi
