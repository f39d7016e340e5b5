// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests.hpp"

#include <algorithm>
#include <climits>
#include <optional>
#include <string>
#include <thread>

#include "core/support/watchdog.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Whether an array of elements has bytes between or around them that do not belong to any element.
bool has_gaps(MPI_Datatype type) {
  const Bytes size = size_of(type);
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  must(MPI_Type_get_extent_x(type, &lower, &extent), "MPI_Type_get_extent_x");
  if (lower != 0 || extent != size) return true;
  must(MPI_Type_get_true_extent_x(type, &lower, &extent), "MPI_Type_get_true_extent_x");
  return lower != 0 || extent != size;
}

/// For a type without gaps: whether MPI packs an element's bytes in the order in which they lie in memory.
bool packs_in_order(MPI_Datatype type) {
  const Bytes size = size_of(type);
  if (size > 1 << 16) return false;  // two bytes encode a position
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
  std::vector<unsigned char> packed(bytes.size());
  for (const int shift : {0, 8}) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i >> shift);
    int end = 0;
    must(MPI_Pack(bytes.data(), 1, type, packed.data(), static_cast<int>(size), &end, any_comm()),
         "MPI_Pack");
    if (packed != bytes) return false;
  }
  return true;
}

/// Whether a request is complete, inactive or in error.
bool is_over(MPI_Request request) {
  int complete = 1;
  const int code = MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS || complete != 0;
}

/// Waits up to time_to_end_s for the requests for which is_one(index) is true. The time in which this rank
/// had no core hardly counts, because the other ranks may have had no core either.
template <typename IsOne>
void await_if(std::span<MPI_Request> requests, IsOne&& is_one) noexcept {
  constexpr double most_between_looks_s = 0.01;
  QuietTime quiet;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_one(i) || requests[i] == MPI_REQUEST_NULL) continue;
    for (; !is_over(requests[i]) && quiet.seconds() < time_to_end_s; std::this_thread::yield())
      quiet.look(0, MPI_Wtime(), most_between_looks_s);
  }
}

/// Cancels the requests for which is_one(index) is true, the last one first. A message that arrives during
/// the cancelling then meets the first remaining receive, to which it belongs. In another order, a piece of a
/// message could match the receive of a shorter piece, and Open MPI would write beyond the end of that
/// receive.
template <typename IsOne>
void cancel_if(std::span<MPI_Request> requests, IsOne&& is_one) noexcept {
  for (std::size_t i = requests.size(); i-- > 0;)
    if (is_one(i) && requests[i] != MPI_REQUEST_NULL && !is_over(requests[i])) MPI_Cancel(&requests[i]);
  await_if(requests, is_one);
}

}  // namespace

Bytes size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  must(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  return size;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  must(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  return extent;
}

/// The constructor and the inner type from which a datatype was made.
struct TypeOrigin {
  int combiner = 0;
  std::optional<Datatype> inner;  ///< Set for duplicated and contiguous types.

  explicit TypeOrigin(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    must(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
    if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return;
    int count = 0;
    MPI_Aint address = 0;
    MPI_Datatype of = MPI_DATATYPE_NULL;
    must(MPI_Type_get_contents(type, integers, addresses, types, &count, &address, &of),
         "MPI_Type_get_contents");
    inner.emplace(Datatype(of, !is_named(of)));
  }
  static bool is_named(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    must(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
    return combiner == MPI_COMBINER_NAMED;
  }
};

bool are_plain_bytes_by_form(MPI_Datatype type) {
  if (has_gaps(type)) return false;
  const TypeOrigin form(type);
  return form.combiner == MPI_COMBINER_NAMED || (form.inner && are_plain_bytes_by_form(form.inner->get()));
}

bool are_plain_bytes(MPI_Datatype type) {
  if (has_gaps(type)) return false;
  const TypeOrigin form(type);
  if (form.inner) return are_plain_bytes(form.inner->get());
  return form.combiner == MPI_COMBINER_NAMED || packs_in_order(type);
}

Datatype Datatype::contiguous(int count, MPI_Datatype of) {
  Datatype type(MPI_DATATYPE_NULL, true);
  must(MPI_Type_contiguous(count, of, &type.type_), "MPI_Type_contiguous");
  must(MPI_Type_commit(&type.type_), "MPI_Type_commit");
  return type;
}

Datatype Datatype::copy_of(MPI_Datatype type) {
  Datatype copy(MPI_DATATYPE_NULL, true);
  must(MPI_Type_dup(type, &copy.type_), "MPI_Type_dup");
  return copy;
}

Datatype Datatype::of_segments(std::span<const Segment> segments, int max_count) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  bool are_bytes = true;
  for (const Segment& segment : segments) {
    const MPI_Aint extent = extent_of(segment.type);
    are_bytes = are_bytes && segment.type == MPI_BYTE;
    for (std::int64_t begin = 0; begin < segment.count; begin += max_count) {
      lengths.push_back(static_cast<int>(std::min<std::int64_t>(max_count, segment.count - begin)));
      must(MPI_Get_address(segment.at + begin * extent, &addresses.emplace_back()), "MPI_Get_address");
      types.push_back(segment.type);
    }
  }
  if (lengths.size() > INT_MAX)
    throw Error(ErrorCode::limit,
                std::to_string(lengths.size()) + " pieces in one transfer are more than MPI can send");
  const int count = static_cast<int>(lengths.size());
  Datatype type(MPI_DATATYPE_NULL, true);
  if (are_bytes) {
    must(MPI_Type_create_hindexed(count, lengths.data(), addresses.data(), MPI_BYTE, &type.type_),
         "MPI_Type_create_hindexed");
  } else {
    must(MPI_Type_create_struct(count, lengths.data(), addresses.data(), types.data(), &type.type_),
         "MPI_Type_create_struct");
  }
  must(MPI_Type_commit(&type.type_), "MPI_Type_commit");
  return type;
}

Datatype::~Datatype() {
  if (owned_ && type_ != MPI_DATATYPE_NULL && !is_finalized()) MPI_Type_free(&type_);
}

Extent Extent::of(std::int64_t elements, int max_count, MPI_Datatype element) {
  if (elements <= max_count) return {static_cast<int>(elements), Datatype::predefined(element)};
  const std::int64_t blocks = elements / max_count;
  if (blocks > max_count)
    throw Error(ErrorCode::limit, std::to_string(elements) + (element == MPI_BYTE ? " bytes" : " elements") +
                                      " in one piece are more than MPI can send");
  const Datatype block = Datatype::contiguous(max_count, element);
  const int lengths[2] = {static_cast<int>(blocks), static_cast<int>(elements % max_count)};
  const MPI_Aint offsets[2] = {0, static_cast<MPI_Aint>(blocks * max_count) * extent_of(element)};
  const MPI_Datatype types[2] = {block.get(), element};
  Datatype all(MPI_DATATYPE_NULL, true);
  must(MPI_Type_create_struct(2, lengths, offsets, types, &all.type_), "MPI_Type_create_struct");
  must(MPI_Type_commit(&all.type_), "MPI_Type_commit");
  return {1, std::move(all)};
}

void cancel_receives(std::span<MPI_Request> receives) noexcept {
  cancel_if(receives, [](std::size_t) { return true; });
}

Requests::~Requests() {
  if (is_finalized()) return;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void Requests::add(Mode mode, const Segment& segment, Rank partner, int tag, MPI_Comm comm) {
  if (requests_.size() == requests_.capacity()) requests_.reserve(2 * requests_.size() + 8);
  Extent extent = Extent::of(segment.count, 1 << 30, segment.type);
  const MPI_Datatype type = extent.type.get();
  // Short sends are possible only with MPI's own types. A user may free other types, and only a persistent
  // request keeps them.
  const bool is_short = mode == Mode::send && segment.count * size_of(segment.type) <= short_message_bytes &&
                        TypeOrigin::is_named(type);
  starts_.push_back({mode == Mode::receive, is_short, segment.at, extent.count, type, partner, tag, comm});
  if (type != segment.type) types_.push_back(std::move(extent.type));
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_short)
    has_shorts_ = true;
  else if (mode == Mode::receive)
    must(MPI_Recv_init(segment.at, extent.count, type, partner, tag, comm, &request), "MPI_Recv_init");
  else if (mode == Mode::send)
    must(MPI_Send_init(segment.at, extent.count, type, partner, tag, comm, &request), "MPI_Send_init");
  else
    must(MPI_Ssend_init(segment.at, extent.count, type, partner, tag, comm, &request), "MPI_Ssend_init");
  requests_.push_back(request);
}

void Requests::take(Requests& others, std::size_t i) {
  starts_.push_back(others.starts_[i]);
  requests_.push_back(MPI_REQUEST_NULL);
  std::swap(requests_.back(), others.requests_[i]);
  has_shorts_ = has_shorts_ || starts_.back().is_short;
  for (Datatype& type : others.types_) types_.push_back(std::move(type));
  others.types_.clear();
}

bool Requests::is_complete(std::size_t i) const {
  int complete = 1;
  if (requests_[i] != MPI_REQUEST_NULL)
    must(MPI_Request_get_status(requests_[i], &complete, MPI_STATUS_IGNORE), "MPI_Request_get_status");
  return complete != 0;
}

void Requests::start_short(std::size_t i) {
  const Start& message = starts_[i];
  must(MPI_Isend(message.at, message.count, message.type, message.partner, message.tag, message.comm,
                 &requests_[i]),
       "MPI_Isend");
}

void Requests::start(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (starts_[i].is_short)
      start_short(i);
    else
      must(MPI_Start(&requests_[i]), "MPI_Start");
  }
}

void Requests::start_unordered(std::size_t begin, std::size_t end) {
  const auto is_short = [this](std::size_t i) { return has_shorts_ && starts_[i].is_short; };
  while (begin < end) {
    if (is_short(begin)) {
      start_short(begin++);
      continue;
    }
    std::size_t next = has_shorts_ ? begin + 1 : end;
    while (next < end && !is_short(next)) ++next;
    must(MPI_Startall(static_cast<int>(next - begin), requests_.data() + begin), "MPI_Startall");
    begin = next;
  }
}

bool Requests::test(std::size_t begin, std::size_t end) {
  int done = 1;
  if (begin < end)
    must(MPI_Testall(static_cast<int>(end - begin), requests_.data() + begin, &done, MPI_STATUSES_IGNORE),
         "MPI_Testall");
  return done != 0;
}

/// Uses MPI_Wait for a single request, because MPI_Waitall takes 5 ns longer (exchange of 8 bytes in one
/// direction).
void Requests::wait(std::size_t begin, std::size_t end) {
  if (begin + 1 == end)
    must(MPI_Wait(requests_.data() + begin, MPI_STATUS_IGNORE), "MPI_Wait");
  else if (begin < end)
    must(MPI_Waitall(static_cast<int>(end - begin), requests_.data() + begin, MPI_STATUSES_IGNORE),
         "MPI_Waitall");
}

std::span<const int> Requests::take_completed(bool block, std::size_t begin, std::size_t end,
                                              std::vector<int>& indices) {
  int found = 0;
  const auto ready = block ? MPI_Waitsome : MPI_Testsome;
  must(ready(static_cast<int>(end - begin), requests_.data() + begin, &found, indices.data(),
             MPI_STATUSES_IGNORE),
       block ? "MPI_Waitsome" : "MPI_Testsome");
  return {indices.data(), found == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(found)};
}

int Requests::take_one(bool block, std::size_t begin, std::size_t end, bool& is_idle) {
  const auto count = static_cast<int>(end - begin);
  int place = MPI_UNDEFINED;
  int found = 1;
  if (block)
    must(MPI_Waitany(count, requests_.data() + begin, &place, MPI_STATUS_IGNORE), "MPI_Waitany");
  else
    must(MPI_Testany(count, requests_.data() + begin, &place, &found, MPI_STATUS_IGNORE), "MPI_Testany");
  is_idle = found != 0 && place == MPI_UNDEFINED;
  return found == 0 || is_idle ? -1 : place;
}

void Requests::cancel_receives() noexcept {
  cancel_if(requests_, [this](std::size_t i) { return starts_[i].is_receive; });
}

void Requests::await_sends(Rank gone) noexcept {
  await_if(requests_, [&](std::size_t i) { return !starts_[i].is_receive && starts_[i].partner != gone; });
}

}  // namespace nuice::mpi
