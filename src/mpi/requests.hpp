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

/// A range of bytes in this process.
struct Block {
  std::byte* at;
  Bytes bytes;
};

/// `count` elements of a datatype. The first element is at address `at`.
struct Segment {
  std::byte* at;
  std::int64_t count;
  MPI_Datatype type;
};

/// Whether consecutive elements of this type are plain bytes from the first to the last, in that order.
/// Predefined, duplicated and contiguous types are always recognised. Other types cost O(bytes of an
/// element), and are not recognised above 64 KiB per element.
bool are_plain_bytes(MPI_Datatype type);
/// Like are_plain_bytes(), but does not check single bytes: returns true only for predefined, duplicated and
/// contiguous types.
bool are_plain_bytes_by_form(MPI_Datatype type);
/// Returns the bytes of an element as it is sent.
Bytes size_of(MPI_Datatype type);
MPI_Aint extent_of(MPI_Datatype type);

/// A datatype that NUICE has committed, or a predefined datatype, which is not freed.
class Datatype {
 public:
  static Datatype predefined(MPI_Datatype type) { return Datatype(type, false); }
  static Datatype contiguous(int count, MPI_Datatype of);
  /// Returns a duplicate, which stays valid when the user frees the original.
  static Datatype copy_of(MPI_Datatype type);
  /// Returns a type whose single element, sent from MPI_BOTTOM, is all segments back to back. MPI then reads
  /// the bytes where they lie. A segment of more than max_count elements counts as several. Throws Error
  /// `limit` for more than INT_MAX segments.
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

/// A number of elements as MPI counts them: `count` of `type`.
struct Extent {
  int count;
  Datatype type;

  /// If there are more than max_count elements, returns one element of a derived type, because MPI 3.1 counts
  /// with an int. The type consists of blocks of max_count elements and a rest. Throws Error `limit` if even
  /// the number of blocks is above max_count.
  static Extent of(std::int64_t elements, int max_count = 1 << 30, MPI_Datatype element = MPI_BYTE);
};

/// The upper size limit, in bytes, of messages that are sent by MPI_Isend instead of a persistent request.
/// Open MPI 4 and 5 write a message of MPI_Isend into shared memory at once, up to btl_sm_max_inline_send
/// (256 bytes), but not a message of MPI_Send_init. Between two ranks 8 bytes in both directions take 0.31 us
/// with MPI_Isend and 0.57 us with persistent requests. Longer messages take equally long with both
/// (bench/run.py pair).
constexpr Bytes short_message_bytes = 256;

/// The time in which messages in flight may complete after an error. It suffices unless the partner is stuck,
/// and hardly delays the partners that wait for these messages.
constexpr double time_to_end_s = 1;

/// Cancels the receives, so that messages that arrive later are not written to memory. Any of the requests
/// may be null or inactive. If a message is already being received, its receive cannot be cancelled, and gets
/// time_to_end_s to complete. Never throws.
void cancel_receives(std::span<MPI_Request> receives) noexcept;

/// Persistent requests, and short messages that need no persistent request. The destructor frees the
/// requests, unless MPI is finalized.
class Requests {
 public:
  enum class Mode : std::uint8_t { receive, send, synchronous_send };

  Requests() = default;
  Requests(Requests&&) noexcept = default;
  Requests& operator=(Requests&&) = delete;
  ~Requests();

  /// Adds a message to or from this partner. Throws Error `limit` for a segment that MPI cannot count.
  void add(Mode mode, const Segment& segment, Rank partner, int tag, MPI_Comm comm);
  /// Moves request i of `others` to the end of this array. No request of `others` may be active.
  void take(Requests& others, std::size_t i);
  /// Moves all requests of `others` to the end of this array.
  void take(Requests& others) {
    for (std::size_t i = 0; i < others.size(); ++i) take(others, i);
  }

  std::size_t size() const { return requests_.size(); }
  bool is_complete(std::size_t i) const;  ///< Also true if the request is inactive.

  // The following functions apply to the requests [begin, end).
  /// Starts them in this order.
  void start(std::size_t begin, std::size_t end);
  /// Starts them in any order.
  void start_unordered(std::size_t begin, std::size_t end);
  /// Returns true if all requests are complete or inactive.
  bool test(std::size_t begin, std::size_t end);
  /// Waits until all requests are complete.
  void wait(std::size_t begin, std::size_t end);
  /// Returns the requests that have completed since they were last taken, as places counted from `begin`.
  /// block: waits for at least one request, if any is active. indices: memory for end - begin places.
  std::span<const int> take_completed(bool block, std::size_t begin, std::size_t end,
                                      std::vector<int>& indices);
  /// Like take_completed(), but for one request: returns its place, or -1 if no request has completed.
  /// is_idle: set if no request is active.
  int take_one(bool block, std::size_t begin, std::size_t end, bool& is_idle);
  /// The request handles, for MPI calls that this class does not offer.
  MPI_Request* data() { return requests_.data(); }
  /// Calls cancel_receives() for all receives, which then need not be waited for.
  void cancel_receives() noexcept;
  /// Waits up to time_to_end_s for the sends, except sends to rank `gone`, which receives nothing any more
  /// (no_rank: to all ranks).
  void await_sends(Rank gone) noexcept;

 private:
  /// How a request is started.
  struct Start {
    bool is_receive;
    bool is_short;  ///< Started by MPI_Isend with the members below.
    const void* at;
    int count;
    MPI_Datatype type;
    Rank partner;
    int tag;
    MPI_Comm comm;
  };
  void start_short(std::size_t i);

  std::vector<MPI_Request> requests_;  // the request of a short message is null unless the message is in
                                       // flight
  std::vector<Start> starts_;
  std::vector<Datatype> types_;
  bool has_shorts_ = false;
};

}  // namespace nuice::mpi
