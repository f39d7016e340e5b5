// SPDX-License-Identifier: BSD-3-Clause
#include "device/indexed_copy.hpp"

#include <algorithm>
#include <array>

namespace nuice::device {

IndexedCopy::IndexedCopy(const Location& at, std::byte* base, std::size_t unit, std::vector<Index> index)
    : at_(at), base_(base), unit_(unit), num_units_(index.size()) {
  const Current current(at_);
  kernels_ = &kernels_of(at_);
  while (unit_sizes[row_] != unit) ++row_;
  if (index.empty()) return;
  if (!kernels_->are_there()) {
    find_runs(index);
    return;
  }
  const std::size_t bytes = index.size() * sizeof(Index);
  index_ = DeviceMemory(at_, bytes);
  const Stream stream(at_);
  const Event copied(at_);
  stream.copy(index_.get(), index.data(), bytes);
  copied.record(stream.get());
  copied.wait();
}

void IndexedCopy::find_runs(std::span<const Index> index) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    std::byte* const at = base_ + index[i] * unit_;
    if (!runs_.empty() && runs_.back().at + runs_.back().bytes == at)
      runs_.back().bytes += unit_;
    else
      runs_.push_back({i * unit_, at, unit_});
  }
}

template <typename Act>
void IndexedCopy::for_runs(std::size_t begin, std::size_t end, Act&& act) const {
  auto run = std::ranges::upper_bound(runs_, begin, {}, &Run::begin);
  if (run != runs_.begin()) --run;
  for (; run != runs_.end() && run->begin < end; ++run) {
    const std::size_t from = std::max(begin, run->begin);
    const std::size_t to = std::min(end, run->begin + run->bytes);
    if (from < to) act(run->at + (from - run->begin), from, to - from);
  }
}

void IndexedCopy::launch(Handle kernel, const std::byte* from, std::byte* to, std::size_t begin,
                         std::size_t end, const Stream& stream) const {
  constexpr unsigned threads = 256;
  constexpr std::uint64_t most_blocks = 8192;
  std::uint64_t count = (end - begin) / unit_;
  if (count == 0) return;
  const auto* index = static_cast<const std::byte*>(index_.get()) + begin / unit_ * sizeof(Index);
  const auto blocks = static_cast<unsigned>(std::min((count + threads - 1) / threads, most_blocks));
  std::array<void*, 4> arguments = {static_cast<void*>(&from), static_cast<void*>(&to),
                                    static_cast<void*>(&index), static_cast<void*>(&count)};
  must(
      at_.driver->api.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream.get(), arguments.data(), nullptr),
      *at_.driver, "start a kernel");
}

void IndexedCopy::gather(std::byte* dense, std::size_t begin, std::size_t end, const Stream& stream) const {
  if (runs_.empty())
    launch(kernels_->gather[row_], base_, dense + begin, begin, end, stream);
  else
    for_runs(begin, end, [&](const std::byte* at, std::size_t offset, std::size_t bytes) {
      stream.copy(dense + offset, at, bytes);
    });
}

void IndexedCopy::scatter(const std::byte* dense, std::size_t begin, std::size_t end,
                          const Stream& stream) const {
  if (runs_.empty())
    launch(kernels_->scatter[row_], dense + begin, base_, begin, end, stream);
  else
    for_runs(begin, end, [&](std::byte* at, std::size_t offset, std::size_t bytes) {
      stream.copy(at, dense + offset, bytes);
    });
}

}  // namespace nuice::device
