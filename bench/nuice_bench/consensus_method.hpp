// SPDX-License-Identifier: BSD-3-Clause
// NBX, nonblocking consensus (Hoefler, Siebert, Lumsdaine: Scalable communication protocols for dynamic
// sparse data exchange, PPoPP 2010): receivers do not know their senders. A rank sends synchronously and
// receives all messages that come. When its own messages have been received it enters a nonblocking barrier.
// When the barrier is complete no further message can come.
#pragma once

#include <algorithm>
#include <climits>

#include "kit/timing.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

class ConsensusMethod : public Method {
 public:
  explicit ConsensusMethod(Payload& payload) : payload_(payload) {
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      for (const Messages* side : {&payload.send, &payload.receive})
        for (const Partner& partner : side->partners)
          if (partner.bytes > INT_MAX) throw Error(ErrorCode::limit, "a message has more than INT_MAX bytes");
      requests_.reserve(payload.send.partners.size());
    });
    planning.total_s = kit::time_batch([&] { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); });
  }
  ConsensusMethod(const ConsensusMethod&) = delete;
  ConsensusMethod& operator=(const ConsensusMethod&) = delete;
  ~ConsensusMethod() override { MPI_Comm_free(&comm_); }

  void run() override {
    tag_ = 1 - tag_;  // a rank that has finished may begin the next run while others still receive
    send_all();
    MPI_Request barrier = MPI_REQUEST_NULL;
    int done = 0;
    while (done == 0) {
      receive_one();
      if (barrier != MPI_REQUEST_NULL) {
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        continue;
      }
      int sent = 0;
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &sent, MPI_STATUSES_IGNORE);
      if (sent != 0) MPI_Ibarrier(comm_, &barrier);
    }
  }

 private:
  void send_all() {
    requests_.clear();
    for (std::size_t i = 0; i < payload_.send.partners.size(); ++i) {
      const auto message = payload_.send.message(i);
      MPI_Issend(message.data(), static_cast<int>(message.size()), MPI_BYTE, payload_.send.partners[i].rank,
                 tag_, comm_, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
  }

  void receive_one() {
    int found = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &found, &status);
    if (found == 0) return;
    const auto& sources = payload_.receive.partners;
    const auto at = std::ranges::lower_bound(sources, status.MPI_SOURCE, {}, &Partner::rank);
    const auto into = payload_.receive.message(static_cast<std::size_t>(at - sources.begin()));
    MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_BYTE, status.MPI_SOURCE, tag_, comm_,
             MPI_STATUS_IGNORE);
  }

  Payload& payload_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  std::vector<MPI_Request> requests_;  // never grows beyond what the constructor reserved
};

}  // namespace nuice::bench
