// SPDX-License-Identifier: BSD-3-Clause
#include "capi/combine.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <functional>

namespace nuice::capi {
namespace {

using mpi::combine_entries;
using mpi::CombineEntries;

struct Least {
  auto operator()(auto mine, auto theirs) const { return std::min(mine, theirs); }
};
struct Most {
  auto operator()(auto mine, auto theirs) const { return std::max(mine, theirs); }
};
struct Replace {
  auto operator()(auto, auto theirs) const { return theirs; }
};

constexpr std::size_t num_ops = 5;
using Ops = std::array<CombineEntries, num_ops>;

template <typename V>
constexpr Ops ops_of = {&combine_entries<V, std::plus<>>, &combine_entries<V, std::multiplies<>>,
                        &combine_entries<V, Replace>, &combine_entries<V, Least>, &combine_entries<V, Most>};
template <typename V>
constexpr Ops ops_of<std::complex<V>> = {&combine_entries<std::complex<V>, std::plus<>>,
                                         &combine_entries<std::complex<V>, std::multiplies<>>,
                                         &combine_entries<std::complex<V>, Replace>, nullptr, nullptr};

struct Row {
  MPI_Datatype type;
  std::int64_t value_bytes;
  bool is_double;
  Ops ops;
};

template <typename V>
Row row(MPI_Datatype type) {
  return {type, sizeof(V), std::same_as<V, double>, ops_of<V>};
}

}  // namespace

Combine find_combine(MPI_Datatype type, MPI_Op op) {
  // Handles are not constants in every MPI, so these tables cannot be constants either.
  const std::array<MPI_Op, num_ops> ops = {MPI_SUM, MPI_PROD, MPI_REPLACE, MPI_MIN, MPI_MAX};
  const std::array rows = {
      row<int>(MPI_INT), row<long>(MPI_LONG), row<long long>(MPI_LONG_LONG), row<unsigned>(MPI_UNSIGNED),
      row<unsigned long>(MPI_UNSIGNED_LONG), row<std::int32_t>(MPI_INT32_T), row<std::int64_t>(MPI_INT64_T),
      row<std::uint32_t>(MPI_UINT32_T), row<std::uint64_t>(MPI_UINT64_T), row<float>(MPI_FLOAT),
      row<double>(MPI_DOUBLE), row<std::complex<float>>(MPI_C_FLOAT_COMPLEX),
      row<std::complex<double>>(MPI_C_DOUBLE_COMPLEX),
      // Fortran's types, for their usual sizes
      row<std::int32_t>(MPI_INTEGER), row<std::int32_t>(MPI_INTEGER4), row<std::int64_t>(MPI_INTEGER8),
      row<float>(MPI_REAL), row<float>(MPI_REAL4), row<double>(MPI_REAL8), row<double>(MPI_DOUBLE_PRECISION),
      row<std::complex<float>>(MPI_COMPLEX), row<std::complex<double>>(MPI_DOUBLE_COMPLEX)};
  if (type == MPI_DATATYPE_NULL) return {};
  const auto found = std::ranges::find(rows, type, &Row::type);
  const auto op_at = static_cast<std::size_t>(std::ranges::find(ops, op) - ops.begin());
  if (found == rows.end() || op_at == num_ops) return {};
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return bytes == found->value_bytes ? Combine{bytes, found->is_double, found->ops[op_at]} : Combine{};
}

}  // namespace nuice::capi
