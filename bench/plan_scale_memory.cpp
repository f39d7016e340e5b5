// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded into smpirun's simulation: operator new and delete that keep an account for every simulated rank.
#include <simgrid/actor.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr long max_ranks = 1 << 16;
long long accounts[max_ranks + 1][2];  // bytes now, and the most so far; the last one: whoever is no rank

bool has_begun = false;  // the simulation: there are ranks

long owner() {
  if (!has_begun) return max_ranks;
  const long pid = static_cast<long>(sg_actor_self_get_pid());  // 1 for rank 0; 0 outside the ranks
  return pid > 0 && pid <= max_ranks ? pid - 1 : max_ranks;
}

struct alignas(std::max_align_t) Tag {
  long long bytes;
  long owner;
};

}  // namespace

extern "C" long long* nuice_account() {
  has_begun = true;
  return accounts[owner()];
}

void* operator new(std::size_t bytes) {
  auto* tag = static_cast<Tag*>(std::malloc(bytes + sizeof(Tag)));
  if (tag == nullptr) throw std::bad_alloc();
  *tag = {static_cast<long long>(bytes), owner()};
  long long* const account = accounts[tag->owner];
  account[0] += tag->bytes;
  account[1] = std::max(account[1], account[0]);
  return tag + 1;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  Tag* const tag = static_cast<Tag*>(memory) - 1;
  accounts[tag->owner][0] -= tag->bytes;
  std::free(tag);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
