// SPDX-License-Identifier: BSD-3-Clause
#include "drs/mpi/rma_run.hpp"

#include <string>
#include <utility>

#include "am/endpoint_core.hpp"
#include "am/mpi/host.hpp"
#include "core/text/names.hpp"
#include "mpi/call.hpp"
#include "nuice/core/error.hpp"

namespace nuice::drs::mpi {

using nuice::mpi::is_finalized;
using nuice::mpi::must;

Words::Words(const nuice::mpi::Communicator& comm, const am::Endpoint& endpoint, double watchdog_s)
    : guard_(comm.rank(), watchdog_s), endpoint_(endpoint) {
  const am::mpi::Guard::Call call(guard_, "MPI_Win_allocate");
  guard_.watch(*am::mpi::Host(comm).neighbours);
  std::int64_t* word = nullptr;
  must(MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, comm.get(), static_cast<void*>(&word),
                        &window_),
       "MPI_Win_allocate");
  must(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  *word = 0;
  must(MPI_Win_sync(window_), "MPI_Win_sync");
  must(MPI_Barrier(comm.get()), "MPI_Barrier");
}

Words::~Words() {
  if (is_finalized() || endpoint_.has_failed()) return;
  const am::mpi::Guard::Call call(guard_, "MPI_Win_free");
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

std::int64_t Words::compare_and_swap(Rank rank, std::int64_t expected, std::int64_t desired) {
  const am::mpi::Guard::Call call(guard_, "MPI_Win_flush");
  std::int64_t before = -1;
  must(MPI_Compare_and_swap(&desired, &expected, &before, MPI_INT64_T, rank, 0, window_),
       "MPI_Compare_and_swap");
  must(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  return before;
}

RmaRun::RmaRun(std::shared_ptr<void> keeps_alive, ActiveRuns& active, Messages messages,
               const Options& options)
    : Run(std::move(keeps_alive), active, std::move(messages), options) {}

RmaRun::~RmaRun() = default;

void RmaRun::connect(MPI_Comm parent, double watchdog_s) {
  comm_ = std::make_unique<const nuice::mpi::Communicator>(parent, watchdog_s);
  locks_ = std::make_unique<Words>(*comm_, *active_.endpoint, watchdog_s);
}

void RmaRun::make_requests() {
  using Mode = nuice::mpi::Requests::Mode;
  const auto add = [this](Mode mode, std::span<const std::byte> data, Rank src, Rank dst) {
    try {
      const bool is_send = mode != Mode::receive;
      (is_send ? sends_ : receives_)
          .add(mode, {const_cast<std::byte*>(data.data()), std::ssize(data), MPI_BYTE}, is_send ? dst : src,
               0, comm_->get());
    } catch (const Error& error) {
      throw Error(error.code(), pair_name(src, dst) + ": " + error.what());
    }
  };
  for (const Messages::Incoming& in : messages_.in) add(Mode::receive, in.data, in.src, comm_->rank());
  for (const Messages::Outgoing& out : messages_.out)
    add(Mode::synchronous_send, out.data, comm_->rank(), out.dst);
}

bool RmaRun::is_over() const { return is_finalized(); }

void RmaRun::begin() {
  all_arrived_ = receives_.size() == 0;
  unsent_ = sends_.size();
  is_sent_.assign(sends_.size(), 0);
  sending_ = -1;
  receives_.start_unordered(0, receives_.size());
  // The word is 2 (g - 1), or one more if the last sender has not released the lock yet. After this release
  // the word does not change, because ranks that ask now ask for round g.
  const auto opened = static_cast<std::int64_t>(2 * round_);
  std::int64_t expected = opened - 2;
  while (true) {
    const std::int64_t before = locks_->compare_and_swap(comm_->rank(), expected, opened);
    if (before == expected) break;
    expected = before;
  }
}

void RmaRun::try_next() {
  const int message = next_to_ask();
  if (message < 0) return;
  const auto index = static_cast<std::size_t>(message);
  const auto is_free = static_cast<std::int64_t>(2 * round_);
  ++counters_.inquiries;
  if (locks_->compare_and_swap(messages_.out[index].dst, is_free, is_free + 1) == is_free) {
    sends_.start(index, index + 1);
    sending_ = message;
  } else {
    ++counters_.refusals;
    ask_again_later(static_cast<std::uint32_t>(message));
  }
}

void RmaRun::release() {
  const auto index = static_cast<std::size_t>(sending_);
  if (!sends_.test(index, index + 1)) return;
  const auto is_free = static_cast<std::int64_t>(2 * round_);
  // Finds another value in the word only if the receiver has entered the next round.
  (void)locks_->compare_and_swap(messages_.out[index].dst, is_free + 1, is_free);
  is_sent_[index] = 1;
  ++num_moved_;
  sending_ = -1;
  --unsent_;
}

void RmaRun::append_waited_for(std::vector<Rank>& ranks) const {
  for (std::size_t i = 0; i < is_sent_.size(); ++i)
    if (is_sent_[i] == 0) ranks.push_back(messages_.out[i].dst);
  if (all_arrived_) return;
  for (const Messages::Incoming& in : messages_.in) ranks.push_back(in.src);
}

/// After an error of MPI, gives the endpoint up, because nothing more can be expected of the other ranks, and
/// they must not wait for this rank.
bool RmaRun::step(am::FirstError& /*held*/) {
  try {
    return step_in_mpi();
  } catch (const Error& error) {
    active_.endpoint->core().give_up_after(error);
  }
}

bool RmaRun::step_in_mpi() {
  if (!all_arrived_) {
    all_arrived_ = receives_.test(0, receives_.size());
    if (all_arrived_) ++num_moved_;
  }
  if (sending_ >= 0) {
    release();
  } else {
    try_next();
  }
  return all_arrived_ && unsent_ == 0;
}

}  // namespace nuice::drs::mpi
