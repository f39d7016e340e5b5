// SPDX-License-Identifier: BSD-3-Clause
// Replaces the C library's functions that make, read and close connections. Each function calls the C
// library's and reports to the governor. Reads by io_uring and closes by close_range() are not seen; the
// governor detects closed connections by itself.
//
// Exceptions and thread cancellation may pass through these functions: none is noexcept, and no lock is held
// while the C library is called.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "flow/governor.hpp"
#include "flow/report.hpp"
#include "run/windows/openers.hpp"

namespace {

using nuice::flow::Governor;

/// The governor, or null before MPI's first connection. It is never destroyed, because other threads may read
/// until the process ends.
std::atomic<Governor*> made_governor{nullptr};

Governor& governor() {
  static Governor* const the_one = [] {
    pthread_atfork(nullptr, nullptr, nuice::run::turn_off);
    return new Governor;
  }();
  made_governor.store(the_one, std::memory_order_release);
  return *the_one;
}

/// The process that owns the connections. A child of vfork() runs in its parent's memory but closes
/// descriptors of its own.
std::atomic<pid_t> owner{0};
bool is_of_owner() { return nuice::run::is_on() && getpid() == owner.load(std::memory_order_relaxed); }

enum Opening : std::uint8_t { none = 0, plain = 1, small = 2 };
/// The opening of each connecting or listening descriptor. A connection is governed after its first bytes
/// have come.
std::array<std::atomic<std::uint8_t>, Governor::most_descriptors> openings{};

std::atomic<std::uint8_t>* opening_of(int descriptor) {
  return descriptor >= 0 && descriptor < Governor::most_descriptors ? &openings[descriptor] : nullptr;
}

bool is_stream(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/// Prepares a socket before its first packet. Returns false if the socket is not governed.
bool begin(int descriptor, const void* caller) {
  auto* const opening = opening_of(descriptor);
  if (opening == nullptr || !is_stream(descriptor) || !nuice::run::is_governed_opener(caller)) return false;
  owner = getpid();
  nuice::flow::set_quick_timers(descriptor);  // accepted connections inherit them
  *opening = nuice::flow::begin_small(descriptor) ? small : plain;
  return true;
}

void accepted(int listener, int descriptor, const void* caller) {
  if (opening_of(descriptor) == nullptr || !nuice::run::is_governed_opener(caller)) return;
  const auto* const opening = opening_of(listener);
  governor().opened(descriptor, opening != nullptr && *opening == small);
}

int duplicated(int from, int to) {
  if (to < 0 || from == to || !is_of_owner()) return to;
  auto *const opening = opening_of(from), *const copy = opening_of(to);
  if (copy != nullptr) *copy = opening == nullptr ? std::uint8_t{none} : opening->load();
  if (Governor* const made = made_governor.load(std::memory_order_acquire); made != nullptr)
    made->duplicated(from, to);
  return to;
}

ssize_t arrived(int descriptor, ssize_t bytes) {
  auto* const opening = opening_of(descriptor);
  if (bytes <= 0 || opening == nullptr || !nuice::run::is_on()) return bytes;
  if (opening->load(std::memory_order_relaxed) != none)
    governor().opened(descriptor, opening->exchange(none) == small);
  if (Governor* const made = made_governor.load(std::memory_order_acquire); made != nullptr)
    made->arrived(descriptor, bytes);
  return bytes;
}

template <typename Function>
Function* next(Function* /*type*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The function that uses this macro has the C library's name.
#define NUICE_NEXT(name) static const auto real = next(static_cast<decltype(&::name)>(nullptr), #name)

struct AtExit {
  ~AtExit() {
    Governor* const made = made_governor.load(std::memory_order_acquire);
    if (made == nullptr || !nuice::run::is_on()) return;
    nuice::flow::report(*made);
    made->stop();
  }
} at_exit;

}  // namespace

#define NUICE_EXPORT extern "C" __attribute__((visibility("default")))

/// If the program uses libnuice, libnuice sees by the presence of this function that windows are set already
/// (flow/process.cpp).
NUICE_EXPORT void nuice_flow_is_preloaded() {}

NUICE_EXPORT int connect(int descriptor, const sockaddr* address, socklen_t length) {
  NUICE_NEXT(connect);
  const bool is_network =
      address != nullptr && (address->sa_family == AF_INET || address->sa_family == AF_INET6);
  if (is_network && begin(descriptor, __builtin_return_address(0)))
    nuice::flow::align_segments(descriptor, address, length);
  return real(descriptor, address, length);
}

NUICE_EXPORT int listen(int descriptor, int backlog) {
  NUICE_NEXT(listen);
  begin(descriptor, __builtin_return_address(0));
  return real(descriptor, backlog);
}

NUICE_EXPORT int accept(int listener, sockaddr* address, socklen_t* length) {
  NUICE_NEXT(accept);
  const int descriptor = real(listener, address, length);
  if (descriptor >= 0) accepted(listener, descriptor, __builtin_return_address(0));
  return descriptor;
}

NUICE_EXPORT int accept4(int listener, sockaddr* address, socklen_t* length, int flags) {
  NUICE_NEXT(accept4);
  const int descriptor = real(listener, address, length, flags);
  if (descriptor >= 0) accepted(listener, descriptor, __builtin_return_address(0));
  return descriptor;
}

NUICE_EXPORT int close(int descriptor) {
  NUICE_NEXT(close);
  if (auto* const opening = opening_of(descriptor); opening != nullptr && is_of_owner()) {
    *opening = none;
    if (Governor* const made = made_governor.load(std::memory_order_acquire); made != nullptr)
      made->closed(descriptor);
  }
  return real(descriptor);
}

NUICE_EXPORT int dup(int descriptor) {
  NUICE_NEXT(dup);
  return duplicated(descriptor, real(descriptor));
}

NUICE_EXPORT int dup2(int from, int to) {
  NUICE_NEXT(dup2);
  return duplicated(from, real(from, to));
}

NUICE_EXPORT int dup3(int from, int to, int flags) {
  NUICE_NEXT(dup3);
  return duplicated(from, real(from, to, flags));
}

NUICE_EXPORT ssize_t read(int descriptor, void* buffer, size_t bytes) {
  NUICE_NEXT(read);
  return arrived(descriptor, real(descriptor, buffer, bytes));
}

NUICE_EXPORT ssize_t readv(int descriptor, const iovec* parts, int count) {
  NUICE_NEXT(readv);
  return arrived(descriptor, real(descriptor, parts, count));
}

NUICE_EXPORT ssize_t recv(int descriptor, void* buffer, size_t bytes, int flags) {
  NUICE_NEXT(recv);
  return arrived(descriptor, real(descriptor, buffer, bytes, flags));
}

NUICE_EXPORT ssize_t recvfrom(int descriptor, void* buffer, size_t bytes, int flags, sockaddr* from,
                              socklen_t* length) {
  NUICE_NEXT(recvfrom);
  return arrived(descriptor, real(descriptor, buffer, bytes, flags, from, length));
}

NUICE_EXPORT ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  NUICE_NEXT(recvmsg);
  return arrived(descriptor, real(descriptor, message, flags));
}
