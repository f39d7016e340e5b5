// SPDX-License-Identifier: BSD-3-Clause
// What bind() hands to an executor.
#pragma once

#include <memory>
#include <span>

#include "exchange/bind/arrivals.hpp"
#include "exchange/bind/layout.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// What the executors are told besides their table. Equal on all ranks but for windows, which ranks of a host share.
struct RunSettings {
  int max_sends = 0;
  Bytes chunk_bytes = 1;
  Bytes receive_window_bytes = 1;
  Bytes send_window_bytes = 1;
  int window_senders = 1;
  std::span<const Rank> near = {};   ///< This host's ranks, ascending.
  const Notices* notices = nullptr;  ///< This rank's, for executors that wait for notices.
  Bytes early_bytes = 0;             ///< Of a message, still to come when notice is given.
  bool windows_hold_all = false;     ///< On every rank, what it is to receive fits its window.
};

/// What bind() hands to an executor. Nothing in it is kept but comm, arrivals, and the memory that layout names.
struct Binding {
  const std::shared_ptr<const Communicator>& comm;
  const PhaseTable& table;  ///< Of this rank, in the direction of the exchange.
  const Layout& layout;
  Arrivals& arrivals;  ///< To be told what will come, and what has.
  int tag;             ///< This one and the next belong to the exchange.
  RunSettings settings;
};

}  // namespace nuice::mpi
