// SPDX-License-Identifier: BSD-3-Clause
// Turns one side of a call with MPI's arguments into messages. No other code uses counts and displacements.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "core/text/names.hpp"
#include "mpi/call.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/alltoallv.hpp"

namespace nuice::mpi {

[[noreturn]] inline void refuse_call(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

/// The bytes of a buffer that a block takes.
struct TakenBytes {
  Rank partner;
  Bytes begin;
  Bytes end;
};

/// Turns one side of a call into messages.
template <typename Data>
class CallSide {
 public:
  static constexpr bool is_send = std::is_const_v<Data>;
  using Message = std::conditional_t<is_send, Outgoing, Incoming>;

  CallSide(const Blocks<Data>& blocks, std::span<const Rank> partners)
      : blocks_(blocks), partners_(partners) {
    require_size(blocks_.counts, "counts");
    require_size(blocks_.displs, "displacements");
    const std::size_t num_types = blocks_.each_has_a_type ? partners.size() : 1;
    if (blocks_.types.size() < num_types && (blocks_.each_has_a_type || !blocks_.types.empty()))
      refuse_call(name() + std::to_string(blocks_.types.size()) + " datatypes for " +
                  std::to_string(partners.size()) + " blocks");
  }

  std::vector<Message> messages() {
    std::vector<Message> made;
    for (std::size_t i = 0; i < partners_.size(); ++i) made.push_back(message(i));
    if (!is_send) require_apart();
    return made;
  }

 private:
  static std::string name() { return is_send ? "send: " : "receive: "; }
  std::string block(std::size_t i) const {
    return name() + "block " + std::to_string(i) + (is_send ? ", to " : ", from ") + rank_name(partners_[i]) +
           ", ";
  }
  void require_size(const Integers& values, const char* what) const {
    if (partners_.empty()) return;
    if (values.size() < partners_.size())
      refuse_call(name() + std::to_string(values.size()) + " " + what + " for " +
                  std::to_string(partners_.size()) + " blocks");
    if (values.is_null()) refuse_call(name() + "the " + what + " are NULL");
  }

  Message message(std::size_t i) {
    const bool is_bytes = blocks_.types.empty();
    const MPI_Datatype type = is_bytes ? MPI_BYTE : blocks_.types[blocks_.each_has_a_type ? i : 0];
    const std::int64_t count = partners_[i] == MPI_PROC_NULL ? 0 : blocks_.counts[i];
    if (count < 0) refuse_call(block(i) + "has " + std::to_string(count) + " elements");
    // an empty message, so that the others keep their indices
    if (count == 0) return {0, blocks_.data, 0, MPI_BYTE};
    if (type == MPI_DATATYPE_NULL) refuse_call(block(i) + "is of MPI_DATATYPE_NULL");
    const Bytes extent = is_bytes ? blocks_.element_bytes : extent_of(type);
    const std::int64_t displ = blocks_.displs[i];
    Bytes offset = displ;
    if (!blocks_.each_has_a_type && __builtin_mul_overflow(displ, extent, &offset))
      refuse_call(block(i) + "begins " + std::to_string(displ) + " elements after the buffer's address");
    require_inside(i, type, is_bytes ? count * extent : count, offset);
    // MPI_BOTTOM is NULL, and its offsets are addresses.
    const auto at = reinterpret_cast<std::uintptr_t>(blocks_.data) + static_cast<std::uintptr_t>(offset);
    return {partners_[i], reinterpret_cast<Data*>(at), is_bytes ? count * extent : count, type};
  }

  /// Refuses a block that does not lie inside the buffer, and records which bytes the block takes.
  void require_inside(std::size_t i, MPI_Datatype type, std::int64_t count, Bytes offset) {
    if (type != type_) is_plain_ = are_plain_bytes(type_ = type);
    MPI_Aint lower = 0;
    MPI_Aint true_extent = 0;
    must(MPI_Type_get_true_extent(type, &lower, &true_extent), "MPI_Type_get_true_extent");
    Bytes span = 0;
    if (__builtin_mul_overflow(count - 1, extent_of(type), &span) || span > max_bytes || span < -max_bytes)
      throw Error(ErrorCode::limit, block(i) + "has " + std::to_string(count) + " elements");
    const Bytes begin = offset + lower + std::min<Bytes>(span, 0);
    const Bytes end = offset + lower + true_extent + std::max<Bytes>(span, 0);
    if (blocks_.room != max_bytes && (begin < 0 || end > blocks_.room))
      refuse_call(block(i) + "takes bytes " + std::to_string(begin) + " to " + std::to_string(end - 1) +
                  " of " + std::to_string(blocks_.room));
    if (is_plain_) taken_.push_back({partners_[i], begin, end});
  }

  void require_apart() {
    std::ranges::sort(taken_, {}, &TakenBytes::begin);
    for (std::size_t i = 1; i < taken_.size(); ++i) {
      const TakenBytes& first = taken_[i - 1];
      const TakenBytes& second = taken_[i];
      if (second.begin >= first.end) continue;
      refuse_call(name() + "the blocks from " + rank_name(first.partner) + ", bytes " +
                  std::to_string(first.begin) + " to " + std::to_string(first.end - 1) + ", and from " +
                  rank_name(second.partner) + ", bytes " + std::to_string(second.begin) + " to " +
                  std::to_string(second.end - 1) + ", overlap");
    }
  }

  const Blocks<Data>& blocks_;
  std::span<const Rank> partners_;
  std::vector<TakenBytes> taken_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // of the last block
  bool is_plain_ = false;
};

template <typename Message>
std::vector<Partner> sizes_in(std::span<const Message> messages) {
  std::vector<Partner> partners;
  for (const auto& [rank, data, count, type] : messages)
    if (const Bytes bytes = count * size_of(type); bytes > 0) partners.push_back({rank, bytes});
  return partners;
}

}  // namespace nuice::mpi
