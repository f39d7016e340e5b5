// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/background.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "core/support/watchdog.hpp"
#include "dropin/failure.hpp"
#include "dropin/pmpi.hpp"
#include "mpi/call.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::dropin {

using mpi::must;
using mpi::PlanlessEngine;

struct Background::Entry {
  Posting posting;
  MPI_Request token{};
  int tag = 0;
  bool is_under_way = false;
  PlanlessEngine::Ongoing* ongoing = nullptr;  // then, of ours
  bool is_freed = false;
  bool is_open = false;  // left to MPI
  double begin_s = 0;
  double begun_s = 0;
  double looked_at_s = -1;  // when the program came back first; below 0: not yet
};

/// Never destroyed, as programs call MPI until their very end.
Background& background() {
  static auto* const one = new Background();
  return *one;
}

void Background::begin(bool threads, double watchdog_s) {
  threads_ = threads;
  watchdog_s_ = watchdog_s;
  MPI_Group group{};
  must(PMPI_Comm_group(MPI_COMM_SELF, &group), "MPI_Comm_group");
  must(PMPI_Comm_create(MPI_COMM_SELF, group, &self_),
       "MPI_Comm_create");  // without the program's attributes
  PMPI_Group_free(&group);
  PMPI_Comm_set_errhandler(self_, NUICE_ERRORS_RETURN);
}

bool Background::takes(const void* at, int count, MPI_Datatype type) const {
  return PMPI_Send(at, count, type, MPI_PROC_NULL, 0, self_) == MPI_SUCCESS;
}

void Background::end() {
  leave();
  bring_to_end([](const Entry&) { return true; });
  come_back();
}

// --- Tokens ------------------------------------------------------------------------------------------------------------

void Background::make_token(Entry& entry) {
  if (free_tags_.empty()) {
    entry.tag = next_tag_++;
  } else {
    entry.tag = free_tags_.back();
    free_tags_.pop_back();
  }
  if (entry.posting.is_persistent) {
    must(PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, entry.tag, self_, &entry.token), "MPI_Recv_init");
  } else {
    must(PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, entry.tag, self_, &entry.token), "MPI_Irecv");
  }
}

/// Its receive is there, so this does not wait.
void Background::fulfil(Entry& entry) {
  must(PMPI_Send(nullptr, 0, MPI_BYTE, 0, entry.tag, self_), "MPI_Send");
}

/// The program's request is gone, or will be: its tag may be taken again.
void Background::remove(Entry& entry) {
  free_tags_.push_back(entry.tag);
  if (entry.is_freed) {
    std::erase_if(freed_, [&](const auto& each) { return each.get() == &entry; });
    return;
  }
  entries_.erase(entry.token);
  --num_known_;
}

// --- From begin to end -------------------------------------------------------------------------------------------------

void Background::post(Posting posting, MPI_Request* request) {
  const std::scoped_lock lock(mutex_);
  auto made = std::make_unique<Entry>(std::move(posting));
  Entry& entry = *made;
  make_token(entry);
  entries_.emplace(entry.token, std::move(made));
  ++num_known_;
  *request = entry.token;
  if (entry.posting.is_persistent) return;
  try {
    begin_exchange(entry);
  } catch (...) {
    fulfil(entry);
    PMPI_Wait(request, MPI_STATUS_IGNORE);
    remove(entry);
    throw;
  }
  complete_done();  // it may be empty
}

void Background::begin_exchange(Entry& entry) {
  if (entry.posting.shadow) begin_ours(entry);
  active_.push_back(&entry);
  ++num_active_;
  entry.is_under_way = true;
  entry.looked_at_s = -1;
  entry.begun_s = PMPI_Wtime();
}

void Background::begin_ours(Entry& entry) {
  Posting& posting = entry.posting;
  Shadow& shadow = *posting.shadow;
  if (posting.shade) posting.shade->start();
  const std::scoped_lock lock(shadow.mutex);
  Call& call = *posting.messages;
  call.pack();
  entry.ongoing = shadow.engine.begin(call.sends, call.receives, call, posting.terms);
  posting.overlap->begin();
  entry.begin_s = PMPI_Wtime();
  entry.is_open = num_away_ > 0 || posting.overlap->is_long();
  if (entry.is_open) shadow.engine.open(*entry.ongoing);
}

int Background::start(std::span<const MPI_Request> requests) {
  if (!knows_any()) return MPI_SUCCESS;
  MPI_Comm comm{};
  int code = MPI_SUCCESS;
  {
    const std::scoped_lock lock(mutex_);
    for (const MPI_Request request : requests) {
      const auto found = entries_.find(request);
      if (found == entries_.end()) continue;
      Entry& entry = *found->second;
      if (entry.is_under_way) continue;  // it stands there twice, which MPI takes
      try {
        begin_exchange(entry);
      } catch (const std::exception& error) {
        comm = entry.posting.comm;
        code = report(entry.posting.call, comm, error);
        fulfil(entry);
      }
    }
    complete_done();
  }
  return code == MPI_SUCCESS ? code : told_handler(comm, code);
}

void Background::forget(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  num_failed_ -= static_cast<std::int64_t>(failed_.erase(request));
  const auto found = entries_.find(request);
  if (found == entries_.end()) return;
  Entry& entry = *found->second;
  if (!entry.is_under_way) return remove(entry);
  entry.is_freed = true;
  freed_.push_back(std::move(found->second));
  entries_.erase(found);
  --num_known_;
}

bool Background::has(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  return entries_.contains(request);
}

bool Background::may_be_freed([[maybe_unused]] MPI_Request request) {
#ifdef OPEN_MPI
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(request);
  return found == entries_.end() || found->second->posting.is_persistent;
#else
  return true;
#endif
}

bool Background::is_under_way(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(request);
  return found != entries_.end() && found->second->is_under_way;
}

bool Background::look() {
  const std::scoped_lock lock(mutex_);
  return look_at_all();
}

bool Background::look_at_all() {
  bool has_found = false;
  const double now_s = PMPI_Wtime();
  for (Entry* const entry : active_)
    if (entry->looked_at_s < 0) entry->looked_at_s = now_s;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Shadow* const shadow = active_[i]->posting.shadow.get();
    if (shadow == nullptr) continue;
    const auto is_same = [&](const Entry* each) { return each->posting.shadow.get() == shadow; };
    if (std::any_of(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(i), is_same)) continue;
    try {
      has_found = look_at(*shadow) || has_found;
    } catch (const std::exception& error) {
      fail_all(*shadow, error);
      return true;
    }
  }
  return complete_done() || has_found;
}

bool Background::look_at(Shadow& shadow) {
  const std::scoped_lock lock(shadow.mutex);
  return shadow.engine.look();
}

bool Background::complete_done() {
  bool is_any_done = false;
  for (std::size_t i = 0; i < active_.size();) {
    Entry& entry = *active_[i];
    if (!(entry.posting.shadow ? ends_ours(entry) : ends_mpis(entry))) {
      ++i;
      continue;
    }
    is_any_done = true;
    const double now_s = PMPI_Wtime();
    const double rest_s = entry.looked_at_s < 0 ? 0 : now_s - entry.looked_at_s;
    const Timing& timing = entry.posting.timing;
    if (timing.trial) timing.trial->add(timing.step, timing.bytes, entry.begun_s - timing.begin_s + rest_s);
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    entry.is_under_way = false;
    fulfil(entry);
    --num_active_;
    if (!entry.posting.is_persistent || entry.is_freed) remove(entry);
  }
  return is_any_done;
}

bool Background::ends_ours(Entry& entry) {
  Posting& posting = entry.posting;
  Shadow& shadow = *posting.shadow;
  Shade* const shade = posting.shade.get();
  const std::scoped_lock lock(shadow.mutex);
  if (!shadow.engine.is_done(*entry.ongoing) || (shade != nullptr && !shade->is_done())) return false;
  shadow.engine.end(std::exchange(entry.ongoing, nullptr));
  const double looked_at_s = entry.looked_at_s < 0 ? entry.begin_s : entry.looked_at_s;
  if (!entry.is_open) posting.overlap->add(looked_at_s - entry.begin_s, PMPI_Wtime() - looked_at_s);
  if (shade != nullptr) shade->require_equal(posting.call);
  if (!posting.is_persistent || entry.is_freed) shadow.give_back(std::move(posting.messages));
  return true;
}

/// MPI tells the communicator's handler itself where it fails.
bool Background::ends_mpis(Entry& entry) {
  int is_done = 0;
  const int code = PMPI_Test(&entry.posting.mpis, &is_done, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) return is_done != 0;
  if (!entry.is_freed) {
    failed_[entry.token] = {entry.posting.comm, code, true};
    ++num_failed_;
  }
  return true;
}

void Background::leave() {
  if (threads_) ++num_away_;
  if (!any()) return;
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < active_.size();) {
    const std::shared_ptr<Shadow> shadow = active_[i]->posting.shadow;
    if (!shadow) {  // MPI's
      ++i;
      continue;
    }
    try {
      const std::scoped_lock shadow_lock(shadow->mutex);
      shadow->engine.open(*active_[i]->ongoing);
      active_[i]->is_open = true;
      ++i;
    } catch (const std::exception& error) {
      fail_all(*shadow, error);
      i = 0;
    }
  }
}

template <typename IsAwaited>
void Background::bring_to_end(IsAwaited&& is_awaited) {
  const auto awaited = [&] {
    const auto found = std::ranges::find_if(active_, [&](const Entry* each) { return is_awaited(*each); });
    return found == active_.end() ? nullptr : *found;
  };
  const auto is_done = [&] {
    const std::scoped_lock lock(mutex_);
    return awaited() == nullptr;
  };
  const auto give_up = [&] {
    const std::scoped_lock lock(mutex_);
    const auto is_ours = [&](const Entry* each) { return each->posting.shadow && is_awaited(*each); };
    const auto found = std::ranges::find_if(active_, is_ours);
    if (found != active_.end()) fail_as_quiet(**found);
  };
  look_until(watchdog_s_, is_done, [this] { return look(); }, give_up);
}

bool Background::finish(MPI_Comm comm) {
  if (!any() && !knows_any() && !has_failed()) return false;
  bring_to_end([comm](const Entry& entry) { return entry.posting.comm == comm; });
  const std::scoped_lock lock(mutex_);
  // Another communicator's handler is told of errors from now on.
  for (auto& [token, failure] : failed_)
    if (failure.comm == comm) failure.comm = MPI_COMM_WORLD;
  bool is_any_left = false;
  for (auto& [token, entry] : entries_) {
    if (entry->posting.comm != comm) continue;
    is_any_left = true;
    entry->posting.comm = MPI_COMM_WORLD;
  }
  return is_any_left;
}

// --- Errors ------------------------------------------------------------------------------------------------------------

/// The engine is broken. What it sends from must stay.
void Background::fail_all(Shadow& shadow, const std::exception& error) {
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i < active_.size();) {
    Entry& entry = *active_[i];
    if (entry.posting.shadow.get() != &shadow) {
      ++i;
      continue;
    }
    code = report(entry.posting.call, entry.posting.comm, error);
    shadow.engine.cancel(std::exchange(entry.ongoing, nullptr));
    (void)entry.posting.messages.release();
    entry.is_under_way = false;
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!entry.is_freed) {
      failed_[entry.token] = {entry.posting.comm, code};
      ++num_failed_;
    }
    fulfil(entry);
    --num_active_;
    if (!entry.posting.is_persistent || entry.is_freed) remove(entry);
  }
}

void Background::give_up(std::span<const MPI_Request> requests) {
  const std::scoped_lock lock(mutex_);
  for (const MPI_Request request : requests) {
    const auto found = entries_.find(request);
    if (found != entries_.end() && found->second->ongoing != nullptr)  // MPI's own waits as long as MPI does
      return fail_as_quiet(*found->second);
  }
}

void Background::fail_as_quiet(const Entry& entry) {
  Shadow& shadow = *entry.posting.shadow;
  fail_all(shadow, timeout_of(watchdog_s_, shadow.engine.waits_for(*entry.ongoing)));
}

int Background::verdict(MPI_Request request) {
  Failure found{};
  {
    const std::scoped_lock lock(mutex_);
    const auto at = failed_.find(request);
    if (at == failed_.end()) return MPI_SUCCESS;
    found = at->second;
    failed_.erase(at);
    --num_failed_;
  }
  return found.is_told ? found.code : told_handler(found.comm, found.code);
}

// --- Held against MPI's ------------------------------------------------------------------------------------------------

namespace {

/// Memory from the first byte that is received to behind the last.
struct Span {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};

Span span_of(const std::vector<Item>& items) {
  Span span;
  for (const Item& item : items) {
    if (item.count == 0) continue;
    MPI_Aint lower = 0;
    MPI_Aint bytes = 0;
    must(PMPI_Type_get_true_extent(item.type, &lower, &bytes), "MPI_Type_get_true_extent");
    const MPI_Aint last = (item.count - 1) * mpi::extent_of(item.type);
    std::byte* const begin = item.at + lower + std::min<MPI_Aint>(0, last);
    std::byte* const end = item.at + lower + std::max<MPI_Aint>(0, last) + bytes;
    span.begin = span.begin == nullptr ? begin : std::min(span.begin, begin);
    span.end = std::max(span.end, end);
  }
  return span;
}

}  // namespace

/// Where blocks lie far apart, most of that memory is never touched.
Shade::Shade(const Items& items, void* base, bool is_persistent, Begin by_mpi)
    : is_persistent_(is_persistent), by_mpi_(std::move(by_mpi)) {
  const auto [begin, end] = span_of(items.in);
  bytes_ = static_cast<std::size_t>(end - begin) + 1;
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw Error(ErrorCode::limit, "no memory to compare with MPI's result in");
  const std::ptrdiff_t step = static_cast<std::byte*>(memory_) - begin;
  items_.in_place = items.in_place;
  for (Item item : items.in) {
    if (item.count == 0) continue;
    item.type = types_.emplace_back(mpi::Datatype::copy_of(item.type)).get();
    items_.in.push_back(item);
    item.at += step;
    shaded_.push_back(item);
  }
  if (!is_persistent) take_input();
  must(by_mpi_(static_cast<std::byte*>(base) + step, &request_), "MPI's own call");
}

Shade::~Shade() {
  if (is_persistent_) PMPI_Request_free(&request_);
  munmap(memory_, bytes_);
}

void Shade::take_input() {
  if (items_.in_place) unpack(packed(items_.in), shaded_);
}

void Shade::start() {
  if (!is_persistent_) return;
  take_input();
  must(PMPI_Start(&request_), "MPI_Start");
}

bool Shade::is_done() {
  int is_done = 0;
  must(PMPI_Test(&request_, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
  return is_done != 0;
}

void Shade::require_equal(const char* call) const {
  if (packed(items_.in) == packed(shaded_)) return;
  std::fprintf(stderr, "nuice: %s: the result differs from MPI's\n", call);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace nuice::dropin
