// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/interrupt.hpp"

#include <utility>

namespace nuice {
namespace {

thread_local const InterruptCheck* innermost = nullptr;

}  // namespace

InterruptCheck::InterruptCheck(std::function<void()> function)
    : function_(std::move(function)), outer_(std::exchange(innermost, this)) {}

InterruptCheck::~InterruptCheck() { innermost = outer_; }

void check_interrupt() {
  if (innermost != nullptr) innermost->function_();
}

}  // namespace nuice
