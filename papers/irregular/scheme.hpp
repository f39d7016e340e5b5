// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first programs on a distributed grid, in every message-passing scheme of 002 (figures 1 to 3).
//
// A rank expands its part of the wavefront and emits items (cells of its neighbours to visit); a scheme
// carries them. An algorithm is written once, as a client. A scheme provides four operations: emit, poll
// (absorb), end_level, done.
//
//   scheme       messages                              coalesced  overlapped  file
//   SSR-C-NO     MPI_Issend and MPI_Recv, both waited    yes        no        send_receive.hpp
//   AMP-C-NO     active messages put into ports          yes        no        put.hpp
//   ASR-C-O      MPI_Isend, MPI_Irecv, one level late    yes        yes       send_receive.hpp
//   AM-NC-O      one active message for each item        no         yes       active_messages.hpp
//   ST-NC-O      the same on a second transport          no         yes       active_messages.hpp
//   AM-C-O       active messages through a coalescer     yes        yes       active_messages.hpp
//
// A client (the algorithm):
//
//   struct Client {
//     using Item = ...;                              // trivially copyable
//     static constexpr bool ordered = ...;           // see below
//     template <class Scheme> void expand(Scheme&);  // expands the wavefront; calls emit(slot, item), poll()
//     void absorb(std::span<const Item>, Level);     // takes items that a neighbour emitted in that level;
//                                                    // emits nothing, except in ASR-C-O (see below)
//     void next_level();                             // makes the new cells the wavefront
//     Vote vote() const;                             // {nothing to expand, all ranks shall stop}
//   };
//   run(scheme, client, delta);                      // until all ranks are idle, or one votes to stop
//
// absorb() is called inside poll(), end_level() and done(), but never inside emit(). If a full ring makes the
// rank take in messages inside emit(), they are kept. A level lasts from the return of one end_level() to the
// return of the next. All ranks count the same levels, from 0 in every run.
//   - SSR, AMP: items of level k are absorbed in end_level() of level k.
//   - AM, ST with Sync local or global: items of level k are absorbed in level k, some while it is expanded,
//     and all before end_level() returns. With local synchronisation a neighbour may be one level ahead.
//     Items for an ordered client then wait until this rank is in that level too. Two buffers by the parity
//     of the level suffice, as no rank gets two levels ahead of a neighbour (002 s.5). A client without order
//     takes items at once.
//   - ASR: items of level k - 1 travel while level k is expanded, and are absorbed in its end_level(), one
//     level late. An ordered client sees that an item's level is lower than its own: the cell belongs to the
//     wavefront that was just expanded. The client relaxes the cell (it lowers a label from a later level)
//     and expands it at once, inside absorb(). Items that this emits belong to the level that ends. Labels of
//     cells that are not yet expanded can be wrong by one, but no wrong label is ever used. This solves the k
//     - 1 / k discrepancy of 002 s.5 without extra memory, as the label itself tells its level.
//   - AM with Sync none: there are no levels. Items are absorbed when they come, with the receiver's own
//     level. Clients must need no order (Wolff's cluster is the set of sites that active bonds reach, in any
//     order), or correct labels that are too high (Lee with the distance in the item).
//
// Ends of cycles: Sync::global is 002 fig. 26 (counts to the neighbours, then a barrier; here a marker
// follows the items, as messages keep their order). Sync::local is fig. 27 (neighbours only). SSR and ASR
// synchronise with neighbours by their messages. AMP uses fig. 22's two barriers with Sync::global, and sizes
// and acknowledgements with Sync::local. delta: all ranks test together whether all are done, after every
// delta levels only (Won and Sahni; 002 fig. 12). With Sync::none, delta levels run without any
// synchronisation before a global one (k-level asynchronous; Harshvardhan et al., PACT 2014). With delta 0
// there is no limit: ranks expand arriving items until no item is left anywhere.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/errors.hpp"
#include "nuice/core/types.hpp"

namespace nuice::irregular {

using Level = std::uint64_t;

enum class Sync { local, global, none };

/// A rank's vote on whether a run is over: it ends when all ranks are idle, or one rank votes to stop.
struct Vote {
  bool idle = true;
  bool stop = false;
};

struct SchemeOptions {
  std::string name = "AM-C-O";
  std::string transport = "best";   ///< The transport of active messages (nuice/mpi/am.hpp).
  std::string second = "mpi";       ///< The transport of ST-NC-O.
  Sync sync = Sync::local;          ///< AM-*, ST-*, AMP-C-NO (no `none` there). SSR and ASR ignore it.
  std::size_t buffer_bytes = 8192;  ///< AM-C-O: the coalescer's buffer for each neighbour.
  int poll_every = 0;  ///< F of 002 s.4.4: the number of messages after which the rank also polls; 0: only in
                       ///< poll().
  std::size_t max_items = 0;  ///< AMP-C-NO: the maximum number of items for one neighbour in a level, on any
                              ///< rank.
};

/// The traffic that a scheme has sent since it was made, by neighbour in the scheme's order.
struct Traffic {
  std::vector<std::uint64_t> items;
  std::uint64_t messages = 0;  ///< Messages of this layer that contain items; not MPI's own.
  std::uint64_t levels = 0;
  std::uint64_t checks = 0;  ///< Global reductions that test whether the run is over.
};

/// An entry of the table above.
struct SchemeRow {
  std::string_view name;
  bool active_messages;  ///< Takes a transport and Sync::none.
  bool levels_late;      ///< Items are absorbed one level late.
};

/// Collective. Carries out one run, for example a cluster or a net. Returns its number of levels. If delta is
/// 0 (with Sync::none), the number of levels between tests has no limit.
template <typename Scheme, typename Client>
Level run(Scheme& scheme, Client& client, std::int64_t delta) {
  scheme.begin(delta == 0);
  Level levels = 0;
  do {
    for (std::int64_t cycle = 0; delta == 0 || cycle < delta; ++cycle) {
      client.expand(scheme);
      scheme.end_level();
      client.next_level();
      ++levels;
      if (delta == 0 && client.vote().idle) break;
    }
  } while (!scheme.done());
  return levels;
}

inline std::span<const SchemeRow> schemes() {
  static constexpr std::array<SchemeRow, 6> rows = {{
      {"SSR-C-NO", false, false},
      {"AMP-C-NO", true, false},
      {"ASR-C-O", false, true},
      {"AM-NC-O", true, false},
      {"ST-NC-O", true, false},
      {"AM-C-O", true, false},
  }};
  return rows;
}

inline constexpr std::array<std::string_view, 3> sync_names = {"local", "global", "none"};

/// Returns the scheme with this name. Throws Error invalid_argument, which lists all names, if there is none.
inline const SchemeRow& find_scheme(std::string_view name) {
  std::string names;
  for (const SchemeRow& row : schemes()) {
    if (row.name == name) return row;
    names += " " + std::string(row.name);
  }
  kit::refuse("there is no scheme {}; there are{}", name, names);
}

inline Sync find_sync(std::string_view name) {
  for (std::size_t i = 0; i < sync_names.size(); ++i)
    if (sync_names[i] == name) return static_cast<Sync>(i);
  kit::refuse("there is no synchronisation {}; there are local, global and none", name);
}

inline std::string_view name_of(Sync sync) { return sync_names[static_cast<std::size_t>(sync)]; }

/// Collective. Throws Error invalid_argument, the same on all ranks, if options contradict each other:
/// Sync::none with a scheme that has levels, or delta 0 without Sync::none.
inline void check(const SchemeOptions& options, std::int64_t delta) {
  const SchemeRow& row = find_scheme(options.name);
  const bool can_do_without = row.active_messages && row.name != "AMP-C-NO";
  if (options.sync == Sync::none && !can_do_without)
    kit::refuse("scheme {} goes level by level: synchronisation none is not for it", options.name);
  if (delta < 0 || (delta == 0 && options.sync != Sync::none))
    kit::refuse("delta {}: expected at least 1 level, or 0 (no limit) with synchronisation none", delta);
}

}  // namespace nuice::irregular
