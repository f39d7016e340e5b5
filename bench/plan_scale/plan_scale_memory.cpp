// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into smpirun's simulation: operator new and delete that keep an account for every simulated rank.
// A second account counts allocations by code of the program itself, including NUICE, without the libraries
// that it uses.
#include <link.h>
#include <simgrid/actor.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr long max_ranks = 1 << 16;
/// For each rank, the bytes now and at most, of all code and of the program's own. The last account is for
/// code outside the ranks.
long long accounts[max_ranks + 1][4];

bool has_begun = false;  // whether the simulation has begun and there are ranks

long owner() {
  if (!has_begun) return max_ranks;
  const long pid = static_cast<long>(sg_actor_self_get_pid());  // 1 for rank 0; 0 outside the ranks
  return pid > 0 && pid <= max_ranks ? pid - 1 : max_ranks;
}

struct alignas(std::max_align_t) Tag {
  long long bytes;
  std::int32_t owner;
  bool is_own;
};

/// At first the address of some code, later the address range of the file from which that code was loaded.
struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
  bool holds(std::uintptr_t at) const { return at >= begin && at < end; }
};

Range program{0, 0};  // the simulated program, which smpirun loads

int find_file_of(dl_phdr_info* info, std::size_t, void* code) {
  auto* const range = static_cast<Range*>(code);
  Range file{~std::uintptr_t{0}, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (begin < file.begin) file.begin = begin;
    if (begin + part.p_memsz > file.end) file.end = begin + part.p_memsz;
  }
  if (!file.holds(range->begin)) return 0;
  *range = file;
  return 1;
}

std::uintptr_t address(const void* code) { return reinterpret_cast<std::uintptr_t>(code); }

void charge(long long* account, long long bytes) {
  account[0] += bytes;
  if (account[0] > account[1]) account[1] = account[0];
}

}  // namespace

extern "C" long long* nuice_account() {
  has_begun = true;
  if (program.end == 0) {
    program.begin = address(__builtin_return_address(0));
    dl_iterate_phdr(find_file_of, &program);
  }
  return accounts[owner()];
}

void* operator new(std::size_t bytes) {
  auto* tag = static_cast<Tag*>(std::malloc(bytes + sizeof(Tag)));
  if (tag == nullptr) throw std::bad_alloc();
  *tag = {static_cast<long long>(bytes), static_cast<std::int32_t>(owner()),
          program.holds(address(__builtin_return_address(0)))};
  charge(accounts[tag->owner], tag->bytes);
  if (tag->is_own) charge(accounts[tag->owner] + 2, tag->bytes);
  return tag + 1;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  Tag* const tag = static_cast<Tag*>(memory) - 1;
  charge(accounts[tag->owner], -tag->bytes);
  if (tag->is_own) charge(accounts[tag->owner] + 2, -tag->bytes);
  std::free(tag);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
