// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <stdexcept>

#include "capi/guard.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"
#ifndef NUICE_NO_MPI
#include "nuice/mpi/options.hpp"
#endif

namespace nuice::capi {
namespace {

std::string& error_text() {
  thread_local std::string text;
  return text;
}

int keep(ErrorCode code, const char* text) noexcept {
  try {
    error_text() = text;
  } catch (...) {
    error_text().clear();  // no memory for the text: only the status is returned
  }
  return static_cast<int>(code);
}

struct NameRow {
  const char* name;
  const char* summary;
};
using NameRowAt = NameRow (*)(std::size_t);

/// Returns names as C strings. The strings of tables end with a zero, because they are literals. Rows from
/// other libraries must have literals too.
template <typename Table>
NameRow row_at(Table table, std::size_t index) {
  if (index >= table.size()) return {nullptr, nullptr};
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the string ends with a zero, as said above
  return {table[index].name.data(), table[index].summary.data()};
}

constexpr auto tables = std::to_array<Property<NameRowAt>>({
    {"schedulers", [](std::size_t index) { return row_at(schedulers(), index); }},
    {"executors", [](std::size_t index) { return row_at(executors(), index); }},
#ifndef NUICE_NO_MPI
    {"options", [](std::size_t index) { return row_at(mpi::plan_option_names(), index); }},
#endif
});

}  // namespace

int keep_current_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return keep(ErrorCode::limit, "out of memory");
  } catch (const std::length_error&) {
    return keep(ErrorCode::limit, "sizes beyond what memory can have");
  } catch (const std::exception& error) {
    return keep(ErrorCode::invalid_argument, error.what());
  } catch (...) {
    return keep(ErrorCode::invalid_argument, "an exception of unknown type");
  }
}

}  // namespace nuice::capi

using namespace nuice::capi;

const char* nuice_error_text(void) { return error_text().c_str(); }

const char* nuice_mpi_name(void) {
#if defined(NUICE_NO_MPI)
  return "";
#elif defined(NUICE_MPI_ABI)
  return "mpi_abi";
#elif defined(OPEN_MPI)
  return "openmpi";
#elif defined(MPICH_VERSION)
  return "mpich";
#else
  return "unknown";
#endif
}

const char* nuice_version(void) { return NUICE_VERSION; }

const char* nuice_status_name(int status) {
  return status == NUICE_OK ? "ok" : nuice::error_code_name(static_cast<nuice::ErrorCode>(status)).data();
}

int nuice_table_row(const char* table, int64_t index, const char** name, const char** summary) {
  return guarded([&] {
    const NameRowAt rows = find_property(tables, table);
    if (index < 0) refuse("an entry cannot have the index " + std::to_string(index));
    const NameRow row = rows(static_cast<std::size_t>(index));
    at(name, "name") = row.name;
    if (summary != nullptr) *summary = row.summary;
  });
}
