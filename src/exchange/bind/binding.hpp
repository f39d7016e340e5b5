// SPDX-License-Identifier: BSD-3-Clause
// What bind() hands to an executor.
#pragma once

#include <memory>
#include <span>

#include "exchange/bind/arrivals.hpp"
#include "exchange/bind/copies.hpp"
#include "exchange/bind/layout.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// Asking the receiver takes a round trip, on a shallow network about as long as a piece (32 KiB at 50
/// Mbit/s: 5 ms): at most 1/16 of the time of a longer message.
constexpr Bytes most_chunks = 16;

/// The bytes of a piece of a message of this size; all of them if it is not cut. chunk: RunSettings::chunk_bytes.
constexpr Bytes piece_bytes_of(Bytes message, Bytes chunk) {
  return chunk > 0 && message <= most_chunks * chunk ? chunk : message;
}

/// What executors get in addition to their table. Equal on all ranks except for copies.
struct RunSettings {
  int max_sends = 0;
  Bytes early_bytes = 0;     ///< Of a message, still to come when notice is given.
  Bytes chunk_bytes = 0;     ///< Of messages of a few such pieces, by the executor async; 0: whole.
  Copies* copies = nullptr;  ///< Of the memory that the layout names; null: it is the user's own.
  Bytes piece_bytes = 0;  ///< Messages of plain bytes travel in pieces of this size, on all ranks; 0: whole.
  Bytes most_pieces = max_bytes;  ///< Messages of more are whole.
  /// Ascending: messages between these ranks and this one are whole, too.
  std::span<const Rank> whole_with = {};
  /// Segments of a transfer travel as messages of their own, on all ranks: the processor must not pack them.
  bool apart = false;
};

/// What bind() hands to an executor. Nothing in it is kept but comm, arrivals, and the memory that layout names.
struct Binding {
  const std::shared_ptr<const Communicator>& comm;
  const PhaseTable& table;  ///< Of this rank, in the direction of the exchange.
  const Notices& notices;   ///< Likewise.
  const Layout& layout;
  Arrivals& arrivals;  ///< To be told what will come, and what has.
  int tag;             ///< This one and the next two belong to the exchange.
  RunSettings settings = {};
};

}  // namespace nuice::mpi
