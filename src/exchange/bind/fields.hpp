// SPDX-License-Identifier: BSD-3-Clause
// Fields of any MPI datatypes, several in one run of the schedule.
//
// The plan's bytes are shares: a piece [o, o + b) of a message of B bytes takes elements [c o / B, c (o + b) / B) of a field
// that has c elements for that partner, rounded down, so the pieces of a split message meet without gap or overlap
// whatever c is. Sender and receiver have the same c and the same bytes per element, which is verified pair by pair; then
// they cut alike.
//
// A transfer is one MPI message of a derived datatype. If a message has more bytes, so that packing them costs more than
// more start-ups, and no field of any rank has gaps (those MPI must pack anyway, and packs better together), it is one
// message per field.
//
// Forwarding ranks do not know the fields of others. They can scale their staging memory if all messages grow by the same
// ratio, which is then agreed on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "exchange/bind/layout.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// What the fields of one side have for each of its partners.
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

  /// Throws Error invalid_argument.
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

/// Collective: verifies the fields with both ends of every message. tag: one that nothing else uses meanwhile.
/// Throws Error, the same on all ranks, as Plan::bind().
Layout layout_of(const Communicator& comm, const Slice& slice, std::span<const SendField> send,
                 std::span<const ReceiveField> receive, int tag, bool plan_forwards);

}  // namespace nuice::mpi
