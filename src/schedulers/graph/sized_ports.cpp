// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/sized_ports.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "core/by_size.hpp"

namespace nuice::sched {

SizedPorts::SizedPorts(const CommMatrix& matrix)
    : num_senders_(static_cast<Port>(matrix.num_ranks())),
      ids_(core::ids_by_size(matrix)),
      bytes_(ids_.size()),
      ends_(ids_.size()),
      same_size_end_(ids_.size()),
      next_(ids_.size() + 1),
      places_(2 * ids_.size()),
      begin_(num_ports() + 1, 0),
      num_left_(num_ports(), 0) {
  std::iota(next_.begin(), next_.end(), Place{0});
  for (Place place = 0; place < num_messages(); ++place) {
    const MessageId id = ids_[place];
    bytes_[place] = matrix.bytes(id);
    ends_[place] = {static_cast<Port>(matrix.src(id)), num_senders_ + static_cast<Port>(matrix.dst(id))};
    ++begin_[ends_[place].sender + 1];
    ++begin_[ends_[place].receiver + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (Place place = 0; place < num_messages(); ++place) {
    for (const Port port : {ends_[place].sender, ends_[place].receiver})
      places_[begin_[port] + num_left_[port]++] = place;
  }
  Place end = num_messages();
  for (Place place = num_messages(); place-- > 0;) {
    if (place + 1 < num_messages() && bytes(place) != bytes(place + 1)) end = place + 1;
    same_size_end_[place] = end;
  }
}

Place SizedPorts::same_size_begin(Place place) const {
  const auto places = std::views::iota(Place{0}, place);
  return *std::ranges::partition_point(places, [&](Place before) { return bytes(before) > bytes(place); });
}

/// Paths of removed places are shortened as they are followed.
Place SizedPorts::follow(Place place) {
  Place found = place;
  while (next_[found] != found) found = next_[found];
  while (place != found) {
    const Place next = next_[place];
    next_[place] = found;
    place = next;
  }
  return found;
}

void SizedPorts::remove(Place place) {
  next_[place] = place + 1;
  remove(ends_[place].sender, place);
  remove(ends_[place].receiver, place);
}

void SizedPorts::remove(Port port, Place place) {
  const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(begin_[port]);
  const auto end = begin + num_left_[port];
  const auto at = std::lower_bound(begin, end, place);
  std::copy(at + 1, end, at);
  --num_left_[port];
}

}  // namespace nuice::sched
