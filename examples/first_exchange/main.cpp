// SPDX-License-Identifier: BSD-3-Clause
// A first planned exchange: every rank declares its destinations, one plan is made, and it is used many
// times. mpi.cpp does the same with MPI alone.
#include <cstdio>
#include <nuice/core/error.hpp>
#include <nuice/mpi.hpp>

#include "problem.hpp"

namespace {

double run(int rank, int num_ranks) {
  std::vector<Outgoing> outgoing = make_outgoing(rank, num_ranks);

  // Plan: the destinations of this rank, with their bytes. The sources come out.
  std::vector<nuice::Partner> destinations;
  for (const Outgoing& one : outgoing)
    destinations.push_back({one.dst, static_cast<nuice::Bytes>(one.values.size() * sizeof(double))});
  nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations);

  // Bind: one buffer per partner, in the order of destinations() and sources().
  std::vector<nuice::SendBuffer> send;
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    send.push_back({outgoing[i].values.data(), plan.destinations()[i].bytes});
  std::vector<std::vector<double>> incoming;
  std::vector<nuice::ReceiveBuffer> receive;
  for (const nuice::Partner& source : plan.sources()) {
    incoming.emplace_back(static_cast<std::size_t>(source.bytes) / sizeof(double));
    receive.push_back({incoming.back().data(), source.bytes});
  }
  nuice::mpi::Exchange exchange = plan.bind(send, receive);

  // Exchange, as often as needed.
  double sum = 0;
  for (int round = 0; round < num_rounds; ++round) {
    compute(outgoing, rank, round);
    exchange.start();
    // Work that needs no new data goes here.
    exchange.wait();
    for (const std::vector<double>& values : incoming)
      for (const double value : values) sum += value;
  }
  if (rank == 0)
    std::printf("%u messages in %u phases, at least %u are needed\n", plan.info().num_messages,
                plan.info().num_phases, plan.info().bounds.max_degree);
  exchange.free();
  plan.free();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  int exit_code = 0;
  try {
    const double mine = run(rank, num_ranks);
    double all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("sum of all that was received: %.0f\n", all);
  } catch (const nuice::Error& error) {  // the same on all ranks
    if (rank == 0) std::fprintf(stderr, "first_exchange: %s\n", error.what());
    exit_code = 1;
  }
  MPI_Finalize();
  return exit_code;
}
