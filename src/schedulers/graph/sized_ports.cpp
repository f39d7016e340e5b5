// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/sized_ports.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace nuice::sched {

SizedPorts::SizedPorts(const CommMatrix& matrix, Pieces pieces)
    : matrix_(&matrix),
      num_senders_(static_cast<Port>(matrix.num_ranks())),
      pieces_(std::move(pieces)),
      ends_(pieces_.messages.size()),
      same_size_end_(pieces_.messages.size()),
      is_left_(pieces_.messages.size() / word_bits + 1, all_bits),
      at_port_(2 * pieces_.messages.size()),
      begin_(num_ports() + 1, 0),
      num_left_(num_ports(), 0) {
  is_left_.back() = all_bits >> (word_bits - 1 - num_messages() % word_bits);
  for (Place place = 0; place < num_messages(); ++place) {
    const MessageId message = id(place);
    ends_[place] = {static_cast<Port>(matrix.src(message)),
                    num_senders_ + static_cast<Port>(matrix.dst(message))};
    ++begin_[ends_[place].sender + 1];
    ++begin_[ends_[place].receiver + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (Place place = 0; place < num_messages(); ++place) {
    const auto [sender, receiver] = ends_[place];
    at_port_[begin_[sender] + num_left_[sender]++] = {place, receiver};
    at_port_[begin_[receiver] + num_left_[receiver]++] = {place, sender};
  }
  Place end = num_messages();
  Bytes bytes_behind = 0;
  for (Place place = num_messages(); place-- > 0;) {
    const Bytes bytes_here = bytes(place);
    if (bytes_here != bytes_behind) end = place + 1;
    bytes_behind = bytes_here;
    same_size_end_[place] = end;
  }
}

Place SizedPorts::same_size_begin(Place place) const {
  const auto places = std::views::iota(Place{0}, place);
  return *std::ranges::partition_point(places, [&](Place before) { return bytes(before) > bytes(place); });
}

void SizedPorts::remove(Place place, Port sender, Port receiver) {
  is_left_[place / word_bits] &= ~(std::uint64_t{1} << place % word_bits);
  remove(sender, place);
  remove(receiver, place);
}

/// Counts the messages before `place`. Usually there are only a few, so the first block is counted without a
/// branch per message.
std::size_t SizedPorts::count_before(std::span<const AtPort> all, Place place) {
  constexpr std::size_t block = 16;
  if (all.size() > block && all[block - 1].place < place) {
    const auto behind = std::ranges::lower_bound(all.subspan(block), place, {}, &AtPort::place);
    return block + static_cast<std::size_t>(behind - all.subspan(block).begin());
  }
  std::size_t before = 0;
  for (const AtPort& at : all.first(std::min(block, all.size()))) before += at.place < place ? 1 : 0;
  return before;
}

/// Closes the gap from the side with fewer messages.
void SizedPorts::remove(Port port, Place place) {
  const std::size_t before = num_before(port, place);
  const std::size_t behind = --num_left_[port] - before;
  const auto begin = at_port_.begin() + static_cast<std::ptrdiff_t>(begin_[port]);
  const auto at = begin + static_cast<std::ptrdiff_t>(before);
  if (before < behind) {
    std::copy_backward(begin, at, at + 1);
    ++begin_[port];
  } else {
    std::copy_n(at + 1, behind, at);
  }
}

}  // namespace nuice::sched
