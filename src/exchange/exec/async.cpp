// SPDX-License-Identifier: BSD-3-Clause
// Executor async: all sends at once, in the order of the table (AC: 000 fig. 4, 003 fig. 2).
//
//   post all receives; start all sends; wait for all
//
// With AsyncOptions::max_sends, at most this number of sends is active. Each of them is a synchronous send,
// so a receiver that posts its receives late is not flooded (strip mining, 003 s.3.1). Whenever a send is
// received, the next send starts.
#include <algorithm>
#include <utility>

#include "exchange/exec/rows.hpp"
#include "exchange/exec/steps.hpp"

namespace nuice::mpi {
namespace {

class StripMined : public Steps {
 public:
  StripMined(TableRequests requests, std::vector<RequestCount> ends, Arrivals& arrivals, int max_sends)
      : Steps(std::move(requests), std::move(ends), arrivals, false),
        max_sends_(static_cast<std::size_t>(max_sends)),
        is_sent_(made_.send_to.size()) {}

 private:
  void begin_step() override {
    std::ranges::fill(is_sent_, char{0});
    first_ = 0;
    next_ = std::min(max_sends_, is_sent_.size());
    start_sends(0, next_);
  }

  bool is_step_done(bool block) override { return are_all_sent(block) && Steps::is_step_done(block); }

  bool are_all_sent(bool block) {
    while (first_ < is_sent_.size()) {
      bool is_idle = false;
      const int sent =
          requests_.take_one(block, place_of_send(first_), place_of_send(next_ - 1) + 1, is_idle);
      if (is_idle) return true;
      if (sent < 0) return false;
      take_sent(first_ + static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Starts the next send, if there is one.
  void take_sent(std::size_t index) override {
    is_sent_[index] = 1;
    while (first_ < next_ && is_sent_[first_] != 0) ++first_;
    if (next_ == is_sent_.size()) return;
    start_sends(next_, next_ + 1);
    ++next_;
  }

  std::size_t max_sends_;
  std::vector<char> is_sent_;
  // Sends before index first_ are complete; sends from index next_ on have not started.
  std::size_t first_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Run> bind_async(const Binding& given) {
  Binding binding = given;
  if (RunSettings& settings = binding.settings; settings.piece_bytes == 0) {
    settings.piece_bytes = settings.chunk_bytes;
    settings.most_pieces = most_chunks;
  }
  const int max_sends = binding.settings.max_sends;
  TableRequests requests = make_requests(binding, max_sends > 0);
  std::vector<RequestCount> ends = one_step(requests.ends);
  std::unique_ptr<Run> run;
  if (max_sends > 0 && !requests.send_to.empty()) {
    run = std::make_unique<StripMined>(std::move(requests), std::move(ends), binding.arrivals, max_sends);
  } else {
    run = std::make_unique<Steps>(std::move(requests), std::move(ends), binding.arrivals);
  }
  return run;
}

}  // namespace nuice::mpi
