// SPDX-License-Identifier: BSD-3-Clause
// Owners of MPI datatypes and of arrays of requests: the only place that keeps the handles of an exchange.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::mpi {

/// Some bytes of this process.
struct Block {
  std::byte* at;
  Bytes bytes;
};

/// count elements of a datatype, the first at this address.
struct Segment {
  std::byte* at;
  std::int64_t count;
  MPI_Datatype type;
};

/// Whether elements of this type back to back are plain bytes from the first to the last, in that order. Not
/// necessarily found of an element above 64 KiB of another form than predefined, duplicated and contiguous ones.
/// O(bytes of an element) for other forms.
bool are_plain_bytes(MPI_Datatype type);
/// The same where it can be told without looking at bytes: of predefined, duplicated and contiguous types.
bool are_plain_bytes_by_form(MPI_Datatype type);
/// Bytes of an element as it travels, and from the first byte of one element to that of the next in memory.
Bytes size_of(MPI_Datatype type);
MPI_Aint extent_of(MPI_Datatype type);

/// A committed datatype, or one of MPI's own, which is not freed.
class Datatype {
 public:
  static Datatype predefined(MPI_Datatype type) { return Datatype(type, false); }
  static Datatype contiguous(int count, MPI_Datatype of);
  /// The same type, which stays good when the user frees the other.
  static Datatype copy_of(MPI_Datatype type);
  /// All segments, back to back, as one element that is sent from MPI_BOTTOM: MPI itself picks the
  /// bytes up where they lie. Throws Error limit for more than INT_MAX of them; one above max_count elements
  /// counts as several.
  static Datatype of_segments(std::span<const Segment> segments, int max_count = 1 << 30);

  Datatype(Datatype&& other) noexcept
      : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)), owned_(std::exchange(other.owned_, false)) {}
  Datatype& operator=(Datatype&&) = delete;
  ~Datatype();
  MPI_Datatype get() const { return type_; }

 private:
  friend struct Extent;
  friend struct TypeOrigin;
  Datatype(MPI_Datatype type, bool owned) : type_(type), owned_(owned) {}
  MPI_Datatype type_;
  bool owned_;
};

/// That many elements as MPI counts them: `count` of `type`.
struct Extent {
  int count;
  Datatype type;

  /// MPI-3.1 counts with an int, so more than max_count elements become one element of a derived type: blocks of
  /// max_count and the rest behind them.
  /// Throws Error limit if even the number of blocks is above max_count.
  static Extent of(std::int64_t elements, int max_count = 1 << 30, MPI_Datatype element = MPI_BYTE);
};

/// Messages up to that many bytes are sent by MPI_Isend, not by a persistent request. Open MPI (4 and 5) writes such a
/// message into shared memory at once, up to its btl_sm_max_inline_send of 256 bytes, but not one that was prepared by
/// MPI_Send_init: 8 bytes both ways between two ranks take 0.31 us instead of 0.57; above, both take the same
/// (bench/run.py pair).
constexpr Bytes short_message_bytes = 256;

/// For messages that have begun, after an error: enough unless the other end is stuck, and hardly noticed by
/// those that wait for it.
constexpr double time_to_end_s = 1;

/// Nothing that comes from now on is written by these receives, of which any may be null or inactive. Those that had
/// begun to come in cannot be called back: they are given time_to_end_s.
/// Never throws.
void cancel_receives(std::span<MPI_Request> receives) noexcept;

/// Persistent requests, and short messages in their place; the destructor frees them, unless MPI is finalized.
class Requests {
 public:
  enum class Mode : std::uint8_t { receive, send, synchronous_send };

  Requests() = default;
  Requests(Requests&&) noexcept = default;
  Requests& operator=(Requests&&) = delete;
  ~Requests();

  /// A message to this partner or from it. Throws Error limit for a segment that MPI cannot count.
  void add(Mode mode, const Segment& segment, Rank partner, int tag, MPI_Comm comm);
  /// Appends a request of `others`, which no longer has it. None of its requests is active.
  void take(Requests& others, std::size_t i);
  /// All of them.
  void take(Requests& others) {
    for (std::size_t i = 0; i < others.size(); ++i) take(others, i);
  }

  std::size_t size() const { return requests_.size(); }
  bool is_complete(std::size_t i) const;  ///< Or not active.

  // On requests [begin, end):
  /// Starts them in this order.
  void start(std::size_t begin, std::size_t end);
  /// Starts them in any order.
  void start_unordered(std::size_t begin, std::size_t end);
  /// True when all are complete. Those that are not active count as complete.
  bool test(std::size_t begin, std::size_t end);
  /// Until all are complete.
  void wait(std::size_t begin, std::size_t end);
  /// Those that are complete and were not taken before, counted from `begin`; block: at least one, if any is active.
  /// indices: room for all.
  std::span<const int> take_completed(bool block, std::size_t begin, std::size_t end,
                                      std::vector<int>& indices);
  /// As take_completed(), of one; -1 where none is. is_idle: none is active.
  int take_one(bool block, std::size_t begin, std::size_t end, bool& is_idle);
  /// The handles, for calls of MPI that are none of the above.
  MPI_Request* data() { return requests_.data(); }
  /// Not one of the receives is to be waited for any more: cancel_receives().
  void cancel_receives() noexcept;
  /// Sends are given as long to end, but those to one that receives nothing any more: no_rank, where there is none.
  void await_sends(Rank gone) noexcept;

 private:
  /// How a request is started.
  struct Start {
    bool is_receive;
    bool is_short;  ///< By MPI_Isend of what follows.
    const void* at;
    int count;
    MPI_Datatype type;
    Rank partner;
    int tag;
    MPI_Comm comm;
  };
  void start_short(std::size_t i);

  std::vector<MPI_Request> requests_;  // of a short message: null unless it is in flight
  std::vector<Start> starts_;
  std::vector<Datatype> types_;
  bool has_shorts_ = false;
};

}  // namespace nuice::mpi
