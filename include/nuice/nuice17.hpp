// SPDX-License-Identifier: BSD-3-Clause
// NUICE for programs in C++17. It is the C API (nuice/nuice.h) with exceptions, and with handles that free
// themselves. nuice/mpi.hpp, for C++20, has more functions.
//
//   auto x = nuice17::alltoallv_init(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm);
//   for (int i = 0; i < steps; ++i) x.start(), x.wait();
//
// Link libnuice (CMake: nuice::c). The functions and their errors are those of the C functions with the
// same names.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nuice/nuice.h"

namespace nuice17 {

class Error : public std::runtime_error {
 public:
  explicit Error(int status)
      : std::runtime_error(nuice_error_text()), status_(static_cast<nuice_status>(status)) {}
  nuice_status status() const noexcept { return status_; }

 private:
  nuice_status status_;
};

inline void must(int status) {
  if (status != NUICE_OK) throw Error(status);
}

/// An exchange that is bound to memory. The destructor completes an active exchange, then frees it.
class Request {
 public:
  Request() = default;
  explicit Request(nuice_request handle) noexcept : handle_(handle) {}
  Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Request() {
    if (handle_ != nullptr && is_active()) nuice_wait(handle_);
    nuice_free(&handle_);
  }

  void start() { must(nuice_start(handle_)); }
  void wait() { must(nuice_wait(handle_)); }
  bool test() {
    int done = 0;
    must(nuice_test(handle_, &done));
    return done != 0;
  }
  /// Waits for the next message and returns its index; -1 if all messages have arrived.
  int next() {
    int partner = -1;
    must(nuice_exchange_next(handle_, &partner));
    return partner;
  }
  bool is_active() const noexcept {
    int under_way = 0;
    return nuice_exchange_is_under_way(handle_, &under_way) == NUICE_OK && under_way != 0;
  }
  void free() { must(nuice_free(&handle_)); }
  nuice_request get() const noexcept { return handle_; }

 private:
  nuice_request handle_ = nullptr;
};

inline Request alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                              MPI_Datatype send_type, void* receive, const int receive_counts[],
                              const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                              MPI_Info info = MPI_INFO_NULL) {
  nuice_request request = nullptr;
  must(nuice_alltoallv_init(send, send_counts, send_displs, send_type, receive, receive_counts,
                            receive_displs, receive_type, comm, info, &request));
  return Request(request);
}

inline Request neighbor_alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                                       MPI_Datatype send_type, void* receive, const int receive_counts[],
                                       const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                                       MPI_Info info = MPI_INFO_NULL) {
  nuice_request request = nullptr;
  must(nuice_neighbor_alltoallv_init(send, send_counts, send_displs, send_type, receive, receive_counts,
                                     receive_displs, receive_type, comm, info, &request));
  return Request(request);
}

/// A plan, made from the ranks to which this rank sends and the bytes for each.
class Plan {
 public:
  Plan(MPI_Comm comm, const std::vector<int>& ranks, const std::vector<std::int64_t>& bytes,
       const std::string& options = {}) {
    const bool fits = ranks.size() == bytes.size();
    must(nuice_plan_create(comm, fits ? static_cast<int>(ranks.size()) : -1, ranks.data(), bytes.data(),
                           options.c_str(), &handle_));
  }
  Plan(Plan&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Plan& operator=(Plan&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Plan() { nuice_plan_free(&handle_); }

  /// Returns the ranks that send to this rank, and the number of bytes from each.
  std::pair<std::vector<int>, std::vector<std::int64_t>> sources() const {
    int num_sources = 0;
    must(nuice_plan_num_partners(handle_, nullptr, &num_sources));
    const auto size = static_cast<std::size_t>(num_sources);
    std::pair<std::vector<int>, std::vector<std::int64_t>> found{std::vector<int>(size),
                                                                 std::vector<std::int64_t>(size)};
    must(nuice_plan_sources(handle_, found.first.data(), found.second.data()));
    return found;
  }
  /// Binds one send buffer and one receive buffer, in which all messages are contiguous.
  Request bind(const void* send, std::int64_t send_bytes, void* receive, std::int64_t receive_bytes) {
    nuice_exchange* exchange = nullptr;
    must(nuice_plan_bind_array(handle_, send, send_bytes, nullptr, receive, receive_bytes, nullptr,
                               NUICE_FORWARDS, &exchange));
    return Request(exchange);
  }
  nuice_plan* get() const noexcept { return handle_; }

 private:
  nuice_plan* handle_ = nullptr;
};

}  // namespace nuice17
