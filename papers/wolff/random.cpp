// SPDX-License-Identifier: BSD-3-Clause
#include "wolff/random.hpp"

#include <Random123/threefry.h>

#include <cmath>

// On x86 the code uses the widest vectors of the running machine, if the toolchain can choose at load time.
// Sanitizers start after that choice, so it is off with them.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NUICE_WIDEST_VECTORS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define NUICE_WIDEST_VECTORS
#endif

namespace nuice::wolff {
namespace {

// The length is constant, so that the loop consists of whole vectors.
template <int n>
[[gnu::always_inline]] inline void make(const Word* words, std::uint64_t cluster, std::uint64_t seed,
                                        Numbers& numbers) {
  const threefry2x64_key_t key = {{seed, 0}};
  for (int i = 0; i < n; ++i) {
    const threefry2x64_ctr_t counter = {{words[i] >> 32, cluster}};
    const threefry2x64_ctr_t made = threefry2x64_R(rounds, counter, key);
    numbers.of[up][i] = static_cast<std::uint32_t>(made.v[0]);
    numbers.of[down][i] = static_cast<std::uint32_t>(made.v[0] >> 32);
    numbers.of[left][i] = static_cast<std::uint32_t>(made.v[1]);
    numbers.of[right][i] = static_cast<std::uint32_t>(made.v[1] >> 32);
  }
}

}  // namespace

NUICE_WIDEST_VECTORS
void make_numbers(const Word* words, int n, std::uint64_t cluster, std::uint64_t seed, Numbers& numbers) {
  constexpr int few = 8;
  if (n <= few) {
    make<few>(words, cluster, seed, numbers);
  } else {
    make<batch>(words, cluster, seed, numbers);
  }
}

std::uint64_t first_site(std::uint64_t cluster, std::uint64_t seed, std::uint64_t sites) {
  const threefry2x64_key_t key = {{seed, 1}};
  const threefry2x64_ctr_t made = threefry2x64_R(rounds, {{0, cluster}}, key);
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(made.v[0]) * sites) >> 64);
}

std::uint64_t threshold(double beta) {
  return static_cast<std::uint64_t>(std::llround(-std::expm1(-2 * beta) * 4294967296.0));
}

}  // namespace nuice::wolff
