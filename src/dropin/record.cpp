// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/record.hpp"

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "dropin/neighbours.hpp"

namespace nuice::dropin {
namespace {

/// Calls of one series that are kept one by one, and numbers in all rows together (32 MiB).
constexpr std::size_t most_calls = 1'000'000;
constexpr std::size_t most_numbers = 4'000'000;

thread_local int depth = 0;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Where this library lies.
struct Span {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool has(void* at) const {
    return reinterpret_cast<std::uintptr_t>(at) >= begin && reinterpret_cast<std::uintptr_t>(at) < end;
  }
};

int note_own_code(dl_phdr_info* info, std::size_t, void* to) {
  Span span;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    if (span.end == 0) span.begin = info->dlpi_addr + part.p_vaddr;
    span.end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  if (!span.has(reinterpret_cast<void*>(&note_own_code))) return 0;
  *static_cast<Span*>(to) = span;
  return 1;
}

Span own_code() {
  Span span;
  dl_iterate_phdr(note_own_code, &span);
  return span;
}

Site callers() {
  static const Span own = own_code();
  std::array<void*, 12> frames{};
  Site site{};
  const int found = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::size_t next = 0;
  for (int i = 0; i < found && next < site.size(); ++i)
    if (void* const frame = frames[static_cast<std::size_t>(i)]; !own.has(frame)) site[next++] = frame;
  return site;
}

// MPI's own functions for this are objects of the MPI that the program has.
int keep_to_itself(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}
int nothing_to_free(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

std::vector<int> world_ranks(MPI_Comm comm) {
  MPI_Group group = {};
  MPI_Group all = {};
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(world(), &all);
  int count = 0;
  PMPI_Group_size(group, &count);
  std::vector<int> mine(static_cast<std::size_t>(count));
  std::vector<int> ranks(mine.size());
  for (int i = 0; i < count; ++i) mine[static_cast<std::size_t>(i)] = i;
  PMPI_Group_translate_ranks(group, count, mine.data(), all, ranks.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&all);
  return ranks;
}

}  // namespace

/// Never destroyed: programs call MPI until their very end.
Recorder& recorder() {
  static auto* const one = new Recorder();
  return *one;
}

void Recorder::begin() {
  const char* const mode = std::getenv("NUICE_DROPIN");
  const char* const folder = std::getenv("NUICE_RECORD_DIR");
  const std::string name = mode == nullptr ? "" : mode;
  const bool has_folder = folder != nullptr && *folder != '\0';
  if (name != "record" && !(has_folder && (name == "on" || name == "check"))) return;
  folder_ = has_folder ? folder : "nuice-record";
  PMPI_Comm_rank(world(), &rank_);
  PMPI_Comm_size(world(), &num_ranks_);
  PMPI_Comm_create_keyval(keep_to_itself, nothing_to_free, &key_, nullptr);
  begin_s_ = now_s();
  is_on_ = true;
}

void Recorder::end() noexcept {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(is_on_, false)) return;
  try {
    write();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nuice: rank %d cannot write its record: %s\n", rank_, error.what());
  }
}

/// Kept as an attribute, as handles are used again when a communicator is freed.
int Recorder::number_of(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_there);
  if (is_there != 0) return static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  const auto number = static_cast<std::intptr_t>(groups_.size());
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  groups_.push_back({world_ranks(comm), {}, false, is_inter != 0});
  PMPI_Comm_set_attr(comm, key_, reinterpret_cast<void*>(number));
  return static_cast<int>(number);
}

const std::vector<int>& Recorder::neighbours(MPI_Comm comm) {
  const std::scoped_lock lock(mutex_);
  Group& group = groups_[static_cast<std::size_t>(number_of(comm))];
  if (!std::exchange(group.knows_neighbours, true)) group.neighbours = neighbours_of(comm).destinations;
  return group.neighbours;
}

int Recorder::place_of(void* from) {
  const auto [found, is_new] = places_.try_emplace(from, static_cast<int>(sites_.size()));
  if (is_new) sites_.push_back(callers());
  return found->second;
}

std::int32_t Recorder::number_of(Row row) {
  if (const auto found = patterns_.find(row); found != patterns_.end()) return found->second;
  if (pattern_numbers_ + row.size() > most_numbers) return no_pattern;
  pattern_numbers_ += row.size() + 8;
  const auto number = static_cast<std::int32_t>(patterns_.size());
  patterns_.emplace(std::move(row), number);
  return number;
}

std::pair<std::size_t, std::size_t> Recorder::add(const char* call, int comm, void* from, Row row,
                                                  double seconds) {
  const int place = place_of(from);
  if (groups_[static_cast<std::size_t>(comm)].is_inter) row.clear();  // its ranks are not those of one matrix
  const auto [found, is_new] = series_by_.try_emplace(
      {static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(call)), comm, place}, series_.size());
  if (is_new) series_.push_back({call, comm, place, {}, {}});
  Series& series = series_[found->second];
  for (std::size_t i = 1; i < row.size(); i += 2) series.total_bytes += static_cast<double>(row[i]);
  ++series.num_calls;
  series.total_s += seconds;
  if (series.patterns.size() < most_calls) {
    series.patterns.push_back(number_of(std::move(row)));
    series.seconds.push_back(static_cast<float>(seconds));
  }
  return {found->second, static_cast<std::size_t>(series.num_calls) - 1};
}

void Recorder::note(const char* call, MPI_Comm comm, void* from, Row row, double seconds) {
  const std::scoped_lock lock(mutex_);
  add(call, number_of(comm), from, std::move(row), seconds);
}

void Recorder::note_started(const char* call, MPI_Comm comm, void* from, Row row, double seconds,
                            MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto [series, index] = add(call, number_of(comm), from, std::move(row), seconds);
  pending_[request] = {.is_active = true, .series = series, .index = index};
}

void Recorder::note_init(const char* call, MPI_Comm comm, void* from, Row row, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  pending_[request] = {
      .is_persistent = true, .comm = number_of(comm), .call = call, .from = from, .row = std::move(row)};
}

void Recorder::begin_transfer(const Pending& transfer, double seconds) {
  Epoch& epoch = epochs_[transfer.comm];
  ++epoch.open;
  epoch.seconds += seconds;
  if (transfer.destination >= 0 && transfer.bytes > 0) epoch.bytes[transfer.destination] += transfer.bytes;
}

void Recorder::note_transfer(MPI_Comm comm, int destination, std::int64_t bytes, double seconds,
                             MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  Pending& transfer = pending_[request];
  transfer = {.is_active = true,
              .is_transfer = true,
              .comm = number_of(comm),
              .destination = destination,
              .bytes = bytes};
  begin_transfer(transfer, seconds);
}

void Recorder::note_transfer_init(MPI_Comm comm, int destination, std::int64_t bytes, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  pending_[request] = {.is_persistent = true,
                       .is_transfer = true,
                       .comm = number_of(comm),
                       .destination = destination,
                       .bytes = bytes};
}

void Recorder::note_blocking(MPI_Comm comm, int destination, std::int64_t bytes, double seconds) {
  const std::scoped_lock lock(mutex_);
  const auto epoch = epochs_.find(number_of(comm));
  if (epoch == epochs_.end() || epoch->second.open == 0) return;
  epoch->second.seconds += seconds;
  if (destination >= 0 && bytes > 0) epoch->second.bytes[destination] += bytes;
}

void Recorder::start(MPI_Request request, void* from, double seconds) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end() || found->second.is_active) return;
  Pending& pending = found->second;
  pending.is_active = true;
  if (pending.is_transfer) {
    begin_transfer(pending, seconds);
  } else {
    std::tie(pending.series, pending.index) = add(pending.call, pending.comm, from, pending.row, seconds);
  }
}

/// Several requests share the time of the call that they were waited for with.
void Recorder::complete(const std::vector<MPI_Request>& requests, void* from, double seconds) {
  const std::scoped_lock lock(mutex_);
  std::vector<decltype(pending_)::iterator> ours;
  for (const MPI_Request request : requests)
    if (const auto found = pending_.find(request); found != pending_.end() && found->second.is_active)
      ours.push_back(found);
  for (const auto& one : ours) {
    const double share_s = seconds / static_cast<double>(ours.size());
    Pending& pending = one->second;
    if (pending.is_transfer) {
      Epoch& epoch = epochs_[pending.comm];
      epoch.seconds += share_s;
      if (--epoch.open == 0) {
        Row row;
        for (const auto& [to, bytes] : epoch.bytes) row.insert(row.end(), {to, bytes});
        add("point to point", pending.comm, from, std::move(row), epoch.seconds);
        epoch = {};
      }
    } else {
      Series& series = series_[pending.series];
      series.total_s += share_s;
      if (pending.index < series.seconds.size()) series.seconds[pending.index] += static_cast<float>(share_s);
    }
    pending.is_active = false;
    if (!pending.is_persistent) pending_.erase(one);
  }
}

void Recorder::forget(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end()) return;
  if (found->second.is_active && found->second.is_transfer) --epochs_[found->second.comm].open;
  pending_.erase(found);
}

Watch::Watch(void* from)
    : from_(from), is_outermost_(depth++ == 0), is_on_(is_outermost_ && recorder().is_on()) {
  if (is_on_) begin_s_ = now_s();
}

Watch::~Watch() { --depth; }

bool Watch::ended() {
  if (is_on_ && seconds_ < 0) seconds_ = now_s() - begin_s_;
  return is_on_;
}

}  // namespace nuice::dropin
