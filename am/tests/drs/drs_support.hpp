// SPDX-License-Identifier: BSD-3-Clause
// What the tests of DRS_N on loop-back and on MPI share: matrices, and the check against the serial executor.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "exchange/payload.hpp"
#include "nuice/am/drs.hpp"
#include "nuice/nuice.hpp"

namespace nuice::test {

/// bind() of a Exchanger or a World.
using Bind = std::function<drs::Exchange(std::span<const Partner>, std::span<const Partner>,
                                         std::span<const SendBuffer>, std::span<const ReceiveBuffer>,
                                         const drs::Options&)>;

struct NamedMatrix {
  std::string name;
  CommMatrix matrix;
};

/// Extreme and random ones, for any number of ranks, some messages above every eager limit.
std::vector<NamedMatrix> drs_matrices(Rank num_ranks);

std::vector<Partner> drs_row(const CommMatrix& matrix, Rank rank);
std::vector<Partner> drs_column(const CommMatrix& matrix, Rank rank);

/// One rank's part of an exchange with buffers of its own.
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

// Run by every rank, collectively:

/// All of drs_matrices(), once each, as exchange_serially() does it.
void expect_as_serially(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options);
/// Rounds with changing data and no barrier between them: fast ranks run ahead. By test() alone where `testing`.
void expect_many_rounds(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options, int rounds,
                        bool testing);
/// Exchanges active at the same time, started and waited for in orders that differ between the ranks.
void expect_overlapping(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options);
/// Every inquiry is refused or granted; with a list none is made twice.
void expect_counters(const drs::Counters& counters, std::uint64_t messages, const drs::Options& options);

}  // namespace nuice::test
