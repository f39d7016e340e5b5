// SPDX-License-Identifier: BSD-3-Clause
// Owners of MPI datatypes and of arrays of persistent requests.
#pragma once

#include <mpi.h>

#include <cstddef>
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
/// (lab/bench/run.py pair).
constexpr Bytes short_message_bytes = 256;

/// A short message, sent by every start.
struct ShortSend {
  const void* at = nullptr;
  int bytes = 0;
  Rank to = no_rank;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Nothing that comes from now on is written by these receives, of which any may be null or not under way. Those that had
/// begun to come in cannot be called back: they are given a second to end, which is enough unless the sender is stuck.
/// Never throws.
void cancel_receives(std::span<MPI_Request> receives) noexcept;

/// Persistent requests, and short messages in their place; the destructor frees them, unless MPI is finalized.
class Requests {
 public:
  Requests() = default;
  Requests(Requests&&) noexcept = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests();

  void reserve(std::size_t count) {
    requests_.reserve(count);
    shorts_.reserve(count);
  }
  /// Room for one more, as a vector grows.
  void make_room() {
    if (requests_.size() == requests_.capacity()) reserve(2 * requests_.size() + 8);
  }
  // Both require room from reserve() or make_room(), so that they cannot fail.
  /// Adopts a persistent request.
  void adopt(MPI_Request request) {
    requests_.push_back(request);
    shorts_.emplace_back();
  }
  void add(const ShortSend& message) {
    requests_.push_back(MPI_REQUEST_NULL);
    shorts_.push_back(message);
    has_shorts_ = true;
  }

  std::size_t size() const { return requests_.size(); }
  /// Whether MPI_Startall starts them: none is a short message.
  bool are_persistent() const { return !has_shorts_; }
  MPI_Request operator[](std::size_t i) const { return requests_[i]; }
  MPI_Request& operator[](std::size_t i) { return requests_[i]; }

  // On requests [begin, end):
  /// Starts them in this order.
  void start(std::size_t begin, std::size_t end);
  /// All of them, those of short messages into their places in `requests`, where the others are copied.
  void start_in(MPI_Request* requests) const;
  /// Starts them in any order.
  void start_unordered(std::size_t begin, std::size_t end);
  /// True when all are complete. Those that are not active count as complete.
  bool test(std::size_t begin, std::size_t end);
  /// Until all are complete.
  void wait(std::size_t begin, std::size_t end);
  /// Copies of them, so that one call of MPI takes requests of several arrays. A copy of a persistent request stays good;
  /// that of a short message is good until it is complete, and has to be given back.
  void copy_to(std::size_t begin, std::size_t end, MPI_Request* to) const;
  void give_back(std::size_t begin, std::size_t end, const MPI_Request* from);
  /// Not one of these receives is to be waited for any more: cancel_receives().
  void cancel(std::size_t begin, std::size_t end) noexcept;

 private:
  std::vector<MPI_Request> requests_;  // of a short message: null unless it is in flight
  std::vector<ShortSend> shorts_;      // likewise; those of persistent requests go to no_rank
  bool has_shorts_ = false;
};

}  // namespace nuice::mpi
