// SPDX-License-Identifier: BSD-3-Clause
// Waits for several exchanges by testing them alternately: later phases of one exchange begin while another
// is waited for.
#include <span>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "mpi/call.hpp"
#include "mpi/wait.hpp"

namespace nuice::capi {
namespace {

#ifdef NUICE_MPI_ABI
MPI_Request request_of(nuice_fint handle) { return MPI_Request_fromint(handle); }
nuice_fint integer_of(MPI_Request request) { return MPI_Request_toint(request); }
#else
MPI_Request request_of(nuice_fint handle) { return MPI_Request_f2c(handle); }
nuice_fint integer_of(MPI_Request request) { return MPI_Request_c2f(request); }
#endif

/// Throws an Error if a call of this API has failed. The text of the error is kept already.
void throw_status(int status) {
  if (status != NUICE_OK) throw Error(static_cast<ErrorCode>(status), nuice_error_text());
}

bool is_active(nuice_request request) {
  if (request == nullptr) return false;
  int under_way = 0;
  throw_status(nuice_exchange_is_under_way(request, &under_way));
  return under_way != 0;
}

/// Returns whether the exchange was active and is complete now.
bool ends_now(nuice_request request) {
  if (!is_active(request)) return false;
  int done = 0;
  throw_status(nuice_exchange_test(request, &done));
  return done != 0;
}

/// Tests all active exchanges, and calls at_end(i) for each exchange i that completes. Returns how many
/// exchanges are still active.
template <typename AtEnd>
int look(std::span<const nuice_request> requests, AtEnd&& at_end) {
  int num_left = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_active(requests[i])) continue;
    if (ends_now(requests[i])) {
      at_end(static_cast<int>(i));
    } else {
      ++num_left;
    }
  }
  return num_left;
}

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_waitall(int count, const nuice_request requests[]) {
  return nuice_waitall_mpi(count, requests, 0, nullptr, nullptr);
}

int nuice_waitall_mpi(int count, const nuice_request requests[], int mpi_count, MPI_Request mpi_requests[],
                      MPI_Status statuses[]) {
  return guarded_mpi([&] {
    const auto ours = array(requests, count, "requests");
    (void)array(mpi_requests, mpi_count, "mpi_requests");
    int are_theirs_done = mpi_count == 0 ? 1 : 0;
    nuice::mpi::Patience patience;
    while (true) {
      const int num_left = look(ours, [](int) {});
      if (are_theirs_done == 0)
        nuice::mpi::must(MPI_Testall(mpi_count, mpi_requests, &are_theirs_done,
                                     statuses == nullptr ? MPI_STATUSES_IGNORE : statuses),
                         "MPI_Testall");
      if (num_left == 0 && are_theirs_done != 0) return;
      patience.found_nothing();
    }
  });
}

int nuice_waitall_mpi_f(int count, const nuice_request requests[], int mpi_count, nuice_fint mpi_requests[]) {
  std::vector<MPI_Request> theirs;
  int status = NUICE_OK;
  const int guard = guarded([&] {
    for (const nuice_fint request : array(mpi_requests, mpi_count, "mpi_requests"))
      theirs.push_back(request_of(request));
    status = nuice_waitall_mpi(count, requests, mpi_count, theirs.data(), nullptr);
    for (std::size_t i = 0; i < theirs.size(); ++i) mpi_requests[i] = integer_of(theirs[i]);
  });
  return guard == NUICE_OK ? status : guard;
}

int nuice_waitany(int count, const nuice_request requests[], int* index) {
  return guarded_mpi([&] {
    const auto ours = array(requests, count, "requests");
    at(index, "index") = -1;
    nuice::mpi::Patience patience;
    for (bool any_left = true; any_left; patience.found_nothing()) {
      any_left = false;
      for (int i = 0; i < count; ++i) {
        if (!is_active(ours[static_cast<std::size_t>(i)])) continue;
        any_left = true;
        if (!ends_now(ours[static_cast<std::size_t>(i)])) continue;
        *index = i;
        return;
      }
    }
  });
}

int nuice_testsome(int count, const nuice_request requests[], int* num_done, int indices[]) {
  return guarded_mpi([&] {
    const auto ours = array(requests, count, "requests");
    int& done = at(num_done, "num_done");
    if (count > 0) at(indices, "indices");
    done = 0;
    (void)look(ours, [&](int i) { indices[done++] = i; });
  });
}
