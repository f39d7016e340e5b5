// SPDX-License-Identifier: BSD-3-Clause
// What is kept with a communicator of the user's, as long as that lives: one object of each type.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/call.hpp"

namespace nuice::mpi {

template <typename Object>
int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto forget = [](MPI_Comm, int, void* value, void*) -> int {
      delete static_cast<Object*>(value);
      return MPI_SUCCESS;
    };
    must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

/// Null: there is none.
template <typename Object>
Object* find_attribute(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  must(MPI_Comm_get_attr(comm, attribute_key<Object>(), static_cast<void*>(&value), &found),
       "MPI_Comm_get_attr");
  return found != 0 ? static_cast<Object*>(value) : nullptr;
}

/// The one that there is, or make()'s, which may be collective: all ranks have one or none has.
template <typename Object, typename Make>
Object& attribute_of(MPI_Comm comm, Make&& make) {
  if (Object* const found = find_attribute<Object>(comm)) return *found;
  std::unique_ptr<Object> made = make();
  must(MPI_Comm_set_attr(comm, attribute_key<Object>(), made.get()), "MPI_Comm_set_attr");
  return *made.release();
}

}  // namespace nuice::mpi
