// SPDX-License-Identifier: BSD-3-Clause
#include "core/by_size.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace nuice::core {
namespace {

struct Sized {  // sizes are stored next to the ids, because sorting ids alone would read sizes all over the
                // memory
  Bytes bytes;
  MessageId id;
};

constexpr unsigned digit_bits = 11;
constexpr std::size_t few = 1024;  // up to this number, messages are sorted by comparing

/// Sorts by one digit, the largest first. The sort is stable: messages with equal digits keep their order.
void sort_by_digit(const std::vector<Sized>& from, std::vector<Sized>& to, unsigned shift) {
  const auto digit = [&](const Sized& m) {
    return (std::size_t{1} << digit_bits) - 1 -
           (static_cast<std::size_t>(m.bytes) >> shift) % (std::size_t{1} << digit_bits);
  };
  std::array<std::size_t, std::size_t{1} << digit_bits> begin{};
  for (const Sized& m : from) ++begin[digit(m)];
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), std::size_t{0});
  for (const Sized& m : from) to[begin[digit(m)]++] = m;
}

}  // namespace

std::vector<MessageId> ids_by_size(const CommMatrix& matrix) {
  std::vector<Sized> messages(matrix.num_messages());
  Bytes largest = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    messages[id] = {matrix.bytes(id), id};
    largest = std::max(largest, messages[id].bytes);
  }
  if (messages.size() <= few) {
    std::ranges::sort(messages, [](const Sized& a, const Sized& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.id < b.id;
    });
  } else {
    std::vector<Sized> other(messages.size());
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(largest)));
    for (unsigned shift = 0; shift < bits; shift += digit_bits) {
      sort_by_digit(messages, other, shift);
      messages.swap(other);
    }
  }
  std::vector<MessageId> ids(messages.size());
  std::ranges::transform(messages, ids.begin(), [](const Sized& m) { return m.id; });
  return ids;
}

}  // namespace nuice::core
