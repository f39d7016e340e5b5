// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collective.hpp"

#include <cstring>
#include <initializer_list>
#include <memory>

#include "mpi/call.hpp"
#include "mpi/requests.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

/// A copy that MPI reads or writes instead of the caller's memory. If the rank stops waiting, leave() leaves
/// the copy to MPI.
class Copy {
 public:
  Copy(const void* from, std::int64_t count, MPI_Datatype type)
      : bytes_(static_cast<std::size_t>(count) * static_cast<std::size_t>(extent_of(type))),
        memory_(std::make_unique_for_overwrite<std::byte[]>(bytes_)) {
    if (bytes_ != 0 && from != nullptr) std::memcpy(memory_.get(), from, bytes_);
  }
  void* get() const { return memory_.get(); }
  void to(void* out) const {
    if (bytes_ != 0) std::memcpy(out, memory_.get(), bytes_);
  }
  void leave() { (void)memory_.release(); }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

void finish(const Communicator& comm, MPI_Request& request, const char* call,
            std::initializer_list<Copy*> copies) {
  try {
    wait(comm, request, call);
  } catch (...) {
    for (Copy* const copy : copies) copy->leave();
    throw;
  }
}

}  // namespace

void all_reduce(const Communicator& comm, const void* in, void* out, int count, MPI_Datatype type,
                MPI_Op op) {
  if (!comm.watches()) {
    must(MPI_Allreduce(in, out, count, type, op, comm.get()), "MPI_Allreduce");
    return;
  }
  Copy own(in == MPI_IN_PLACE ? out : in, count, type);
  Copy result(nullptr, count, type);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm, MPI_Iallreduce(own.get(), result.get(), count, type, op, comm.get(), &request),
              "MPI_Iallreduce");
  finish(comm, request, "MPI_Iallreduce", {&own, &result});
  result.to(out);
}

void broadcast(const Communicator& comm, void* data, int count, MPI_Datatype type, Rank root) {
  if (!comm.watches()) {
    must(MPI_Bcast(data, count, type, root, comm.get()), "MPI_Bcast");
    return;
  }
  Copy copy(data, count, type);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm, MPI_Ibcast(copy.get(), count, type, root, comm.get(), &request), "MPI_Ibcast");
  finish(comm, request, "MPI_Ibcast", {&copy});
  copy.to(data);
}

void all_gather(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out) {
  if (!comm.watches()) {
    must(MPI_Allgather(in, count, type, out, count, type, comm.get()), "MPI_Allgather");
    return;
  }
  Copy own(in, count, type);
  Copy all(nullptr, std::int64_t{count} * comm.num_ranks(), type);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm, MPI_Iallgather(own.get(), count, type, all.get(), count, type, comm.get(), &request),
              "MPI_Iallgather");
  finish(comm, request, "MPI_Iallgather", {&own, &all});
  all.to(out);
}

void all_gather_v(const Communicator& comm, const void* in, MPI_Datatype type, void* out,
                  std::span<const int> counts, std::span<const int> begins) {
  const int mine = counts[static_cast<std::size_t>(comm.rank())];
  if (!comm.watches()) {
    must(MPI_Allgatherv(in, mine, type, out, counts.data(), begins.data(), type, comm.get()),
         "MPI_Allgatherv");
    return;
  }
  Copy own(in, mine, type);
  Copy all(nullptr, begins.back(), type);
  Copy all_counts(counts.data(), std::ssize(counts), MPI_INT);
  Copy all_begins(begins.data(), std::ssize(begins), MPI_INT);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm,
              MPI_Iallgatherv(own.get(), mine, type, all.get(), static_cast<const int*>(all_counts.get()),
                              static_cast<const int*>(all_begins.get()), type, comm.get(), &request),
              "MPI_Iallgatherv");
  finish(comm, request, "MPI_Iallgatherv", {&own, &all, &all_counts, &all_begins});
  all.to(out);
}

void gather(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out, Rank root) {
  if (!comm.watches()) {
    must(MPI_Gather(in, count, type, out, count, type, root, comm.get()), "MPI_Gather");
    return;
  }
  const bool is_root = comm.rank() == root;
  Copy own(in, count, type);
  Copy all(nullptr, is_root ? std::int64_t{count} * comm.num_ranks() : 0, type);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm, MPI_Igather(own.get(), count, type, all.get(), count, type, root, comm.get(), &request),
              "MPI_Igather");
  finish(comm, request, "MPI_Igather", {&own, &all});
  if (is_root) all.to(out);
}

void gather_v(const Communicator& comm, const void* in, int count, MPI_Datatype type, void* out,
              std::span<const int> counts, std::span<const int> begins, Rank root) {
  if (!comm.watches()) {
    must(MPI_Gatherv(in, count, type, out, counts.data(), begins.data(), type, root, comm.get()),
         "MPI_Gatherv");
    return;
  }
  const bool is_root = comm.rank() == root;
  Copy own(in, count, type);
  Copy all(nullptr, is_root ? begins.back() : 0, type);
  Copy all_counts(counts.data(), std::ssize(counts), MPI_INT);
  Copy all_begins(begins.data(), std::ssize(begins), MPI_INT);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm,
              MPI_Igatherv(own.get(), count, type, all.get(), static_cast<const int*>(all_counts.get()),
                           static_cast<const int*>(all_begins.get()), type, root, comm.get(), &request),
              "MPI_Igatherv");
  finish(comm, request, "MPI_Igatherv", {&own, &all, &all_counts, &all_begins});
  if (is_root) all.to(out);
}

void reduce_scatter(const Communicator& comm, const void* in, void* out, MPI_Datatype type, MPI_Op op) {
  if (!comm.watches()) {
    must(MPI_Reduce_scatter_block(in, out, 1, type, op, comm.get()), "MPI_Reduce_scatter_block");
    return;
  }
  Copy own(in, comm.num_ranks(), type);
  Copy result(nullptr, 1, type);
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm, MPI_Ireduce_scatter_block(own.get(), result.get(), 1, type, op, comm.get(), &request),
              "MPI_Ireduce_scatter_block");
  finish(comm, request, "MPI_Ireduce_scatter_block", {&own, &result});
  result.to(out);
}

void receive(const Communicator& comm, void* data, int count, MPI_Datatype type, Rank source, int tag,
             MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  must_naming(comm, MPI_Irecv(data, count, type, source, tag, comm.get(), &request), "MPI_Irecv");
  try {
    wait(comm, request, "MPI_Irecv", status);
  } catch (...) {
    if (request != MPI_REQUEST_NULL) cancel_receives(std::span(&request, 1));
    throw;
  }
}

}  // namespace nuice::mpi
