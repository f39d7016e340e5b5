// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "mpi/host/host_ranks.hpp"

namespace nuice::mpi {
namespace {

using Name = std::array<char, 64>;

/// Returns a name that no other shared memory of this host has.
Name new_name() {
  static std::atomic<unsigned> count = 0;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Name name{};
  std::snprintf(name.data(), name.size(), "/nuice.%ld.%u.%lx", static_cast<long>(getpid()), count++,
                static_cast<unsigned long>(now.tv_nsec));
  return name;
}

}  // namespace

/// Reserves the memory at once. If memory ran out at a later use, the system would end the program.
void SharedSegment::map(const std::string& name, bool is_new) {
  const int file = shm_open(name.c_str(), is_new ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
  int error = file < 0 ? errno : 0;
  if (error == 0 && is_new) error = posix_fallocate(file, 0, static_cast<off_t>(bytes_));
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  if (file >= 0) close(file);
  if (error != 0) why_ = "no shared memory of " + std::to_string(bytes_) + " bytes: " + std::strerror(error);
  if (memory != MAP_FAILED) data_ = static_cast<std::byte*>(memory);
}

SharedSegment::SharedSegment(const Communicator& comm, std::span<const Rank> ranks, std::size_t bytes)
    : bytes_(bytes) {
  if (bytes == 0) return;
  const bool is_first = comm.rank() == ranks.front();
  Name name = new_name();
  if (is_first) map(name.data(), true);
  if (is_first && data_ == nullptr) {
    shm_unlink(name.data());
    name[0] = '\0';
  }
  try {
    name = values_on_host(comm, ranks, name).front();
    if (name[0] != '\0' && !is_first) map(name.data(), false);
    if (std::ranges::count(values_on_host(comm, ranks, data_ != nullptr ? 1 : 0), 0) > 0) unmap();
  } catch (...) {
    if (is_first && name[0] != '\0') shm_unlink(name.data());
    unmap();
    throw;
  }
  if (is_first && name[0] != '\0') shm_unlink(name.data());
}

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(why_, other.why_);
  return *this;
}

SharedSegment::~SharedSegment() { unmap(); }

void SharedSegment::touch(std::size_t begin, std::size_t bytes) const {
  constexpr std::size_t page_bytes = 4096;
  const volatile std::byte* const memory = data_;
  for (std::size_t i = begin; i < begin + bytes; i += page_bytes) (void)memory[i];
  if (bytes > 0) (void)memory[begin + bytes - 1];
}

void SharedSegment::unmap() noexcept {
  if (data_ != nullptr) munmap(data_, bytes_);
  data_ = nullptr;
}

}  // namespace nuice::mpi
