// SPDX-License-Identifier: BSD-3-Clause
// Makes the requests of one exchange, in the order of the phase table.
#pragma once

#include <utility>
#include <vector>

#include "exchange/bind/layout.hpp"
#include "exchange/bind/stage.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

class Exchange::State::RequestMaker {
 public:
  /// synchronous: the sends complete only when they are being received.
  RequestMaker(State& exchange, const PhaseTable& table, const Layout& layout, int tag, bool synchronous);

  void make(Executor executor);
  /// Executor credit: no requests, but the table with addresses in the place of offsets.
  void make_credit(const CreditRun::Settings& settings);
  /// The message to itself as one of datatypes.
  void make_self_message();

 private:
  void places_to_send(const PhaseEntry& entry, Places& places);
  void places_to_receive(const PhaseEntry& entry, Places& places);
  std::vector<Rank> arrivals_of(const PhaseEntry& entry) const;
  void add_sends(const PhaseEntry& entry);
  void add_receives(const PhaseEntry& entry);
  void add_send(Rank to, const Places& places);
  void add_receive(Rank from, const Places& places);
  Part scaled(const Part& part) const;
  MPI_Datatype kept(MPI_Datatype type);
  Memory memory_of(const Places& places, Rank src, Rank dst);
  /// The same, or if the message is to be packed, the memory for that. Adds to `packed`.
  Memory memory_of(const Places& places, Rank src, Rank dst, std::vector<PackedMessage>& packed);

  State& exchange_;
  const PhaseTable& table_;
  const Layout& layout_;
  Stage stage_;
  int tag_;
  bool synchronous_;
  std::vector<std::pair<MPI_Datatype, MPI_Datatype>> kept_;  // the user's, and a copy that the exchange owns
};

}  // namespace nuice::mpi
