// SPDX-License-Identifier: BSD-3-Clause
// Parts shared by the tests of DRS_N on loop-back and on MPI: matrices, and the check against the serial
// executor.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "exchange/payload.hpp"
#include "nuice/am/drs.hpp"
#include "nuice/nuice.hpp"

namespace nuice::test {

/// The bind() function of an Exchanger or a World.
using Bind = std::function<drs::Exchange(std::span<const Partner>, std::span<const Partner>,
                                         std::span<const SendBuffer>, std::span<const ReceiveBuffer>,
                                         const drs::Options&)>;

struct NamedMatrix {
  std::string name;
  CommMatrix matrix;
};

/// Returns extreme and random matrices for any number of ranks; some messages are above every eager limit.
std::vector<NamedMatrix> drs_matrices(Rank num_ranks);

std::vector<Partner> drs_row(const CommMatrix& matrix, Rank rank);
std::vector<Partner> drs_column(const CommMatrix& matrix, Rank rank);

/// One rank's part of an exchange with its own buffers.
struct BoundDrs {
  Rank rank;
  std::vector<Partner> destinations;
  std::vector<Partner> sources;
  Blocks send;
  Blocks receive;
  drs::Exchange exchange;

  BoundDrs(const CommMatrix& matrix, Rank my_rank, const Bind& bind, const drs::Options& options)
      : rank(my_rank),
        destinations(drs_row(matrix, my_rank)),
        sources(drs_column(matrix, my_rank)),
        send(payload_to_send(my_rank, destinations)),
        receive(poisoned(sources)),
        exchange(bind(destinations, sources, send_buffers(send), receive_buffers(receive), options)) {}

  void refill(unsigned round);
  void expect_received(unsigned round) const;
};

// The following functions are run by every rank, collectively.

/// Runs all of drs_matrices() once, and compares with exchange_serially().
void expect_as_serially(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options);
/// Runs rounds with changing data and no barrier between them, so that fast ranks run ahead. testing: uses
/// only test().
void expect_many_rounds(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options, int rounds,
                        bool testing);
/// Runs exchanges that are active at the same time, started and waited for in orders that differ between
/// ranks.
void expect_overlapping(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options);
/// Checks that every inquiry is refused or granted; with a list no inquiry is made twice.
void expect_counters(const drs::Counters& counters, std::uint64_t messages, const drs::Options& options);

}  // namespace nuice::test
