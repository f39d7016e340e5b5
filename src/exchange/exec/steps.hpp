// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that proceed step by step, as most executors do. Executors differ in what a step is, and in what
// must have happened before the next step begins.
//
//   start:   start all receives; begin the first step by starting its sends
//   advance: when all sends and receives of the step are complete, begin the next step
//
// Why no rank waits forever: all receives are posted before anything else. So the sends of a rank's step p
// complete once their receivers have called start(). By induction over the steps: when all ranks have
// completed the steps before p, all ranks send in step p, so its sends and receives complete on all ranks.
// (Executors that start receives later have proofs of their own.)
//
// Why pieces land where they belong: the requests of an exchange share a tag. Between two ranks they are
// started in the same order at both ends, and MPI keeps messages with the same envelope in order.
//
// next() does the same for single requests, to hand over every message when it lands (003 s.6), and to notice
// a lack of progress. All receives are posted, so a receive of a later step may land early, and next() hands
// its message over at once. If only the test of a whole step sees a completion, it is recorded when the step
// ends. So start(), advance() and next() may be mixed.
//
// Requests are stored step by step, receives before sends, so that one call of MPI covers a step.
//
// Cost: one call of MPI per test of a step. next() costs O(requests from this step on) per completion.
#pragma once

#include <vector>

#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/run.hpp"

namespace nuice::mpi {

class Steps : public Run {
 public:
  /// ends: for each step, the number of requests up to its end, in the order of `requests`.
  /// may_start_at_once: if there is only one step, whether all its requests may be started at once.
  Steps(TableRequests requests, std::vector<RequestCount> ends, Arrivals& arrivals,
        bool may_start_at_once = true);

  void start() final;
  bool advance(bool block) final;
  void follow() final;
  bool next(bool block) final;
  std::int64_t num_events() const override { return num_events_; }
  bool awaits_copies() const override { return made_.copies != nullptr; }
  std::string waits_for() const override;
  void cancel() noexcept override;

 protected:
  // Executors may override these functions.
  virtual void start_receives();
  virtual void begin_step();
  /// Whether this rank's requests of the step are complete. With block, waits until they are complete.
  virtual bool is_step_done(bool block);
  /// Called by next() for a completed send.
  virtual void take_sent(std::size_t /*index*/) {}

  RequestCount step_begin() const { return step_ == 0 ? RequestCount{} : ends_[step_ - 1]; }
  const RequestCount& step_end() const { return ends_[step_]; }
  void start_receives(std::size_t begin, std::size_t end);
  /// Starts sends in ascending order. If copies fill the memory, each send starts when its memory is filled,
  /// while earlier sends are in flight.
  void start_sends(std::size_t begin, std::size_t end);
  /// The index of a send in requests_.
  std::size_t place_of_send(std::size_t index) const { return send_at_[index]; }

  TableRequests made_;  // without the requests, which are in:
  Requests requests_;

 private:
  /// Whether a request is a send, and its index among the sends or receives.
  struct Owner {
    bool is_send;
    std::uint32_t index;
  };
  void lay_by_step();
  bool start_filled();
  bool is_all_done(bool block);
  void start_all(const std::vector<std::uint32_t>& places, std::size_t begin, std::size_t end, bool in_order);
  void note_sends(std::size_t begin, std::size_t end);
  static std::size_t step_place(const RequestCount& count) { return count.receives + count.sends; }
  bool go_through_steps(bool block);
  void begin_next_step();
  std::size_t take_what_is_complete(bool block);

  std::vector<RequestCount> ends_;
  Arrivals& arrivals_;
  bool receives_repeat_;  // whether a source sends several pieces; receives must then start in order
  bool sends_repeat_;     // whether a destination gets several pieces

  // whether there is only one step, without order or packing: all its requests are started and awaited at
  // once
  bool is_plain_;
  std::vector<std::uint32_t> receive_at_;
  std::vector<std::uint32_t> send_at_;
  std::vector<Owner> owners_;  // by index in requests_
  std::vector<int> indices_;

  // State of the running exchange.
  std::size_t step_ = 0;
  std::size_t due_ = 0;      // number of sends that should have started
  std::size_t started_ = 0;  // number of sends that have started
  bool blocks_ = false;      // whether to wait for memory that is not filled
  bool follows_ = false;
  bool nothing_came_ = false;  // whether nothing has completed since go_through_steps()
  std::int64_t num_events_ = 0;
};

/// Returns the ends of the steps if each busy phase of this rank is a step. of_entries: TableRequests::ends.
std::vector<RequestCount> ends_of_phases(const PhaseTable& table,
                                         const std::vector<RequestCount>& of_entries);
/// Returns the end of a single step with all requests.
std::vector<RequestCount> one_step(const std::vector<RequestCount>& of_entries);

}  // namespace nuice::mpi
