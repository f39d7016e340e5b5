// SPDX-License-Identifier: BSD-3-Clause
#include "run/recorder.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "run/mpi.hpp"
#include "run/neighbours.hpp"

namespace nuice::run {
namespace {

/// Limits: the number of calls of a series that are kept one by one, and the number of values in all rows
/// together (32 MiB).
constexpr std::size_t most_calls = 1'000'000;
constexpr std::size_t most_numbers = 4'000'000;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Site callers() {
  std::array<void*, 12> frames{};
  Site site{};
  const int found = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::size_t next = 0;
  for (int i = 0; i < found && next < site.size(); ++i)
    if (void* const frame = frames[static_cast<std::size_t>(i)]; !is_mpi_code(frame)) site[next++] = frame;
  return site;
}

// Tells MPI_Comm_dup not to copy the attribute. MPI has such functions, but they are objects in the program's
// MPI, with which this library cannot be linked.
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

/// Whether this process was spawned. A spawned process would write files with the same names as the processes
/// that spawned it.
bool is_spawned() {
  MPI_Comm parent{};
  int is_inter = 0;
  PMPI_Comm_get_parent(&parent);
  return parent != null_comm() && PMPI_Comm_test_inter(parent, &is_inter) == MPI_SUCCESS && is_inter != 0;
}

}  // namespace

/// The recorder is never destroyed, because programs may call MPI until they end.
Recorder& recorder() {
  static auto* const one = new Recorder();
  return *one;
}

void Recorder::begin() {
  const char* const folder = std::getenv("NUICE_RECORD_DIR");
  if (folder == nullptr || *folder == '\0') return;
  folder_ = folder;
  PMPI_Comm_rank(world(), &rank_);
  PMPI_Comm_size(world(), &num_ranks_);
  if (is_spawned()) {
    if (rank_ == 0) std::fputs("nuice: spawned processes are not recorded\n", stderr);
    return;
  }
  PMPI_Comm_create_keyval(keep_to_itself, nothing_to_free, &key_, nullptr);
  process_ = getpid();
  begin_s_ = now_s();
  is_on_ = true;
}

/// Writes nothing in a forked child, which has a copy of its parent's record.
void Recorder::end() noexcept {
  if (!is_on_ || getpid() != process_) return;
  const std::scoped_lock lock(mutex_);
  if (!is_on_.exchange(false)) return;
  try {
    end_unclosed();
    write();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nuice: rank %d cannot write its record: %s\n", rank_, error.what());
  }
}

/// Returns the communicator's number. The number is kept as an attribute, because MPI reuses handles of freed
/// communicators.
int Recorder::number_of(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_there);
  if (is_there != 0) return static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  const auto number = static_cast<std::intptr_t>(groups_.size());
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  Group group{.ranks = world_ranks(comm), .neighbours = {}, .has_others = is_inter != 0};
  if (std::erase_if(group.ranks, [](int rank) { return rank < 0; }) > 0) group.has_others = true;
  groups_.push_back(std::move(group));
  PMPI_Comm_set_attr(comm, key_, reinterpret_cast<void*>(number));
  return static_cast<int>(number);
}

const std::vector<int>& Recorder::neighbours(MPI_Comm comm) {
  const std::scoped_lock lock(mutex_);
  Group& group = groups_[static_cast<std::size_t>(number_of(comm))];
  if (!std::exchange(group.knows_neighbours, true)) group.neighbours = neighbours_of(comm);
  return group.neighbours;
}

int Recorder::place_of(void* from) {
  const auto [found, is_new] = places_.try_emplace(from, static_cast<int>(sites_.size()));
  if (is_new) sites_.push_back(from == nullptr ? Site{} : callers());
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
  if (groups_[static_cast<std::size_t>(comm)].has_others)
    row.clear();  // its ranks do not belong to one matrix
  const auto [found, is_new] = series_by_.try_emplace({call, comm, place}, series_.size());
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

// --- Operations with a request ---

/// Keeps an operation under its handle. If an earlier operation had this handle, it is complete, or was freed
/// without this library noticing.
Recorder::Operation& Recorder::keep(MPI_Request request, Operation operation) {
  operation.number = ++num_started_;
  Operation& kept = pending_[request];
  if (kept.is_active && kept.is_transfer) end_transfer(kept);
  kept = std::move(operation);
  num_pending_ = static_cast<std::int64_t>(pending_.size());
  return kept;
}

void Recorder::note_started(const char* call, MPI_Comm comm, void* from, Row row, double seconds,
                            MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const int number = number_of(comm);
  const auto [series, index] = add(call, number, from, std::move(row), seconds);
  keep(request, {.is_active = true, .comm = number, .series = series, .index = index});
}

void Recorder::note_init(const char* call, MPI_Comm comm, void* from, Row row, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  keep(request,
       {.is_persistent = true, .comm = number_of(comm), .call = call, .from = from, .row = std::move(row)});
}

void Recorder::begin_transfer(const Operation& transfer, double seconds) {
  Epoch& epoch = epochs_[transfer.comm];
  ++epoch.open;
  ended_.erase(transfer.comm);
  epoch.seconds += seconds;
  if (transfer.destination >= 0 && transfer.bytes > 0) epoch.bytes[transfer.destination] += transfer.bytes;
}

void Recorder::end_transfer(const Operation& transfer) {
  if (--epochs_[transfer.comm].open == 0) ended_.insert(transfer.comm);
}

void Recorder::note_transfer(MPI_Comm comm, int destination, std::int64_t bytes, double seconds,
                             MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const Operation& transfer = keep(request, {.is_active = true,
                                             .is_transfer = true,
                                             .comm = number_of(comm),
                                             .destination = destination,
                                             .bytes = bytes});
  begin_transfer(transfer, seconds);
}

void Recorder::note_transfer_init(MPI_Comm comm, int destination, std::int64_t bytes, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  keep(request, {.is_persistent = true,
                 .is_transfer = true,
                 .comm = number_of(comm),
                 .destination = destination,
                 .bytes = bytes});
}

void Recorder::note_blocking(MPI_Comm comm, int destination, std::int64_t bytes, double seconds) {
  const std::scoped_lock lock(mutex_);
  const auto epoch = epochs_.find(number_of(comm));
  if (epoch == epochs_.end() || (epoch->second.open == 0 && !ended_.contains(epoch->first))) return;
  epoch->second.seconds += seconds;
  if (destination >= 0 && bytes > 0) epoch->second.bytes[destination] += bytes;
}

void Recorder::start(MPI_Request request, void* from, double seconds) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end() || !found->second.is_persistent || found->second.is_active) return;
  Operation& operation = found->second;
  operation.is_active = true;
  operation.number = ++num_started_;
  if (operation.is_transfer)
    begin_transfer(operation, seconds);
  else
    std::tie(operation.series, operation.index) =
        add(operation.call, operation.comm, from, operation.row, seconds);
}

/// If a call waited for several requests, they share its time equally.
void Recorder::complete(const std::vector<MPI_Request>& requests, std::int64_t begun_after, void* from,
                        double seconds) {
  const std::scoped_lock lock(mutex_);
  std::vector<decltype(pending_)::iterator> done;
  for (const MPI_Request request : requests) {
    const auto found = pending_.find(request);
    if (found == pending_.end() || !found->second.is_active || found->second.number > begun_after) continue;
    found->second.is_active = false;  // the handle may occur twice in the list
    done.push_back(found);
  }
  const double share_s = seconds / static_cast<double>(done.size());
  for (const auto& one : done) {
    const Operation& operation = one->second;
    if (operation.is_transfer) {
      epochs_[operation.comm].seconds += share_s;
      end_transfer(operation);
    } else {
      Series& series = series_[operation.series];
      series.total_s += share_s;
      if (operation.index < series.seconds.size())
        series.seconds[operation.index] += static_cast<float>(share_s);
    }
    if (!operation.is_persistent) pending_.erase(one);
  }
  num_pending_ = static_cast<std::int64_t>(pending_.size());
  // is_any is right even if a new operation of another thread already has the handle, because the handle is
  // only reused after this operation has ended.
  const bool is_any = std::ranges::any_of(requests, [](MPI_Request each) { return each != null_request(); });
  if (is_any && !ended_.empty()) close_epochs(from);
}

void Recorder::close_epochs(void* from) {
  for (const int comm : ended_) {
    const Epoch epoch = std::exchange(epochs_[comm], {});
    Row row;
    for (const auto& [to, bytes] : epoch.bytes) row.insert(row.end(), {to, bytes});
    add("point to point", comm, from, std::move(row), epoch.seconds);
  }
  ended_.clear();
}

/// Ends the exchanges for which the program has not waited.
void Recorder::end_unclosed() {
  for (const auto& [comm, epoch] : epochs_)
    if (!epoch.bytes.empty()) ended_.insert(comm);
  close_epochs(nullptr);
}

void Recorder::forget(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end()) return;
  if (found->second.is_active && found->second.is_transfer) end_transfer(found->second);
  pending_.erase(found);
  num_pending_ = static_cast<std::int64_t>(pending_.size());
}

}  // namespace nuice::run
