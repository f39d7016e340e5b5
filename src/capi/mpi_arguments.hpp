// SPDX-License-Identifier: BSD-3-Clause
// Arguments as MPI's calls have them, from C and from other languages. Only their addresses are recorded
// here; nuice/mpi/alltoallv.hpp makes messages of them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "nuice/mpi/alltoallv.hpp"

namespace nuice::capi {

struct CallKind {
  bool is_neighbor;
  bool has_types;
};

inline constexpr CallKind all_v = {.is_neighbor = false, .has_types = false};
inline constexpr CallKind all_w = {.is_neighbor = false, .has_types = true};
inline constexpr CallKind neighbor_v = {.is_neighbor = true, .has_types = false};
inline constexpr CallKind neighbor_w = {.is_neighbor = true, .has_types = true};

inline CallKind kind_of(int call) {
  return {(call & NUICE_CALL_NEIGHBOR) != 0, (call & NUICE_CALL_TYPES) != 0};
}

/// Lists the calls that differ only in types: define(name, ending, kind, counts, displacements, a type or one
/// type per partner).
// clang-format off
#define NUICE_FOR_EACH_CALL(define)                                                    \
  define(alltoallv, , all_v, int, int, MPI_Datatype)                                   \
  define(alltoallv, _c, all_v, MPI_Count, MPI_Aint, MPI_Datatype)                      \
  define(alltoallw, , all_w, int, int, const MPI_Datatype*)                            \
  define(alltoallw, _c, all_w, MPI_Count, MPI_Aint, const MPI_Datatype*)               \
  define(neighbor_alltoallv, , neighbor_v, int, int, MPI_Datatype)                     \
  define(neighbor_alltoallv, _c, neighbor_v, MPI_Count, MPI_Aint, MPI_Datatype)        \
  define(neighbor_alltoallw, , neighbor_w, int, MPI_Aint, const MPI_Datatype*)         \
  define(neighbor_alltoallw, _c, neighbor_w, MPI_Count, MPI_Aint, const MPI_Datatype*)
// clang-format on

/// Returns an array of an MPI call. MPI passes no length; the length is the number of ranks or neighbours.
template <typename Value>
mpi::Integers integers(const Value* values) {
  return {values, mpi::Integers::as_many_as_needed};
}
inline std::span<const MPI_Datatype> types_of(const MPI_Datatype& type) { return {&type, 1}; }
inline std::span<const MPI_Datatype> types_of(const MPI_Datatype* const& types) {
  if (types == nullptr) return {};
  return {types, mpi::Integers::as_many_as_needed / sizeof(MPI_Datatype)};
}

/// types: the call's datatype, or its array of datatypes.
template <typename Data, typename Count, typename Displ, typename Types>
mpi::Blocks<Data> blocks(Data* data, const Count* counts, const Displ* displs, const Types& types) {
  return {.data = data, .counts = integers(counts), .displs = integers(displs), .types = types_of(types)};
}

/// Calls the error handler that the user has made for a communicator. MPI's own handlers are not called,
/// because errors are returned as statuses.
void call_handler(MPI_Comm comm);

/// Whether the address is MPI_IN_PLACE of C or Fortran.
bool is_in_place(const void* data);

mpi::Integers integers(const void* values, std::int64_t size, int each_bytes);

/// One side of a call from Fortran. It holds the converted types, which must live as long as the side is
/// used.
class FortranSide {
 public:
  explicit FortranSide(const nuice_blocks_f& given) : given_(given) {
    for (std::int64_t i = 0; given.types != nullptr && i < given.num_types; ++i)
      types_.push_back(type_of(given.types[i]));
    for (MPI_Datatype& type : types_)
      if (given.stride != 0 && type != MPI_DATATYPE_NULL) {
        MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(given.stride), &type);
        MPI_Type_commit(&type);
      }
  }
  FortranSide(const FortranSide&) = delete;
  FortranSide& operator=(const FortranSide&) = delete;
  ~FortranSide() {
    for (MPI_Datatype& type : types_)
      if (given_.stride != 0 && type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }

  template <typename Data>
  mpi::Blocks<Data> blocks(Data* data) const {
    static const MPI_Datatype none[] = {MPI_DATATYPE_NULL};
    return {.data = data,
            .counts = integers(given_.counts, given_.num_blocks, given_.count_bytes),
            .displs = integers(given_.displs, given_.num_blocks, given_.displ_bytes),
            .types = types_.empty() ? std::span(none) : std::span<const MPI_Datatype>(types_),
            .room = given_.bytes == NUICE_ANY_ROOM ? max_bytes : given_.bytes};
  }
  const void* to_send() const { return is_in_place(given_.data) ? MPI_IN_PLACE : given_.data; }
  void* to_receive() const { return const_cast<void*>(given_.data); }

 private:
  const nuice_blocks_f& given_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace nuice::capi
