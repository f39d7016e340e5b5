// SPDX-License-Identifier: BSD-3-Clause
// Loads registry entries (rows) from a shared object: schedulers and executors that are not part of this
// library.
//
//   extern "C" void nuice_add_rows(nuice::Rows& rows) { rows.add(my_scheduler); }   // in the shared object
//   load_rows("./my_rows.so");            // in the program, on all ranks
//
// A shared object has all rights of the program that loads it, so load only objects that you trust.
#pragma once

#include <cstddef>
#include <string>

#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice {

/// The registries of the program. nuice_add_rows() adds its entries to this object, however the program and
/// the shared object were linked.
class Rows {
 public:
  /// Adds an entry. Throws the errors of add_scheduler() and add_executor(), and Error with code `mismatch`
  /// if the shared object was built with headers of another version.
  void add(const Scheduler& row) { add_scheduler_row(row, sizeof row); }
  void add(const Executor& row) { add_executor_row(row, sizeof row); }

 protected:
  ~Rows() = default;

 private:
  virtual void add_scheduler_row(const Scheduler& row, std::size_t size) = 0;
  virtual void add_executor_row(const Executor& row, std::size_t size) = 0;
};

/// Loads the shared object at `path` until the program ends, and calls its function nuice_add_rows(), which
/// adds entries. Call load_rows() on all ranks, before the first plan. Throws Error with code `io` if the
/// object cannot be loaded, `invalid_argument` if the object has no function nuice_add_rows(), and the errors
/// of Rows::add(). Entries added before an error remain.
void load_rows(const std::string& path);

}  // namespace nuice
