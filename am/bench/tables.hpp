// SPDX-License-Identifier: BSD-3-Clause
// Two cases of bale (Berry et al., "bale": histogram and index-gather), with active messages and with bare
// MPI.
//
// * histogram: every rank adds 1 to random places of a table that is distributed over all ranks.
// * index-gather: every rank reads such places.
//
// An update or question names a place by its offset (4 bytes) in the owner's table; a value has 4 bytes. Two
// versions with bare MPI serve for comparison. One exchanges all updates at once: it counts them, exchanges
// the counts by MPI_Alltoall, and the offsets by MPI_Alltoallv. In index-gather another MPI_Alltoallv returns
// the answers in the same order. The other works in rounds like bale's exstack: each rank fills a buffer for
// every rank until one of them is full, then all ranks exchange their buffers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nuice/am/coalescer.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/am/host_relay.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::am_bench {

/// This rank's part of the table and its updates; the same for all methods.
struct TableCase {
  std::vector<std::uint32_t> table;
  std::vector<Rank> owners;            // by update
  std::vector<std::uint32_t> offsets;  // by update

  /// places: entries per rank; updates: updates per rank.
  TableCase(std::size_t places, std::size_t updates);
  /// Returns the initial value of an entry for index-gather. Every rank can compute it.
  static std::uint32_t value_at(Rank rank, std::uint32_t offset) {
    return static_cast<std::uint32_t>(rank) * 2654435761U + offset * 40503U;
  }
};

/// The cases with active messages.
class AmTables {
 public:
  /// Collective. buffer_bytes: the size of the buffers for one rank. With two_hops, items take two hops
  /// through a rank of the other host (am::HostRelay), and buffer_bytes is for one host.
  AmTables(const am::mpi::Options& options, std::size_t buffer_bytes, bool two_hops);
  // Both functions are collective and return the seconds per update of a rank. They throw Error `mismatch` if
  // the result is wrong.
  double histogram(TableCase& data);
  double index_gather(TableCase& data);

 private:
  struct At {
    std::uint32_t offset;
  };
  struct Value {
    std::uint32_t value;
  };
  am::Endpoint ep_;
  TableCase* data_ = nullptr;  // of the running case
  std::unique_ptr<am::HostRelay> relay_;
  am::Handler<At> add_, ask_;
  am::Handler<Value> answer_;
  std::optional<am::Coalescer<At>> updates_, questions_;
  std::optional<am::Coalescer<Value>> answers_;
  std::vector<std::vector<Value>> answered_;  // by rank, in the order of the questions
  std::vector<const Value*> next_;            // by rank
  std::vector<std::uint32_t> found_;          // by update
};

/// The cases with bare MPI.
class MpiTables {
 public:
  explicit MpiTables(TableCase& data);
  /// buffer_bytes: per rank; SIZE_MAX: all updates at once.
  double histogram_in_rounds(std::size_t buffer_bytes);
  double index_gather_in_rounds(std::size_t buffer_bytes);

 private:
  struct Buckets {
    std::vector<int> counts, begins;
    explicit Buckets(std::size_t ranks) : counts(ranks), begins(ranks) {}
    std::size_t place();
  };
  /// Sorts updates [from, to) by owner and sends their offsets. Returns how many offsets this rank has
  /// received.
  std::size_t exchange_offsets(std::size_t from, std::size_t to);
  void answer(std::size_t num_in, std::size_t from, std::size_t to);
  template <typename Step>
  void in_rounds(std::size_t per_buffer, Step&& step);

  TableCase& data_;
  Buckets out_, in_;
  std::vector<std::uint32_t> sorted_, order_, came_, values_, answers_, found_;
};

/// Collective. Ranks that can share memory form a host.
Hosts hosts_of_world();

/// Throws Error mismatch unless the table holds the sum of all ranks' updates.
void check_histogram(const TableCase& data);
void check_gathered(const TableCase& data, const std::vector<std::uint32_t>& found);

}  // namespace nuice::am_bench
