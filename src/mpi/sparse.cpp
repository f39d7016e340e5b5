// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/sparse.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "mpi/call.hpp"
#include "mpi/watch.hpp"

namespace nuice::mpi {

bool SparseExchange::receive_any(int tag) {
  int is_here = 0;
  MPI_Status status;
  must(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_.get(), &is_here, &status), "MPI_Iprobe");
  if (is_here == 0) return false;
  int count = 0;
  must(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  const std::size_t begin = in_.bytes.size();
  in_.bytes.resize(begin + static_cast<std::size_t>(count));
  must(MPI_Recv(in_.bytes.data() + begin, count, MPI_BYTE, status.MPI_SOURCE, tag, comm_.get(),
                MPI_STATUS_IGNORE),
       "MPI_Recv");
  in_.items.push_back({status.MPI_SOURCE, begin, in_.bytes.size()});
  return true;
}

namespace {

/// What MPI may be at work on until the end; left to it when nobody waits any more.
struct Pending {
  SparseExchange::Box out;
  std::vector<MPI_Request> sends;
  SparseExchange::Sums mine;
  SparseExchange::Sums all = {};
  MPI_Request consensus = MPI_REQUEST_NULL;

  void start(const Communicator& comm, int tag) {
    sends.assign(out.items.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const auto message = out.of(out.items[i]);
      must(MPI_Issend(message.data(), static_cast<int>(message.size()), MPI_BYTE, out.items[i].partner, tag,
                      comm.get(), &sends[i]),
           "MPI_Issend");
    }
  }
  /// Once all that this rank has written is received, it joins the sum. Returns whether all have.
  bool advance(const Communicator& comm) {
    int done = 0;
    if (consensus != MPI_REQUEST_NULL) {
      must(MPI_Test(&consensus, &done, MPI_STATUS_IGNORE), "MPI_Iallreduce");
      return done != 0;
    }
    must(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE), "MPI_Issend");
    if (done != 0)
      must(MPI_Iallreduce(mine.data(), all.data(), SparseExchange::num_sums, MPI_UINT64_T, MPI_SUM,
                          comm.get(), &consensus),
           "MPI_Iallreduce");
    return false;
  }
};

}  // namespace

const SparseExchange::Box& SparseExchange::run(Box out, Sums& sums) {
  const int tag = first_tag_ + turn_;
  turn_ = 1 - turn_;
  in_.clear();
  auto pending = std::make_unique<Pending>(Pending{std::move(out), {}, sums});
  Watch watch(comm_, "a sparse exchange");
  try {
    pending->start(comm_, tag);
    while (!pending->advance(comm_)) {
      while (receive_any(tag)) {
      }
      watch.look(std::ssize(in_.items));
      std::this_thread::yield();
    }
  } catch (...) {
    comm_.give_up();
    (void)pending.release();
    throw;
  }
  sums = pending->all;
  std::ranges::sort(in_.items, {}, &Item::partner);
  return in_;
}

}  // namespace nuice::mpi
