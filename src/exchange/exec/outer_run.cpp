// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/outer_run.hpp"

#include <utility>

#include "core/support/watchdog.hpp"

namespace nuice::mpi {

void OuterRun::start() {
  looks_ = 0;
  follows_ = always_follows();
  others_are_over_ = !others_;
  begin();
  if (others_) others_->start();
}

bool OuterRun::look(bool single) {
  if (!is_over()) go_on();
  if (!others_are_over_) others_are_over_ = single ? others_->next(false) : others_->advance(false);
  if (is_over() && others_are_over_) return true;
  ++looks_;
  return false;
}

bool OuterRun::advance(bool block) {
  while (!look(false)) {
    if (!block) return false;
    if (is_over())
      others_are_over_ = others_->advance(true);
    else
      wait_a_little();
  }
  return true;
}

bool OuterRun::next(bool block) {
  while (!look(true)) {
    if (!block || arrivals_.any()) return false;
    wait_a_little();
  }
  return true;
}

void OuterRun::follow() {
  if (others_) others_->follow();
  follows_ = true;
  if (!always_follows()) land_what_is_here();  // otherwise the exchange has not begun yet
}

std::string OuterRun::waits_for() const {
  std::string text = names_of(own_waits_for());
  if (others_ && !others_are_over_) text += (text.empty() ? "" : "; ") + others_->waits_for();
  return text;
}

void OuterRun::cancel() noexcept {
  if (others_) others_->cancel();
}

void OuterRun::describe(ExchangeInfo& info) const {
  if (others_) others_->describe(info);
}

}  // namespace nuice::mpi
