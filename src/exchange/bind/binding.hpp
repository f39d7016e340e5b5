// SPDX-License-Identifier: BSD-3-Clause
// The arguments that bind() passes to an executor.
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

/// The maximum number of pieces of a message. Longer messages are sent whole. MPI then asks the receiver
/// first, which takes a round trip. On a network with short queues a round trip takes about as long as a
/// piece (32 KiB at 50 Mbit/s: 5 ms), at most 1/16 of the time of such a message.
constexpr Bytes most_chunks = 16;

/// Returns the size of a message's pieces; the message's own size if it is not cut. chunk:
/// RunSettings::chunk_bytes.
constexpr Bytes piece_bytes_of(Bytes message, Bytes chunk) {
  return chunk > 0 && message <= most_chunks * chunk ? chunk : message;
}

/// Settings of an executor. All except `copies` are equal on all ranks.
struct RunSettings {
  int max_sends = 0;
  Bytes early_bytes = 0;          ///< A receiver sends notifications when this number of bytes is missing.
  Bytes chunk_bytes = 0;          ///< Size of the pieces into which `async` cuts short messages; 0: none.
  Copies* copies = nullptr;       ///< Copies between this memory and the user's; null: they are the same.
  Bytes piece_bytes = 0;          ///< Size of the pieces of plain bytes, equal on all ranks; 0: whole.
  Bytes most_pieces = max_bytes;  ///< Messages of more pieces are sent whole.

  /// Ranks, ascending. Messages between them and this rank are also sent whole.
  std::span<const Rank> whole_with = {};
  /// Whether each segment of a transfer is sent as a message of its own, because the processor cannot pack
  /// segments. The same on all ranks.
  bool apart = false;
};

/// The arguments of an executor. An executor may keep only comm, arrivals, and the memory that the layout
/// names.
struct Binding {
  const std::shared_ptr<const Communicator>& comm;
  const PhaseTable& table;  ///< This rank's table in the direction of the exchange.
  const Notices& notices;   ///< This rank's notifications in that direction.
  const Layout& layout;
  Arrivals& arrivals;  ///< The executor reports here what will arrive and what has arrived.
  int tag;             ///< This tag and the next two belong to the exchange.
  RunSettings settings = {};
};

}  // namespace nuice::mpi
