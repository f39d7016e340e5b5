// SPDX-License-Identifier: BSD-3-Clause
// A sum over the ranks says how many messages will come; so nobody has to confirm one, as in nonblocking consensus. Messages that have
// come are first only matched, and received where they belong once all are there.
#include "nuice/mpi/sparse_alltoallv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/text/names.hpp"
#include "exchange/calls/staged_messages.hpp"
#include "mpi/agree.hpp"
#include "mpi/attribute.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"
#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/exchanger.hpp"

namespace nuice::mpi {
namespace {

enum SparseTag : int { data_tag, bytes_tag };
/// Longer messages are announced by their size, and sent once all is announced: their receives are posted
/// first. About where MPI copies no more on the way (Open MPI's eager limit in shared memory).
constexpr Bytes most_at_once = 4096;
/// Messages begin where any type may lie.
constexpr auto alignment = static_cast<Bytes>(alignof(std::max_align_t));
/// More than the messages that any rank can receive; a rank whose arguments are wrong adds it. 2^22 ranks may
/// do so.
constexpr std::int64_t wrong = std::int64_t{1} << 40;

/// What is kept with a communicator.
struct SparseState {
  explicit SparseState(MPI_Comm parent) : comm(parent, 0), exchanger(parent) {}
  Communicator comm;
  Exchanger exchanger;
};

/// One message to come, once it is known.
struct Announced {
  Rank from;
  Bytes bytes;
  MPI_Message message;  // null of a long one
};

/// One call.
class SparseCall {
 public:
  SparseCall(const Communicator& comm, std::span<const Outgoing> sends)
      : comm_(comm), wrong_(attempt(comm.rank(), [&] { take(sends); })) {}

  Received run(Exchanger& exchanger) {
    const std::int64_t num_incoming = count();
    for (std::size_t i = 0; i < sends_.size(); ++i) send(i);
    Watch watch(comm_, "sparse_alltoallv()");
    while (std::ssize(announced_) < num_incoming) {
      if (announce())
        watch.found_something();
      else
        watch.found_nothing();
    }
    std::ranges::stable_sort(announced_, {}, &Announced::from);
    Received received = make_room();
    receive(received);
    if (!long_sends_.empty() || !long_receives_.empty()) exchanger.exchange(long_sends_, long_receives_);
    wait_all(comm_, requests_, "MPI_Isend");
    return received;
  }

 private:
  void take(std::span<const Outgoing> sends) {
    const std::string who = rank_name(comm_.rank()) + ": a message to ";
    for (const Outgoing& message : sends) {
      const std::string to = who + rank_name(message.to);
      if (message.to < 0 || message.to >= comm_.num_ranks())
        throw Error(ErrorCode::invalid_argument, to + " of " + std::to_string(comm_.num_ranks()));
      if (message.count < 0)
        throw Error(ErrorCode::invalid_argument, to + " has " + std::to_string(message.count) + " elements");
      if (message.count > 0 && message.type == MPI_DATATYPE_NULL)
        throw Error(ErrorCode::invalid_argument, to + " is of MPI_DATATYPE_NULL");
      if (message.count == 0 || size_of(message.type) == 0) continue;
      if (message.count > max_bytes / size_of(message.type))
        throw Error(ErrorCode::limit, to + " has more than 2^62 bytes");
      sends_.push_back(message);
    }
    staged_ = StagedMessages::of(sends_, {}, comm_.rank());
    if (staged_) {
      staged_->fetch();
      sends_ = staged_->sends();
    }
    sizes_.resize(sends_.size());
    requests_.assign(sends_.size(), MPI_REQUEST_NULL);
  }

  /// Collective. How many messages this rank receives.
  std::int64_t count() {
    std::vector<std::int64_t> ones(static_cast<std::size_t>(comm_.num_ranks()), wrong_ ? wrong : 0);
    for (const Outgoing& message : sends_) ++ones[static_cast<std::size_t>(message.to)];
    std::int64_t incoming = 0;
    reduce_scatter(comm_, ones.data(), &incoming, MPI_INT64_T, MPI_SUM);
    if (incoming >= wrong) agree(comm_, wrong_);
    return incoming;
  }

  void send(std::size_t i) {
    const Outgoing& message = sends_[i];
    sizes_[i] = message.count * size_of(message.type);
    if (sizes_[i] <= most_at_once) {
      must(MPI_Isend(message.data, static_cast<int>(message.count), message.type, message.to, data_tag,
                     comm_.get(), &requests_[i]),
           "MPI_Isend");
      return;
    }
    must(MPI_Isend(&sizes_[i], 1, MPI_INT64_T, message.to, bytes_tag, comm_.get(), &requests_[i]),
         "MPI_Isend");
    long_sends_.push_back(message);
  }

  /// Returns whether a message has come.
  bool announce() {
    int is_here = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    must(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &is_here, &message, &status), "MPI_Improbe");
    if (is_here == 0) return false;
    Announced next = {status.MPI_SOURCE, 0, message};
    if (status.MPI_TAG == bytes_tag) {
      must(MPI_Mrecv(&next.bytes, 1, MPI_INT64_T, &next.message, MPI_STATUS_IGNORE), "MPI_Mrecv");
      next.message = MPI_MESSAGE_NULL;
    } else {
      int bytes = 0;
      must(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      next.bytes = bytes;
    }
    announced_.push_back(next);
    return true;
  }

  Received make_room() const {
    Received received;
    Bytes end = 0;
    for (const Announced& each : announced_) {
      received.sources.push_back({each.from, each.bytes});
      received.offsets.push_back(end);
      end += (each.bytes + alignment - 1) / alignment * alignment;
    }
    received.data = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end));
    return received;
  }

  void receive(const Received& received) {
    for (std::size_t i = 0; i < announced_.size(); ++i) {
      auto& [from, bytes, message] = announced_[i];
      std::byte* const at = received.data.get() + received.offsets[i];
      if (message == MPI_MESSAGE_NULL)
        long_receives_.push_back({from, at, bytes});
      else
        must(MPI_Mrecv(at, static_cast<int>(bytes), MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    }
  }

  const Communicator& comm_;
  std::vector<Outgoing> sends_;
  std::unique_ptr<StagedMessages> staged_;  // from a device
  std::vector<Bytes> sizes_;
  std::vector<MPI_Request> requests_;
  std::vector<Announced> announced_;
  std::vector<Outgoing> long_sends_;
  std::vector<Incoming> long_receives_;
  Outcome wrong_;
};

}  // namespace

Received sparse_alltoallv(MPI_Comm comm, std::span<const Outgoing> sends) {
  check_parent(comm);
  auto& state = attribute_of<SparseState>(comm, [&] { return std::make_unique<SparseState>(comm); });
  return SparseCall(state.comm, sends).run(state.exchanger);
}

}  // namespace nuice::mpi
