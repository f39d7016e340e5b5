// SPDX-License-Identifier: BSD-3-Clause
// What handlers throw while a call of several steps is under way: kept until the call has done its work, as no rank may
// leave the steps that the others take, nor an exchange half way.
#pragma once

#include <exception>
#include <utility>

#include "nuice/am/transport.hpp"

namespace nuice::drs {

class HeldError {
 public:
  /// Runs a step of the call. An error of the transport is thrown at once, as nothing can come after it.
  template <typename Step>
  void during(Step&& step) {
    try {
      step();
    } catch (const am::TransportError&) {
      throw;
    } catch (...) {
      keep(std::current_exception());
    }
  }
  /// The first one is kept.
  void keep(std::exception_ptr error) {
    if (!error_) error_ = std::move(error);
  }
  bool is_there() const { return error_ != nullptr; }
  std::exception_ptr take() { return std::exchange(error_, nullptr); }

 private:
  std::exception_ptr error_;
};

}  // namespace nuice::drs
