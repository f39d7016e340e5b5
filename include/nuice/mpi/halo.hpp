// SPDX-License-Identifier: BSD-3-Clause
// Halos: each rank lists the entries of a distributed array with which it works. The messages are determined
// and planned once; afterwards ghost values can be fetched, or contributions returned, any number of times.
// This is the inspector / executor scheme on which paper 000 s.5 builds.
//
//   auto ownership = nuice::mpi::Ownership::ranges({0, 250, 500, 1000});     // the owners of global indices
//   nuice::mpi::Halo halo(MPI_COMM_WORLD, ownership, column_indices);        // inspector; collective
//   std::vector<double> x(halo.num_entries());                               // owned values, then ghosts
//   for (int& c : columns) ... = halo.local_index(global column);            // once
//   auto gather = halo.bind_gather(x);                                       // executor; collective
//   for (...) { gather.start(); /* rows without ghosts */ gather.wait(); /* the other rows */ }
//
// Effect, for every ghost entry k of every rank r, owned as entry i by rank s:
//   gather:   ghosts[r][k] = owned[s][i]
//   scatter:  owned[s][i] = op(... op(op(owned[s][i], ghosts[r1][k1]), ghosts[r2][k2]) ...), r1 < r2 < ...
// The order of the ranks is fixed, so that results do not depend on timing.
//
// Errors: "Collective" calls fail on all ranks of the communicator with the same Error, or on none.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/mpi/halo_field.hpp"
#include "nuice/mpi/ownership.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// A rank that needs some of this rank's entries, or owns some of its ghosts.
struct HaloPartner {
  Rank rank;
  /// The local indices of the entries exchanged with `rank` (ghosts in owners(), owned entries in needers()),
  /// in the order in which a message has their values.
  std::span<const LocalIndex> entries;
};

/// A halo bound to arrays. After every start() the program must call wait(), or test() until it returns true.
/// start, test and wait allocate no memory. Between start() and completion the program may read the owned
/// values of a gather and the ghost values of a scatter, but must not change them, and must not access the
/// other array. There is one exception: a scatter changes owned values only inside the test() or wait() that
/// completes it, so the program may use and change owned values until then.
class HaloExchange {
 public:
  HaloExchange(HaloExchange&&) noexcept;
  HaloExchange& operator=(HaloExchange&&) noexcept;
  /// Completes an active exchange, then frees it.
  ~HaloExchange();

  /// Starts the exchange. All ranks of the halo must call start(), but start() does not wait for other ranks.
  /// Throws Error with code `state` if the exchange is already active or was freed.
  void start();
  /// Starts an exchange of GPU memory, as Exchange::start(stream): values are read after all earlier work on
  /// the stream.
  void start(void* stream);
  /// Makes progress. Returns true if this rank's part is complete. Throws Error with code `state` if the
  /// exchange was not started.
  bool test();
  /// Waits until this rank's part is complete. Throws Error with code `state` if the exchange was not
  /// started, and `mpi` for errors of MPI.
  void wait();
  /// Waits as Exchange::wait(stream): later work on the stream finds the values.
  void wait(void* stream);
  /// Returns whether the exchange is active: started, and not yet known to be complete. Throws Error with
  /// code `state` after free().
  bool is_under_way() const;
  /// Frees the exchange. Collective, but does not wait for other ranks. Throws Error with code `state` if the
  /// exchange is active.
  void free();
  /// Returns statistics of the plan that the exchange uses. Throws Error with code `state` after free().
  const PlanInfo& info() const;
  /// Returns the largest relative error that rounding for transport adds to a value: unit_roundoff() of the
  /// fields' wires. Throws the errors of info().
  double wire_roundoff() const;

 private:
  friend class Halo;
  struct State;
  explicit HaloExchange(std::unique_ptr<State> state);
  State& state() const;
  std::unique_ptr<State> state_;
};

/// The ghost entries of this rank, their owners, and the ranks that need this rank's entries.
class Halo {
 public:
  /// Collective. Duplicates parent, finds the ghosts' owners, and makes the plan. needed: the global indices
  /// with which this rank works, in any order; duplicates are allowed, and owned indices are not ghosts.
  /// entry_bytes: the number of bytes per entry for which messages are planned. The plan serves both
  /// directions and fields of any size; give the size that is sent most often, because some schedulers,
  /// including "auto", use it.
  /// Cost: O(needed log needed) on each rank, a plan (see Plan; two plans if PlanOptions::topology names a
  /// network), and one exchange of 8 bytes per ghost; with Ownership::list three plans and exchanges more.
  /// Throws Error, the same on all ranks; the text names the rank and the index at fault:
  ///   invalid_argument  a needed index that no rank owns or that is out of range; an index owned twice;
  ///                     ranges that descend or are not one per rank; entry_bytes below 1; errors of options
  ///   mismatch          ownership that differs between ranks: another kind, other ranges, or a function that
  ///                     assigns to a rank an index that it does not list; options or entry_bytes that differ
  ///   limit             2^31 entries and more on one rank
  Halo(MPI_Comm parent, const Ownership& ownership, std::span<const GlobalIndex> needed,
       const PlanOptions& options = {}, Bytes entry_bytes = sizeof(double));
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;
  ~Halo();  ///< Frees the halo. Bound exchanges stay usable.

  // Not collective.

  LocalIndex num_owned() const;
  LocalIndex num_ghosts() const;
  /// Returns num_owned() + num_ghosts(): the size of an array of the owned entries followed by the ghosts.
  std::size_t num_entries() const;
  /// Returns the global indices of the ghosts, sorted by owner, then by index.
  std::span<const GlobalIndex> ghosts() const;
  /// Returns the local index of a global index: 0 .. num_owned() - 1 for an owned entry, num_owned() + k for
  /// ghost k. O(log entries). Throws Error with code `invalid_argument` for an index that is neither owned
  /// nor a ghost.
  LocalIndex local_index(GlobalIndex index) const;
  /// Returns the ranks that own this rank's ghosts, in ascending order. The spans are valid as long as the
  /// halo exists.
  std::vector<HaloPartner> owners() const;
  std::vector<HaloPartner> needers() const;

  // Collective.

  /// Returns, on all ranks, the communication matrix of a gather with entry_bytes bytes per entry, for the
  /// planner or nuice-bench.
  CommMatrix matrix(Bytes entry_bytes) const;

  /// Checks that no rank has an error and that all ranks pass the same value, which is at least 0. Otherwise
  /// throws, on all ranks, the error of a rank, or Error with code `mismatch` and a text that contains
  /// `what`, the meaning of the value. Cost: one allreduce of three numbers.
  void agree(const Outcome& wrong, std::int64_t value, const std::string& what) const;

  /// Makes bind_gather() or bind_scatter() fail on all ranks. A layer above NUICE that finds an error in this
  /// rank's arrays calls refuse() while the other ranks call bind_gather() or bind_scatter(). All ranks throw
  /// the error `why`; its text then begins with this rank's number.
  [[noreturn]] void refuse(const Error& why) const;

  /// Binds arrays to fetch ghost values. The memory must stay valid until HaloExchange::free(). Throws Error,
  /// the same on all ranks. Codes: `invalid_argument` for a field that has fewer values than the halo's
  /// entries need, or fewer than one component; `mismatch` if ranks have different numbers of bytes per
  /// entry; otherwise as Plan::bind().
  HaloExchange bind_gather(std::span<const GatherField> fields);
  /// Binds arrays to send contributions back to the owners: the exchange combines ghost values into the owned
  /// entries with the same global index.
  HaloExchange bind_scatter(std::span<const ScatterField> fields);

  /// Binds one array of owned values and one array of ghosts.
  template <FieldRange Owned, FieldRange Ghosts>
  HaloExchange bind_gather(const Owned& owned, Ghosts&& ghosts, int components = 1, Wire wire = Wire::as_is) {
    const GatherField field = gather_field(owned, ghosts, components, wire);
    return bind_gather(std::span(&field, 1));
  }
  template <FieldRange Ghosts, FieldRange Owned, typename Op = std::plus<>>
  HaloExchange bind_scatter(const Ghosts& ghosts, Owned&& owned, int components = 1, Op op = {},
                            Wire wire = Wire::as_is) {
    const ScatterField field = scatter_field(ghosts, owned, components, op, wire);
    return bind_scatter(std::span(&field, 1));
  }

  /// Binds one array of num_entries() * components values, the owned values first.
  template <FieldRange Values>
  HaloExchange bind_gather(Values&& values, int components = 1) {
    const auto [owned, ghosts] = split(std::span(values), components);
    return bind_gather(owned, ghosts, components);
  }
  template <FieldRange Values, typename Op = std::plus<>>
  HaloExchange bind_scatter(Values&& values, int components = 1, Op op = {}) {
    const auto [owned, ghosts] = split(std::span(values), components);
    return bind_scatter(ghosts, owned, components, op);
  }

 private:
  struct State;
  /// Splits an array into owned values and ghosts. If the array is too short, so is a part, and bind_gather()
  /// or bind_scatter() reports the error.
  template <typename Value>
  std::pair<std::span<Value>, std::span<Value>> split(std::span<Value> values, int components) const {
    const std::size_t width = components > 0 ? static_cast<std::size_t>(components) : 0;
    const std::size_t owned = std::min(values.size(), static_cast<std::size_t>(num_owned()) * width);
    return {values.first(owned), values.subspan(owned)};
  }
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi
