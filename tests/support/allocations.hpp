// SPDX-License-Identifier: BSD-3-Clause
// Counts every operator new of the program: for tests of a steady state that does
// not allocate. In one file of a program.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> num_allocations{0};
}

void* operator new(std::size_t bytes) {
  ++num_allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {  // else that of a sanitizer is taken
  ++num_allocations;
  return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST(Allocations, AreCounted) {
  const long before = num_allocations;
  ::operator delete(::operator new(1));  // not `delete new int`, which an optimiser may leave out
  EXPECT_EQ(num_allocations - before, 1);
}
