// SPDX-License-Identifier: BSD-3-Clause
#include "flow/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "flow/socket.hpp"

#ifdef __linux__
#include <dlfcn.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "flow/governor.hpp"
#include "flow/report.hpp"
#endif

namespace nuice::flow {

bool has_connections_to_others() {
  return std::ranges::any_of(open_descriptors(), [](int each) { return !port_of_connection(each).empty(); });
}

#ifdef __linux__
namespace {

using Clock = std::chrono::steady_clock;
using Duration = Clock::duration;

/// The time between two looks, equal to the governor's look_every_s.
constexpr Duration look_every = std::chrono::milliseconds(4);
/// The longest time between two looks while small packets come, which flood no port.
constexpr Duration longest_between_looks = std::chrono::milliseconds(32);
/// MPI makes a connection when the first message needs it. So the first search comes soon after
/// govern_process(), and each later pause is twice as long.
constexpr Duration first_search_after = std::chrono::milliseconds(4);
/// A connection that is made later is found within this time.
constexpr Duration longest_between_searches = std::chrono::seconds(1);

bool is_wanted() {
  const char* const setting = std::getenv("NUICE_FLOW");
  if (setting != nullptr && std::string_view(setting) == "off") return false;
  return dlsym(RTLD_DEFAULT, "nuice_flow_is_preloaded") == nullptr;
}

class Watcher {
 public:
  /// Returns false if no thread can be created.
  bool start() {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll_ < 0 || bell_ < 0 || !add(bell_)) return false;
    sigset_t all, before;  // the program's threads handle signals
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool has_started = pthread_create(&thread_, nullptr, run, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return has_started;
  }

  void search_again() {
    const std::uint64_t once = 1;
    if (write(bell_, &once, sizeof once) < 0) return;  // a search is requested already
  }

  void stop() {
    ends_ = true;
    search_again();
    pthread_join(thread_, nullptr);
    report(governor_);
    governor_.stop();
  }

 private:
  static void* run(void* self) {
    pthread_setname_np(pthread_self(), "nuice-flow");
    static_cast<Watcher*>(self)->watch();
    return nullptr;
  }

  void watch() {
    Duration pause = look_every;
    while (!ends_) {
      const bool have_received = take_events(timeout_ms());
      if (Clock::now() >= next_search_) search();
      if (!have_received || ends_) continue;
      pause = governor_.look() ? std::min(2 * pause, longest_between_looks) : look_every;
      std::this_thread::sleep_for(pause);
    }
  }

  /// Returns the time until the next search. Once searches have become rare there is no timeout: data wake
  /// the thread.
  int timeout_ms() const {
    if (between_searches_ >= longest_between_searches) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_search_ - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

  /// Takes one event for each connection that received data since the last call (edge-triggered epoll).
  /// Returns whether there was one.
  bool take_events(int timeout) {
    bool have_received = false;
    for (int taken = events_per_call; taken == events_per_call; timeout = 0) {
      std::array<epoll_event, events_per_call> events;
      taken = epoll_wait(epoll_, events.data(), events_per_call, timeout);
      for (int i = 0; i < taken; ++i) {
        if (events[i].data.fd == bell_) {
          hear();
        } else {
          governor_.received(events[i].data.fd);
          have_received = true;
        }
      }
    }
    return have_received;
  }

  void hear() {
    std::uint64_t rings = 0;
    if (read(bell_, &rings, sizeof rings) < 0) return;
    between_searches_ = first_search_after;
    next_search_ = Clock::now();
  }

  void search() {
    for (const int descriptor : open_descriptors()) {
      const std::uint64_t cookie = cookie_of(descriptor);
      const auto known = cookies_.find(descriptor);
      if (known != cookies_.end() && known->second == cookie) continue;
      if (known != cookies_.end()) {  // the descriptor belonged to another connection
        governor_.closed(descriptor);
        cookies_.erase(known);
      }
      if (cookie == 0 || port_of_connection(descriptor).empty()) continue;
      cookies_.emplace(descriptor, cookie);
      set_quick_timers(descriptor);
      governor_.opened(descriptor, false);
      add(descriptor);
    }
    next_search_ = Clock::now() + between_searches_;
    between_searches_ = std::min(2 * between_searches_, longest_between_searches);
  }

  bool add(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = descriptor;
    return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  static constexpr int events_per_call = 256;  // further events come with the next call

  Governor governor_;
  int epoll_ = -1;
  int bell_ = -1;
  pthread_t thread_{};
  std::atomic<bool> ends_{false};
  // the members below belong to the thread
  std::unordered_map<int, std::uint64_t> cookies_;  // cookies of the governed connections
  Duration between_searches_ = first_search_after;
  Clock::time_point next_search_ = Clock::now();
};

std::atomic<bool> is_forked{false};

/// The Watcher is never destroyed, because its thread uses it until it is stopped.
Watcher* start_watcher() {
  if (!is_wanted()) return nullptr;
  auto* const watcher = new Watcher;
  if (!watcher->start()) return nullptr;
  pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  return watcher;
}

struct Owner {
  Watcher* const watcher = start_watcher();
  ~Owner() {
    if (watcher != nullptr && !is_forked) watcher->stop();
  }
};

}  // namespace

void govern_process() {
  static const Owner owner;
  if (owner.watcher != nullptr && !is_forked) owner.watcher->search_again();
}
#else
void govern_process() {}
#endif

}  // namespace nuice::flow
