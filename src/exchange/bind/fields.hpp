// SPDX-License-Identifier: BSD-3-Clause
// Several fields of any MPI datatypes in one exchange.
//
// The plan's bytes are shares. If a field has c elements for a partner, and the plan's message has B bytes,
// then its piece [o, o + b) carries the elements [c o / B, c (o + b) / B), rounded down. So the pieces of a
// split message meet without gap or overlap for every c. Sender and receiver cut the message alike, because
// they have the same c and the same bytes per element. This is verified for each pair.
//
// A transfer is one MPI message of a derived datatype. It is one message per field instead, if no field of
// any rank has gaps and the transfer is so large that packing costs more than additional start-ups. (MPI must
// pack fields with gaps in any case, and packs them better together.)
//
// Forwarding ranks do not know the fields of other ranks. They can scale their staging memory if all messages
// grow by the same ratio, which all ranks therefore agree on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "exchange/bind/layout.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// The fields of one side (sending or receiving), with their elements for each partner.
class FieldSide {
 public:
  struct Field {
    std::byte* base;
    MPI_Datatype type;
    Bytes size;                         // of an element
    Bytes extent;                       // from one element to the next
    std::vector<std::int64_t> counts;   // by partner
    std::vector<std::int64_t> offsets;  // by partner, in elements
  };

  /// Throws Error `invalid_argument`.
  template <typename AnyField>
  FieldSide(std::span<const Partner> partners, std::span<const AnyField> fields, bool is_send, Rank rank);

  std::size_t num_fields() const { return fields_.size(); }
  const std::vector<Partner>& partners() const { return partners_; }
  const Field& field(std::size_t f) const { return fields_[f]; }
  Bytes bytes_with(std::size_t partner) const;
  bool any_gaps() const;
  Layout::ByRank places() const;
  /// "rank 0 -> rank 3"
  std::string pair(std::size_t partner) const;

 private:
  void add(void* data, MPI_Datatype type, std::span<const std::int64_t> counts,
           std::span<const std::int64_t> offsets);

  std::vector<Partner> partners_;
  bool is_send_;
  Rank rank_;
  std::vector<Field> fields_;
};

/// Collective. Verifies the fields with both ends of every message. tag: no other message uses this tag
/// during the call. Throws the same Error on all ranks, like Plan::bind().
Layout layout_of(const Communicator& comm, const Slice& slice, std::span<const SendField> send,
                 std::span<const ReceiveField> receive, int tag, bool plan_forwards);

}  // namespace nuice::mpi
