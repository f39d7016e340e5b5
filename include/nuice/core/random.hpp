// SPDX-License-Identifier: BSD-3-Clause
// The project's own random numbers. They use integers only, so that a seed gives the same numbers on every
// platform. The standard library's distributions and std::shuffle differ between implementations.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>

namespace nuice {

/// Returns a well mixed value: one step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The generator xoshiro256** (Blackman, Vigna, ACM TOMS 2021), seeded by SplitMix64.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) {
    for (auto& word : state_) {
      word = mix64(seed);
      seed += 0x9e3779b97f4a7c15U;
    }
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Returns a uniform number in 0 .. bound - 1, without bias; requires bound > 0. Rejects draws from the
  /// incomplete last interval.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound
    for (;;) {
      const std::uint64_t draw = next();
      if (draw >= rejected) return draw % bound;
    }
  }

  /// Returns a uniform number in [0, 1), a multiple of 2^-53.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Shuffles by the method of Fisher and Yates.
  template <typename T>
  constexpr void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::uint64_t state_[4]{};
};

}  // namespace nuice
