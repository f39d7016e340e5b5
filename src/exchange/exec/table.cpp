// SPDX-License-Identifier: BSD-3-Clause
// The executors that run on MPI. run.hpp says how to add one.
#include <array>

#include "core/support/table.hpp"
#include "exchange/exec/rows.hpp"

namespace nuice::mpi {
namespace {

constexpr std::array built_in{
    RunnableExecutor{.name = "async", .bind = bind_async},
    RunnableExecutor{.name = "phased", .bind = bind_phased},
    RunnableExecutor{.name = "pairwise", .bind = bind_pairwise},
    RunnableExecutor{.name = "depend", .bind = bind_depend},
};

core::Table<RunnableExecutor>& table() {
  static core::Table<RunnableExecutor> rows("executor on MPI", built_in);
  return rows;
}

}  // namespace

std::span<const RunnableExecutor> runnable_executors() { return table().rows(); }

const RunnableExecutor& find_runnable_executor(std::string_view name) { return table().find(name); }

void add_runnable_executor(const RunnableExecutor& row) { table().add(row); }

}  // namespace nuice::mpi
