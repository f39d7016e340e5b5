// SPDX-License-Identifier: BSD-3-Clause
// For calls that must carry out all their steps, even if handlers throw in between. Otherwise a rank would
// miss steps of the other ranks, or leave a message half sent.
#pragma once

#include <exception>
#include <utility>

#include "nuice/am/transport.hpp"

namespace nuice::am {

class FirstError {
 public:
  /// Carries out a step and keeps its exception. Only an error of the transport is thrown at once, because no
  /// further step is possible after it.
  template <typename Step>
  void of(Step&& step) {
    try {
      step();
    } catch (const TransportError&) {
      throw;
    } catch (...) {
      add(std::current_exception());
    }
  }
  /// Keeps an error; null: none.
  void add(std::exception_ptr error) {
    if (!first_) first_ = std::move(error);
  }
  bool is_there() const { return first_ != nullptr; }
  const std::exception_ptr& get() const { return first_; }
  std::exception_ptr take() { return std::exchange(first_, nullptr); }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace nuice::am
