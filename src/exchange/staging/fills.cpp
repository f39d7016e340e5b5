// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/fills.hpp"

namespace nuice::mpi {

Fills::Fills(const device::Location& at, const Mirror& sends, Bytes chunk_bytes) : sends_(sends) {
  if (!at.is_on_device()) return;
  const device::Current current(at);
  stream_ = device::Stream(at);
  ends_ = ends_of_copies(sends.bytes(), chunk_bytes);
  for (std::size_t i = 0; i < ends_.size(); ++i) filled_.emplace_back(at);
}

void Fills::begin() {
  num_filled_ = 0;
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    sends_.fill(i == 0 ? 0 : ends_[i - 1], ends_[i], stream_);
    filled_[i].record(stream_.get());
  }
}

void Fills::await(Bytes end) {
  for (; filled_bytes() < end; ++num_filled_) filled_[num_filled_].wait();
}

bool Fills::is_filled(Bytes end) {
  while (filled_bytes() < end) {
    if (!filled_[num_filled_].is_over()) return false;
    ++num_filled_;
  }
  return true;
}

void Fills::precede(const device::Stream& other) const {
  if (any()) other.wait_for(filled_.back().get());
}

void Fills::await_all() const {
  if (any()) filled_.back().wait();
}

}  // namespace nuice::mpi
