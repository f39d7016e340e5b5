// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/trials/turns.hpp"

#include <initializer_list>

#include "exchange/window_control.hpp"

namespace nuice::dropin {
namespace {

constexpr std::int64_t calls_before_shadow = 3;
constexpr std::int64_t calls_of_ours = 2;  // before it is decided, the last one timed
constexpr std::int64_t asked_again = 8;    // times the number of the call
constexpr std::int64_t first_turn_if_expected = 16;
constexpr std::int64_t first_turn_if_known = 64;
// A window is a round trip of grants, and an all-to-all of few windows is mostly what MPI does well.
constexpr double large_bytes = 8 * 2 * static_cast<double>(exchange::least_window_bytes);
constexpr double clearly = 1.05;
constexpr double far_ahead = 1.5;

}  // namespace

Turns::Step Turns::next(bool can_replace) {
  ++calls_;
  if (can_replace && is_wanted_) return next_of_ours();
  if (!is_wanted_) {
    const bool asks = calls_ == next_ask_;
    if (calls_ == 1) return {.way = Way::mpi, .asks_first = true};
    return {Way::mpi, asks, asks ? Beside::ask : Beside::nothing};
  }
  if (calls_ <= calls_before_shadow) return {Way::mpi};
  next_trial_ = calls_ + calls_of_ours + 1;
  return {Way::mpi, true, Beside::make_shadow};
}

void Turns::share(bool is_known) {
  is_wanted_ = is_trusted_ = is_decided_ = true;
  next_trial_ = is_known ? first_turn_if_known : first_turn_if_expected;
}

void Turns::answer(bool is_wanted, double most_bytes, Experience experience, bool by_tcp) {
  const bool is_put_off = experience == Experience::mpi && calls_ < asked_again;
  is_wanted_ = is_wanted && !is_put_off;
  is_trusted_ = is_wanted_ && would_trust(most_bytes, experience);
  next_trial_ = calls_ + calls_of_ours + 1;
  next_ask_ = asked_again * calls_;
  if (is_trusted_ && by_tcp && calls_ == 1) share(true);
}

/// One of ours makes connections, too.
Turns::Step Turns::first() const { return {is_decided_ ? Way::replace : Way::mpi, !is_decided_}; }

bool Turns::would_trust(double most_bytes, Experience experience) {
  return experience == Experience::ours || (experience == Experience::none && is_large(most_bytes));
}

bool Turns::is_large(double most_bytes) { return most_bytes >= large_bytes; }

Turns::Step Turns::next_of_ours() {
  const std::int64_t from_trial = calls_ - next_trial_;
  const auto compare_at = [&](std::int64_t call) {
    return from_trial == call ? Beside::compare : Beside::nothing;
  };
  if (!is_decided_) return {Way::replace, from_trial == -1, compare_at(0)};
  if (!prefers_mpi_)
    return from_trial == 0 ? Step{Way::mpi, true} : Step{Way::replace, from_trial != 1, compare_at(1)};
  if (from_trial == 0 || from_trial == 1) return {Way::replace, from_trial == 1};
  return {Way::mpi, from_trial == -1, compare_at(2)};
}

void Turns::add(bool is_ours, double bytes, double seconds) {
  Rate& rate = is_ours ? by_us_ : by_mpi_;
  if (!is_ours && !is_decided_) rate = {};  // the call before may have made connections
  rate.bytes += bytes;
  rate.seconds += seconds;
}

Turns::Outcome Turns::outcome_of(const Rate& by_mpi, const Rate& by_us) {
  const double mpi_rate = by_mpi.bytes * by_us.seconds;
  const double our_rate = by_us.bytes * by_mpi.seconds;
  const bool is_far_apart = our_rate > far_ahead * mpi_rate || mpi_rate > far_ahead * our_rate;
  return {our_rate <= clearly * mpi_rate, is_far_apart};
}

void Turns::decide(const Rate& by_mpi, const Rate& by_us) {
  const Outcome outcome = outcome_of(by_mpi, by_us);
  const bool are_far_ahead = !outcome.prefers_mpi && outcome.is_far_apart;
  if (is_trusted_ && !is_decided_) {
    const bool is_settled = are_far_ahead;
    is_decided_ = true;
    next_trial_ = calls_ * (is_settled ? 16 : 4);
    if (is_settled) experience_ = Experience::ours;
    by_mpi_ = {};
    return;
  }
  const bool was_beaten = prefers_mpi_;
  is_decided_ = true;
  prefers_mpi_ = outcome.prefers_mpi;
  experience_ = prefers_mpi_ ? Experience::mpi : Experience::ours;
  if (prefers_mpi_)
    next_trial_ = calls_ * (outcome.is_far_apart ? 64 : was_beaten ? 16 : 4);
  else
    next_trial_ = calls_ * (are_far_ahead ? 16 : 2);
  for (Rate* const rate : {&by_mpi_, &by_us_}) {  // the newer counts for more
    rate->bytes /= 2;
    rate->seconds /= 2;
  }
}

}  // namespace nuice::dropin
