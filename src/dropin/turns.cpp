// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/turns.hpp"

#include <initializer_list>

namespace nuice::dropin {
namespace {

constexpr std::int64_t calls_to_compare = 2;
constexpr double clearly = 1.05;
constexpr double far_ahead = 1.5;

}  // namespace

Turns::Step Turns::next(bool can_replace) {
  ++calls_;
  if (calls_ <= 2) return {Way::mpi, calls_ == 2};
  if (can_replace) return next_of_ours();
  if (is_wanted_) return {Way::mpi, false, Beside::make_shadow};
  return {Way::mpi, calls_ >= next_ask_ - 1, calls_ == next_ask_ ? Beside::ask : Beside::nothing};
}

void Turns::answer(bool is_wanted) {
  is_wanted_ = is_wanted;
  next_ask_ = 8 * calls_;
}

Turns::Step Turns::next_of_ours() {
  if (next_trial_ == 0) {
    next_trial_ = calls_ + calls_to_compare;
    return {Way::replace};
  }
  const std::int64_t from_trial = calls_ - next_trial_;
  const auto compare_at = [&](std::int64_t call) {
    return from_trial == call ? Beside::compare : Beside::nothing;
  };
  if (!is_decided_) return {from_trial == 0 ? Way::mpi : Way::replace, from_trial < 0, compare_at(0)};
  if (!prefers_mpi_)
    return from_trial == 0 ? Step{Way::mpi, true} : Step{Way::replace, from_trial != 1, compare_at(1)};
  if (from_trial == 0 || from_trial == 1) return {Way::replace, from_trial == 1};
  return {Way::mpi, from_trial == -1, compare_at(2)};
}

void Turns::add(bool is_ours, double bytes, double seconds) {
  Rate& rate = is_ours ? by_us_ : by_mpi_;
  rate.bytes += bytes;
  rate.seconds += seconds;
}

void Turns::decide(const Rate& by_mpi, const Rate& by_us) {
  const double mpi_rate = by_mpi.bytes * by_us.seconds;
  const double our_rate = by_us.bytes * by_mpi.seconds;
  is_decided_ = true;
  prefers_mpi_ = our_rate < clearly * mpi_rate;
  const bool is_far = our_rate > far_ahead * mpi_rate || mpi_rate > far_ahead * our_rate;
  next_trial_ = calls_ * (is_far ? 16 : prefers_mpi_ ? 4 : 2);
  for (Rate* const rate : {&by_mpi_, &by_us_}) {  // the newer counts for more
    rate->bytes /= 2;
    rate->seconds /= 2;
  }
}

}  // namespace nuice::dropin
