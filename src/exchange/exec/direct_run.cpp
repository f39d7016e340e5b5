// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/direct_run.hpp"

#include <algorithm>
#include <utility>

#include "core/text/names.hpp"
#include "mpi/call.hpp"
#include "mpi/communicator.hpp"
#include "mpi/failure.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// Sorts messages by the distance of their partner from this rank, upwards (ascending) or downwards. Messages
/// with the same partner keep their order.
void sort_from(Rank rank, Rank num_ranks, bool ascending, std::vector<DirectMessage>& messages) {
  std::ranges::stable_sort(messages, {}, [=](const DirectMessage& message) {
    const Rank ahead = (message.partner - rank + num_ranks - 1) % num_ranks;
    return ascending || ahead + 1 == num_ranks ? ahead : num_ranks - 2 - ahead;
  });
}

[[noreturn]] void fail_on_sizes(Rank src, Rank dst, const std::string& sent, Bytes expected) {
  throw Error(ErrorCode::mismatch, pair_name(src, dst) + ": rank " + std::to_string(src) + " sends " + sent +
                                       " bytes, but rank " + std::to_string(dst) + " expects " +
                                       std::to_string(expected));
}

}  // namespace

DirectRun::DirectRun(std::shared_ptr<const Communicator> comm, std::shared_ptr<bool> is_broken,
                     std::vector<DirectMessage> sends, std::vector<DirectMessage> receives,
                     Arrivals* arrivals)
    : comm_(std::move(comm)), is_broken_(std::move(is_broken)), arrivals_(arrivals) {
  sort_from(comm_->rank(), comm_->num_ranks(), false, receives);
  sort_from(comm_->rank(), comm_->num_ranks(), true, sends);
  messages_.reserve(receives.size() + sends.size());
  for (const DirectMessage& message : receives) add(message, false);
  num_receives_ = messages_.size();
  for (const DirectMessage& message : sends) add(message, true);
  indices_.resize(messages_.size());
  statuses_.resize(messages_.size());
}

void DirectRun::add(const DirectMessage& message, bool is_send) {
  const Bytes bytes = message.segment.count * size_of(message.segment.type);
  if (bytes == 0) return;
  const bool is_noted = !is_send && arrivals_ != nullptr;
  if (is_noted) arrivals_->expect_pieces(message.partner, 1);
  messages_.push_back({.partner = message.partner,
                       .bytes = bytes,
                       .arrival = is_noted ? arrivals_->index_of(message.partner) : 0});
  requests_.add(is_send ? Requests::Mode::send : Requests::Mode::receive, message.segment, message.partner,
                tag, comm_->get());
}

void DirectRun::require_whole() const {
  if (*is_broken_) throw Error(ErrorCode::state, "an exchange on this communicator has failed before");
}

void DirectRun::start() {
  require_whole();
  for (Message& message : messages_) message.is_done = false;
  num_left_ = messages_.size();
  first_left_ = 0;
  requests_.start(0, requests_.size());
}

/// Throws the error of a request. If a message is longer than its receive, MPI's error becomes a mismatch.
void DirectRun::check_code(std::size_t i, int code, const char* call) const {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE && i < num_receives_)
    fail_on_sizes(messages_[i].partner, comm_->rank(), "more", messages_[i].bytes);
  if (error_class != MPI_SUCCESS && error_class != MPI_ERR_PENDING) must(code, call);
}

void DirectRun::fail_by_status(int code, const char* call, std::size_t count, bool are_all) const {
  for (std::size_t k = 0; code == MPI_ERR_IN_STATUS && k < count; ++k)
    check_code(are_all ? k : static_cast<std::size_t>(indices_[k]), statuses_[k].MPI_ERROR, call);
  fail(code, call);
}

void DirectRun::take(std::size_t i, const MPI_Status& status) {
  Message& message = messages_[i];
  if (std::exchange(message.is_done, true)) return;
  --num_left_;
  ++num_events_;
  if (i >= num_receives_) return;
  MPI_Count came = 0;
  must(MPI_Get_elements_x(&status, MPI_BYTE, &came), "MPI_Get_elements_x");
  if (came != message.bytes)
    fail_on_sizes(message.partner, comm_->rank(), std::to_string(came), message.bytes);
  if (arrivals_ != nullptr) arrivals_->land_piece(message.arrival);
}

/// Takes the messages that have completed. Returns whether there were any.
bool DirectRun::take_some(bool block) {
  const auto call = block ? MPI_Waitsome : MPI_Testsome;
  const char* const name = block ? "MPI_Waitsome" : "MPI_Testsome";
  int found = 0;
  const int code =
      call(static_cast<int>(requests_.size()), requests_.data(), &found, indices_.data(), statuses_.data());
  const auto count = static_cast<std::size_t>(std::max(found, 0));
  if (code != MPI_SUCCESS) fail_by_status(code, name, count, false);
  for (std::size_t k = 0; k < count; ++k) take(static_cast<std::size_t>(indices_[k]), statuses_[k]);
  return count > 0;
}

/// Takes completed messages in order. A test of one message also lets MPI progress on the others, and costs
/// less than a test of all messages.
bool DirectRun::take_in_order() {
  for (; first_left_ < messages_.size(); ++first_left_) {
    if (messages_[first_left_].is_done) continue;
    int is_done = 0;
    MPI_Status status;
    check_code(first_left_, MPI_Test(requests_.data() + first_left_, &is_done, &status), "MPI_Test");
    if (is_done == 0) return false;
    take(first_left_, status);
  }
  return true;
}

bool DirectRun::advance(bool block) {
  require_whole();
  if (!block) return take_in_order();
  if (num_left_ == 0) return true;
  const int code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses_.data());
  if (code != MPI_SUCCESS) fail_by_status(code, "MPI_Waitall", requests_.size(), true);
  for (std::size_t i = 0; i < messages_.size(); ++i) take(i, statuses_[i]);
  return true;
}

bool DirectRun::next(bool block) {
  require_whole();
  while (num_left_ > 0) {
    const bool may_wait = block && !arrivals_->any();
    if (!take_some(may_wait) && !may_wait) return false;
    if (arrivals_->any()) return num_left_ == 0;
  }
  return true;
}

std::string DirectRun::waits_for() const {
  std::vector<Rank> ranks;
  for (const Message& message : messages_)
    if (!message.is_done) ranks.push_back(message.partner);
  return names_of(ranks);
}

void DirectRun::cancel() noexcept {
  *is_broken_ = true;
  requests_.cancel_receives();
}

}  // namespace nuice::mpi
