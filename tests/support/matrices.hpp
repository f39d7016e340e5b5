// SPDX-License-Identifier: BSD-3-Clause
// Matrices that the laws are tried on: the extreme ones, and random ones of every kind.
#pragma once

#include <string>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/patterns.hpp"
#include "support/sanitized.hpp"

namespace nuice::test {

struct NamedMatrix {
  std::string name;
  CommMatrix matrix;
};

inline CommMatrix matrix_of(Rank num_ranks, std::vector<Message> messages) {
  return CommMatrix::from_messages(num_ranks, messages);
}

/// The 8 x 8 example of 004 table 1; every message has `bytes` bytes.
inline CommMatrix table1_of_004(Bytes bytes = 1) {
  const std::vector<std::vector<Rank>> rows = {{1, 2, 6},       {0, 2, 3, 7}, {0, 1, 3, 4, 6}, {1, 2, 4, 5},
                                               {2, 3, 5, 6, 7}, {3, 4, 7},    {0, 2, 4, 7},    {1, 4, 5, 6}};
  std::vector<Message> messages;
  for (Rank src = 0; src < 8; ++src) {
    for (const Rank dst : rows[static_cast<std::size_t>(src)]) messages.push_back({src, dst, bytes});
  }
  return matrix_of(8, messages);
}

/// The irregular pattern P of 001 table 6; every message has `bytes` bytes.
inline CommMatrix pattern_p_of_001(Bytes bytes = 1) {
  const std::vector<std::vector<Rank>> rows = {{1, 3, 5, 6},    {0, 2, 4, 5, 6, 7}, {1, 3},
                                               {0, 2, 4, 5, 6}, {1, 2, 3, 5, 7},    {1, 4, 6},
                                               {0, 2, 3, 5, 7}, {0, 1, 4, 6}};
  std::vector<Message> messages;
  for (Rank src = 0; src < 8; ++src) {
    for (const Rank dst : rows[static_cast<std::size_t>(src)]) messages.push_back({src, dst, bytes});
  }
  return matrix_of(8, messages);
}

inline CommMatrix all_to_one(Rank num_ranks, Rank hot) {
  std::vector<Message> messages;
  for (Rank src = 0; src < num_ranks; ++src) {
    if (src != hot) messages.push_back({src, hot, 10 + src});
  }
  return matrix_of(num_ranks, messages);
}

inline CommMatrix one_to_all(Rank num_ranks, Rank from) {
  std::vector<Message> messages;
  for (Rank dst = 0; dst < num_ranks; ++dst) {
    if (dst != from) messages.push_back({from, dst, 7});
  }
  return matrix_of(num_ranks, messages);
}

/// But to itself.
inline CommMatrix everybody_to_everybody(Rank num_ranks, Bytes bytes) {
  std::vector<Message> messages;
  for (Rank src = 0; src < num_ranks; ++src)
    for (Rank dst = 0; dst < num_ranks; ++dst)
      if (src != dst) messages.push_back({src, dst, bytes});
  return matrix_of(num_ranks, messages);
}

/// Matrices with messages to itself, empty rows and columns, and every number of ranks from 0 to 9.
inline std::vector<NamedMatrix> extreme_matrices() {
  std::vector<NamedMatrix> all = {
      {"no ranks", CommMatrix()},
      {"one rank", matrix_of(1, {})},
      {"one rank to itself", matrix_of(1, {{0, 0, 5}})},
      {"two ranks, silent", matrix_of(2, {})},
      {"two ranks, one message", matrix_of(2, {{1, 0, 1}})},
      {"zero bytes are not messages", matrix_of(3, {{0, 1, 0}, {1, 2, 4}})},
      {"only to itself", matrix_of(3, {{0, 0, 1}, {2, 2, 9}})},
      {"ring with self", matrix_of(4, {{0, 1, 3}, {1, 2, 3}, {2, 3, 3}, {3, 0, 3}, {1, 1, 8}})},
      {"004 table 1", table1_of_004(100)},
      {"001 table 6", pattern_p_of_001(100)},
      {"one huge message", matrix_of(3, {{0, 2, max_bytes}, {1, 2, 0}})},
  };
  for (const Rank n : {3, 4, 5, 6, 7, 8, 9, 33}) {
    all.push_back({"all to one, " + std::to_string(n), all_to_one(n, n / 2)});
    all.push_back({"one to all, " + std::to_string(n), one_to_all(n, n - 1)});
    all.push_back({"complete, " + std::to_string(n), random_regular(n, n - 1, {}, 1)});
  }
  return all;
}

/// Under a sanitizer the large ones are thin: the others take minutes there, and run the same code.
inline std::vector<NamedMatrix> random_matrices() {
  std::vector<NamedMatrix> all;
  for (const Rank n : {2, 3, 5, 8, 13, 16, 31, 64, 65, 100}) {
    const bool is_thin = is_sanitized && n >= 64;
    for (const double density : {0.05, 0.25, 0.75}) {
      if (is_thin && density > 0.05) continue;
      for (std::uint64_t seed = 0; seed < (n < 64 ? 3U : 1U); ++seed) {  // large ones take most of the time
        all.push_back({"density " + std::to_string(density) + " of " + std::to_string(n) + ", seed " +
                           std::to_string(seed),
                       random_density(n, density, {.unit_bytes = 3, .max_units = 32}, seed)});
      }
    }
    for (const Rank degree : {1, 2, n / 2, n - 1}) {
      if (degree >= n || (is_thin && degree > 2)) continue;
      all.push_back(
          {"degree " + std::to_string(degree) + " of " + std::to_string(n),
           random_regular(n, degree, {.unit_bytes = 8, .max_units = 4}, static_cast<std::uint64_t>(n))});
    }
  }
  return all;
}

inline std::vector<NamedMatrix> all_matrices() {
  std::vector<NamedMatrix> all = extreme_matrices();
  for (NamedMatrix& random : random_matrices()) all.push_back(std::move(random));
  return all;
}

}  // namespace nuice::test
