// SPDX-License-Identifier: BSD-3-Clause
// A plan and an exchange that outlive MPI_Finalize do no harm; a plan outside of MPI's life is refused.
#include <cstdio>
#include <optional>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/plan.hpp"

namespace {

bool refuses_plans() {
  try {
    nuice::mpi::Plan(MPI_COMM_WORLD, {});
  } catch (const nuice::Error& error) {
    return error.code() == nuice::ErrorCode::state;
  }
  return false;
}

template <typename Act>
bool refuses(const char* what, Act&& act) {
  try {
    act();
  } catch (const nuice::Error& error) {
    if (error.code() == nuice::ErrorCode::state) return true;
  }
  std::fprintf(stderr, "%s is not refused after MPI_Finalize\n", what);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = refuses_plans();
  std::optional<nuice::mpi::Plan> plan;
  std::optional<nuice::mpi::Exchange> exchange;
  int out = 7;
  int in = 0;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<nuice::Partner> destinations = {{1 - rank, sizeof out}};
  plan.emplace(MPI_COMM_WORLD, destinations, nuice::mpi::PlanOptions{.executor = "depend"});
  const std::vector<nuice::SendBuffer> send = {{&out, sizeof out}};
  const std::vector<nuice::ReceiveBuffer> receive = {{&in, sizeof in}};
  exchange.emplace(plan->bind(send, receive));
  exchange->start();
  exchange->wait();
  MPI_Finalize();
  good = good && in == 7 && refuses_plans();
  good = refuses("bind()", [&] { (void)plan->bind(send, receive); }) && good;
  good = refuses("bind() backwards",
                 [&] { (void)plan->bind(send, receive, nuice::mpi::Direction::backwards); }) &&
         good;
  good = refuses("start()", [&] { exchange->start(); }) && good;
  exchange.reset();
  plan.reset();
  if (!good) std::fputs("finalize_test failed\n", stderr);
  return good ? 0 : 1;
}
