// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that go step by step, which is how most executors work. They differ in what a step is, and in what must have
// happened before the next one begins.
//
//   start:   start all receives; begin the first step: start its sends
//   advance: while the step's sends and receives are complete: begin the next step
//
// Why no rank waits forever: all receives are posted before anything else, so the sends of a rank's step p complete as soon
// as their receivers have called start(). By induction on p, when all ranks have begun step p - 1 and wait for it, its
// sends and receives complete, so all ranks come to step p. (Executors that start receives later have a proof of
// their own.)
//
// Why pieces land where they belong: the requests of one exchange share a tag and are started, between two ranks, in the
// same order on both sides; MPI does not let messages with the same envelope overtake each other.
//
// next() does the same request by request, to hand over every message as it lands (003 s.6), and to notice that nothing
// moves. A receive of a later step may land early, since all are posted: it is handed over at once. What the steps' own
// tests complete unseen is noted when the step ends, so start(), advance() and next() may be mixed.
//
// Requests lie step by step, of each its receives and then its sends, so that one call of MPI takes a step.
//
// Cost: one call of MPI for a step; next(): O(requests from the step on) per completion.
#pragma once

#include <vector>

#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/run.hpp"

namespace nuice::mpi {

class Steps : public Run {
 public:
  /// ends: of each step, as many requests as come before its end, in the order of `requests`. may_start_at_once: a single
  /// step may be started as a whole.
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
  // What an executor may do otherwise.
  virtual void start_receives();
  virtual void begin_step();
  /// Whether this rank's requests of the step are complete; block: not before they are.
  virtual bool is_step_done(bool block);
  /// A send is complete, as next() sees it.
  virtual void take_sent(std::size_t /*index*/) {}

  RequestCount step_begin() const { return step_ == 0 ? RequestCount{} : ends_[step_ - 1]; }
  const RequestCount& step_end() const { return ends_[step_]; }
  void start_receives(std::size_t begin, std::size_t end);
  /// In ascending order. Of copies, each as soon as it is filled: until then others travel.
  void start_sends(std::size_t begin, std::size_t end);
  /// Where it lies in requests_.
  std::size_t place_of_send(std::size_t index) const { return send_at_[index]; }

  TableRequests made_;  // but for the requests, which are here:
  Requests requests_;

 private:
  /// A request, and whose it is.
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
  bool receives_repeat_;  // some source sends several pieces: receives must be started in order
  bool sends_repeat_;     // likewise for destinations
  bool is_plain_;         // one step in any order, with nothing to pack: started and waited for as a whole
  std::vector<std::uint32_t> receive_at_;
  std::vector<std::uint32_t> send_at_;
  std::vector<Owner> owners_;  // by place
  std::vector<int> indices_;

  // of the running exchange
  std::size_t step_ = 0;
  std::size_t due_ = 0;      // sends that are to be started
  std::size_t started_ = 0;  // those that are
  bool blocks_ = false;      // what is not filled is waited for
  bool follows_ = false;
  bool nothing_came_ = false;  // since go_through_steps()
  std::int64_t num_events_ = 0;
};

/// The steps of this rank's busy phases. of_entries: TableRequests::ends.
std::vector<RequestCount> ends_of_phases(const PhaseTable& table,
                                         const std::vector<RequestCount>& of_entries);
/// All in one step.
std::vector<RequestCount> one_step(const std::vector<RequestCount>& of_entries);

}  // namespace nuice::mpi
