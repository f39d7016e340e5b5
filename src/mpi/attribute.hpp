// SPDX-License-Identifier: BSD-3-Clause
// Objects that are kept with a user's communicator until it is freed: one object of each type.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "mpi/call.hpp"
#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// The number of objects of this type that MPI has deleted. A thread may use an object that it remembers only
/// while this number stays the same.
template <typename Object>
inline std::atomic<unsigned> num_deleted_attributes = 0;

template <typename Object>
int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto forget = [](MPI_Comm, int, void* value, void*) -> int {
      ++num_deleted_attributes<Object>;
      delete static_cast<Object*>(value);
      return MPI_SUCCESS;
    };
    must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

/// Returns null if the communicator has no such object.
template <typename Object>
Object* find_attribute(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  must(MPI_Comm_get_attr(comm, attribute_key<Object>(), static_cast<void*>(&value), &found),
       "MPI_Comm_get_attr");
  return found != 0 ? static_cast<Object*>(value) : nullptr;
}

/// Returns the communicator's object. If there is none, calls make() to make it. make() may be collective,
/// because either all ranks have the object or no rank has. Throws Error like check_parent(). Each thread
/// remembers the communicator that it asked for last, and does not ask MPI about it again.
template <typename Object, typename Make>
Object& attribute_of(MPI_Comm comm, Make&& make) {
  struct Last {
    MPI_Comm comm = MPI_COMM_NULL;
    Object* object = nullptr;
    unsigned num_deleted = 0;
  };
  static thread_local Last last;
  const unsigned now = num_deleted_attributes<Object>.load(std::memory_order_acquire);
  if (last.object != nullptr && last.comm == comm && last.num_deleted == now && may_be_used(comm))
    return *last.object;
  check_parent(comm);
  auto* object = find_attribute<Object>(comm);
  if (object == nullptr) {
    std::unique_ptr<Object> made = make();
    must(MPI_Comm_set_attr(comm, attribute_key<Object>(), made.get()), "MPI_Comm_set_attr");
    object = made.release();
  }
  last = {comm, object, now};
  return *object;
}

}  // namespace nuice::mpi
