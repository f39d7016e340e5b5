// SPDX-License-Identifier: BSD-3-Clause
// For calls of several steps that must all be taken, whatever handlers throw meanwhile: no rank may leave the steps that the
// others take, nor a message half sent.
#pragma once

#include <exception>
#include <utility>

#include "nuice/am/transport.hpp"

namespace nuice::am {

class FirstError {
 public:
  /// Takes a step; what it throws is kept. Only an error of the transport is thrown at once, as nothing can come after it.
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
  /// Null: no error.
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
