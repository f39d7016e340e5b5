// SPDX-License-Identifier: BSD-3-Clause
#include "bench/tables.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "bench/harness.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::am_bench {
namespace {

std::size_t by_rank(Rank rank) { return static_cast<std::size_t>(rank); }

void fill_with_values(TableCase& data) {
  for (std::uint32_t i = 0; i < data.table.size(); ++i)
    data.table[i] = TableCase::value_at(mpi::world_rank(), i);
}

}  // namespace

Hosts hosts_of_world() {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mpi::world_rank(), MPI_INFO_NULL, &host);
  Rank lowest = mpi::world_rank();
  MPI_Bcast(&lowest, 1, MPI_INT32_T, 0, host);
  MPI_Comm_free(&host);
  std::vector<Rank> host_of(static_cast<std::size_t>(mpi::world_size()));
  MPI_Allgather(&lowest, 1, MPI_INT32_T, host_of.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);
  return Hosts(std::move(host_of));
}

TableCase::TableCase(std::size_t places, std::size_t updates) : table(places) {
  Random random(static_cast<std::uint64_t>(mpi::world_rank()) + 1);
  for (std::size_t i = 0; i < updates; ++i) {
    owners.push_back(static_cast<Rank>(random.below(static_cast<std::uint64_t>(mpi::world_size()))));
    offsets.push_back(static_cast<std::uint32_t>(random.below(places)));
  }
}

void check_histogram(const TableCase& data) {
  std::uint64_t sums[2] = {data.owners.size(), 0};
  for (const std::uint32_t count : data.table) sums[1] += count;
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (sums[0] != sums[1])
    throw Error(ErrorCode::mismatch,
                "a histogram of " + std::to_string(sums[0]) + " updates counts " + std::to_string(sums[1]));
}

void check_gathered(const TableCase& data, const std::vector<std::uint32_t>& found) {
  mpi::all_or_none(MPI_COMM_WORLD, [&] {  // all ranks leave together, because endpoints are destroyed
                                          // together
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != TableCase::value_at(data.owners[i], data.offsets[i]))
        throw Error(ErrorCode::mismatch, "update " + std::to_string(i) + " of rank " +
                                             std::to_string(mpi::world_rank()) + " read a wrong value");
  });
}

// --- Active messages ---

AmTables::AmTables(const am::mpi::Options& options, std::size_t buffer_bytes, bool two_hops)
    : ep_(am::mpi::connect(MPI_COMM_WORLD, options)),
      answered_(by_rank(ep_.num_ranks())),
      next_(answered_.size()) {
  if (two_hops) relay_ = std::make_unique<am::HostRelay>(ep_, hosts_of_world());
  add_ = ep_.on_items<At>("add", [this](am::Context&, std::span<const At> items) {
    for (const At& at : items) ++data_->table[at.offset];
  });
  // Answers come back in the order of the questions, so messages need no numbers.
  ask_ = ep_.on_items<At>("ask", [this](am::Context& from, std::span<const At> items) {
    const std::uint32_t* const table = data_->table.data();
    answers_->push_all(from.source(), items.size(),
                       [&](std::size_t i) noexcept { return Value{table[items[i].offset]}; });
  });
  answer_ = ep_.on_items<Value>("answer", [this](am::Context& from, std::span<const Value> values) {
    std::vector<Value>& of_rank = answered_[by_rank(from.source())];
    of_rank.insert(of_rank.end(), values.begin(), values.end());
  });
  ep_.seal();
  const am::CoalescerOptions buffers{.buffer_bytes = buffer_bytes, .relay = relay_.get()};
  updates_.emplace(ep_, add_, buffers);
  questions_.emplace(ep_, ask_, buffers);
  answers_.emplace(ep_, answer_, buffers);
}

double AmTables::histogram(TableCase& data) {
  data_ = &data;
  std::ranges::fill(data.table, 0);
  ep_.quiesce();
  const double seconds = time_work(true, static_cast<double>(data.owners.size()), [&] {
    updates_->push_each(
        data.owners.size(), [&](std::size_t i) noexcept { return data.owners[i]; },
        [&](std::size_t i) noexcept { return At{data.offsets[i]}; });
    ep_.quiesce();
  });
  check_histogram(data);
  return seconds;
}

double AmTables::index_gather(TableCase& data) {
  data_ = &data;
  fill_with_values(data);
  found_.assign(data.owners.size(), 0);
  for (std::vector<Value>& of_rank : answered_) of_rank.clear();
  ep_.quiesce();
  const double seconds = time_work(true, static_cast<double>(data.owners.size()), [&] {
    questions_->push_each(
        data.owners.size(), [&](std::size_t i) noexcept { return data.owners[i]; },
        [&](std::size_t i) noexcept { return At{data.offsets[i]}; });
    ep_.quiesce();
    for (std::size_t rank = 0; rank < next_.size(); ++rank) next_[rank] = answered_[rank].data();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Value*& next = next_[by_rank(data.owners[i])];
      const Value* const at = next;
      next = at + 1;
      found_[i] = at->value;
    }
  });
  check_gathered(data, found_);
  return seconds;
}

// --- Bare MPI ---

std::size_t MpiTables::Buckets::place() {
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  return static_cast<std::size_t>(begins.back()) + static_cast<std::size_t>(counts.back());
}

MpiTables::MpiTables(TableCase& data)
    : data_(data),
      out_(static_cast<std::size_t>(mpi::world_size())),
      in_(static_cast<std::size_t>(mpi::world_size())),
      sorted_(data.owners.size()),
      order_(data.owners.size()),
      found_(data.owners.size()) {}

std::size_t MpiTables::exchange_offsets(std::size_t from, std::size_t to) {
  std::ranges::fill(out_.counts, 0);
  for (std::size_t i = from; i < to; ++i) ++out_.counts[by_rank(data_.owners[i])];
  out_.place();
  std::vector<int> next = out_.begins;
  for (std::size_t i = from; i < to; ++i) {
    const auto at = static_cast<std::size_t>(next[by_rank(data_.owners[i])]++);
    sorted_[at] = data_.offsets[i];
    order_[at] = static_cast<std::uint32_t>(i);
  }
  MPI_Alltoall(out_.counts.data(), 1, MPI_INT, in_.counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  const std::size_t num_in = in_.place();
  if (came_.size() < num_in) came_.resize(num_in);
  MPI_Alltoallv(sorted_.data(), out_.counts.data(), out_.begins.data(), MPI_UINT32_T, came_.data(),
                in_.counts.data(), in_.begins.data(), MPI_UINT32_T, MPI_COMM_WORLD);
  return num_in;
}

void MpiTables::answer(std::size_t num_in, std::size_t from, std::size_t to) {
  if (values_.size() < num_in) values_.resize(num_in);
  for (std::size_t i = 0; i < num_in; ++i) values_[i] = data_.table[came_[i]];
  answers_.resize(std::max(answers_.size(), to - from));
  MPI_Alltoallv(values_.data(), in_.counts.data(), in_.begins.data(), MPI_UINT32_T, answers_.data(),
                out_.counts.data(), out_.begins.data(), MPI_UINT32_T, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < to - from; ++i) found_[order_[i]] = answers_[i];
}

/// Calls step(from, to) until no rank has updates left. A round ends when the buffer for some rank is full.
template <typename Step>
void MpiTables::in_rounds(std::size_t per_buffer, Step&& step) {
  const std::size_t all = data_.owners.size();
  std::vector<std::size_t> filled(out_.counts.size());
  std::size_t at = 0;
  for (int is_left = 1; is_left != 0;) {
    std::ranges::fill(filled, 0);
    const std::size_t from = at;
    while (at < all && filled[by_rank(data_.owners[at])] < per_buffer) ++filled[by_rank(data_.owners[at++])];
    step(from, at);
    is_left = at < all ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_left, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
}

double MpiTables::histogram_in_rounds(std::size_t buffer_bytes) {
  std::ranges::fill(data_.table, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = time_work(true, static_cast<double>(data_.owners.size()), [&] {
    const auto step = [&](std::size_t from, std::size_t to) {
      const std::size_t num_in = exchange_offsets(from, to);
      for (std::size_t i = 0; i < num_in; ++i) ++data_.table[came_[i]];
    };
    buffer_bytes == SIZE_MAX ? step(0, data_.owners.size()) : in_rounds(buffer_bytes / 4, step);
    MPI_Barrier(MPI_COMM_WORLD);  // as quiesce(): all updates are counted on all ranks
  });
  check_histogram(data_);
  return seconds;
}

double MpiTables::index_gather_in_rounds(std::size_t buffer_bytes) {
  fill_with_values(data_);
  std::ranges::fill(found_, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = time_work(true, static_cast<double>(data_.owners.size()), [&] {
    const auto step = [&](std::size_t from, std::size_t to) { answer(exchange_offsets(from, to), from, to); };
    buffer_bytes == SIZE_MAX ? step(0, data_.owners.size()) : in_rounds(buffer_bytes / 4, step);
  });
  check_gathered(data_, found_);
  return seconds;
}

}  // namespace nuice::am_bench
