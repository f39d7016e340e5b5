// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose messages differ much in size: what few bytes are about.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nuice/core/random.hpp"
#include "support/matrices.hpp"

namespace nuice::test {

/// The same messages with other sizes: size_of(i) for the i-th message, in the order of ids.
template <typename SizeOf>
CommMatrix with_sizes(const CommMatrix& matrix, SizeOf size_of) {
  std::vector<Message> messages;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    messages.push_back({matrix.src(id), matrix.dst(id), size_of(id)});
  }
  return CommMatrix::from_messages(matrix.num_ranks(), messages);
}

inline CommMatrix with_uniform_sizes(const CommMatrix& matrix, Bytes most, std::uint64_t seed) {
  Random random(seed);
  return with_sizes(matrix, [&](MessageId) {
    return 1 + static_cast<Bytes>(random.below(static_cast<std::uint64_t>(most)));
  });
}

/// Zipf's law: the i-th largest message has largest / i^exponent bytes; its rank is drawn.
inline CommMatrix with_zipf_sizes(const CommMatrix& matrix, double exponent, Bytes largest,
                                  std::uint64_t seed) {
  std::vector<MessageId> place(matrix.num_messages());
  std::iota(place.begin(), place.end(), MessageId{1});
  Random(seed).shuffle(std::span(place));
  return with_sizes(matrix, [&](MessageId id) {
    return std::max(Bytes{1},
                    static_cast<Bytes>(static_cast<double>(largest) / std::pow(place[id], exponent)));
  });
}

/// Dense and sparse matrices with uniform, few different, skewed, huge sizes, and with one huge message.
inline std::vector<NamedMatrix> sized_matrices() {
  std::vector<NamedMatrix> patterns = {
      {"dense 17", random_regular(17, 16, {}, 1)},
      {"dense 40", random_regular(40, 39, {}, 2)},
      {"regular 64 of 9", random_regular(64, 9, {}, 3)},
      {"density 100 of 0.06", random_density(100, 0.06, {}, 4)},
      {"all to one", all_to_one(300, 7)},
      {"004 table 1", table1_of_004()},
  };
  std::vector<Message> star;  // a busy rank in both directions, and neighbours that talk to each other too
  for (Rank rank = 1; rank < 200; ++rank) {
    star.insert(star.end(), {{0, rank, 1}, {rank, 0, 1}, {rank, rank % 199 + 1, 1}});
  }
  patterns.push_back({"star with a ring", matrix_of(200, star)});
  std::vector<NamedMatrix> all;
  for (const auto& [name, matrix] : patterns) {
    all.push_back({name + ", uniform", with_uniform_sizes(matrix, 1'000'000, 5)});
    all.push_back({name + ", few different sizes", with_uniform_sizes(matrix, 3, 6)});
    all.push_back({name + ", zipf", with_zipf_sizes(matrix, 0.8, 1'000'000'000, 7)});
    const Bytes share = max_bytes / std::max<Bytes>(matrix.num_messages(), 1);
    all.push_back({name + ", huge", with_uniform_sizes(matrix, share, 8)});
    all.push_back({name + ", one huge", with_sizes(matrix, [](MessageId id) {
                     return id == 3 ? max_bytes / 2 : 1 + static_cast<Bytes>(mix64(id) % 1000);
                   })});
  }
  return all;
}

}  // namespace nuice::test
