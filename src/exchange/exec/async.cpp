// SPDX-License-Identifier: BSD-3-Clause
// Executor async: all sends at once, in the order of the table (AC: 000 fig. 4, 003 fig. 2).
//
//   post all receives; start all sends; wait for all
//
// With AsyncOptions::max_sends at most so many sends are under way, each of them synchronous, so that a receiver that is
// slow to post cannot overflow (strip mining, 003 s.3.1): whenever one is received, the next one takes its place.
#include <algorithm>
#include <utility>

#include "exchange/exec/rows.hpp"
#include "exchange/exec/steps.hpp"
#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

class StripMined : public Steps {
 public:
  StripMined(TableRequests requests, std::vector<RequestCount> ends, Arrivals& arrivals, int max_sends)
      : Steps(std::move(requests), std::move(ends), arrivals, false),
        running_(std::min(static_cast<std::size_t>(max_sends), requests_.sends.size()), MPI_REQUEST_NULL) {}

 private:
  void begin_step() override {
    next_ = running_.size();
    start_in_order(0, next_);
    for (std::size_t i = 0; i < running_.size(); ++i) running_[i] = requests_.sends[i];
  }

  bool is_step_done(bool block) override { return are_all_sent(block) && Steps::is_step_done(block); }

  void start_in_order(std::size_t begin, std::size_t end) {
    requests_.await(begin, end);
    gather(requests_.packed_sends, begin, end);
    requests_.sends.start(begin, end);
    note_sends(begin, end);
  }

  bool are_all_sent(bool block) {
    const int places = static_cast<int>(running_.size());
    while (true) {
      int place = MPI_UNDEFINED;
      int found = 1;
      if (block) {
        must(MPI_Waitany(places, running_.data(), &place, MPI_STATUS_IGNORE), "MPI_Waitany");
      } else {
        must(MPI_Testany(places, running_.data(), &place, &found, MPI_STATUS_IGNORE), "MPI_Testany");
      }
      if (found == 0) return false;
      if (place == MPI_UNDEFINED) return true;  // no place holds a send that is under way
      refill(static_cast<std::size_t>(place));
    }
  }

  void refill(std::size_t place) {
    const bool has_more = next_ < requests_.sends.size();
    if (has_more) start_in_order(next_, next_ + 1);
    running_[place] = has_more ? requests_.sends[next_++] : MPI_REQUEST_NULL;
  }

  void watch_sends() override {
    for (std::size_t place = 0; place < running_.size(); ++place) watch(running_[place], true, place);
  }
  void take_sent(std::size_t place, MPI_Request /*request*/) override { refill(place); }

  std::vector<MPI_Request> running_;  // by place
  std::size_t next_ = 0;              // of the sends: the next to start
};

}  // namespace

std::unique_ptr<Run> bind_async(const Binding& given) {
  Binding binding = given;
  if (binding.settings.piece_bytes == 0) {
    binding.settings.piece_bytes = binding.settings.chunk_bytes;
    binding.settings.most_pieces = most_chunks;
  }
  const int max_sends = binding.settings.max_sends;
  TableRequests requests = make_requests(binding, max_sends > 0);
  std::vector<RequestCount> ends = one_step(requests.ends);
  std::unique_ptr<Run> run;
  if (max_sends > 0 && requests.sends.size() > 0) {
    run = std::make_unique<StripMined>(std::move(requests), std::move(ends), binding.arrivals, max_sends);
  } else {
    run = std::make_unique<Steps>(std::move(requests), std::move(ends), binding.arrivals);
  }
  return run;
}

}  // namespace nuice::mpi
