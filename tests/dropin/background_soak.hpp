// SPDX-License-Identifier: BSD-3-Clause
// A soak of exchanges in the background.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "background_exchange.hpp"

namespace background {

/// Calls of all kinds in any order over some twenty communicators, several under way on each, with what is not ours among them. What is drawn from
/// `alike_` all ranks do in the same order; how and when they complete what they have begun is each one's own.
class Soak {
 public:
  explicit Soak(unsigned seed)
      : alike_(seed), own_(seed + 1000U + static_cast<unsigned>(rank_in(MPI_COMM_WORLD))) {
    for (unsigned i = 0; i < num_patterns; ++i) {
      patterns_.push_back(make(i));
      if (is_there(patterns_.back())) Exchange(patterns_.back(), Exchange::Form::v, 1, 5000).run();
    }
    kept_.resize(num_kept);
    for (Kept& each : kept_) renew(each);
  }
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;
  ~Soak() {
    complete_some([](std::size_t) { return true; });
    for (Kept& each : kept_)
      if (each.exchange) MPI_Request_free(&each.request);
    for (unsigned i = 0; i < num_patterns; ++i)
      if (i != 0 && is_there(patterns_[i])) MPI_Comm_free(&patterns_[i].comm);
  }

  void act(unsigned round) {
    switch (draw(16)) {
      case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
      case 1:
        MPI_Allreduce(MPI_IN_PLACE, &sum_, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        break;
      case 2:
        pass(round);
        break;
      case 3:
        pass_and_wait(round);
        break;
      case 4:
        renew(kept_[draw(num_kept)]);
        break;
      case 5:
        if (draw(8) == 0) remake(num_patterns - 1 - draw(num_graphs));
        break;
      case 6:
      case 7:
      case 8:
        start(draw(2) == 0 ? 1 : num_kept);
        break;
      default:
        exchange(round, draw(4) == 0);
        break;
    }
    const bool is_full = begun_.size() >= most_begun;
    if (is_full || own_() % 4 == 0) complete_some([&](std::size_t) { return is_full || own_() % 2 == 0; });
  }

 private:
  static constexpr unsigned num_patterns = 20;
  static constexpr unsigned num_graphs = 6;  // the last ones
  static constexpr unsigned num_kept = 6;
  static constexpr std::size_t most_begun = 24;
  struct Kept {
    std::unique_ptr<Exchange> exchange;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Begun {
    MPI_Request request;
    std::function<void()> check;
    Kept* kept = nullptr;
  };

  unsigned draw(unsigned below) { return static_cast<unsigned>(alike_() % below); }

  /// Whole or in parts, in several orders; grids; graphs.
  Pattern make(unsigned i) const {
    const int me = rank_in(MPI_COMM_WORLD);
    const unsigned num_grids = 4;
    if (i == 0) return all_of(MPI_COMM_WORLD);
    MPI_Comm part = MPI_COMM_NULL;
    if (i + num_graphs + num_grids < num_patterns) {
      MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? me % 2 : 0, i % 2 == 0 ? me : -me, &part);
      return all_of(part);
    }
    if (i + num_graphs < num_patterns) return grid_of(1 + static_cast<int>(i % 2));
    return graph_of(patterns_[i % 4].comm);
  }

  void exchange(unsigned round, bool blocks) {
    const Pattern& pattern = patterns_[draw(num_patterns)];
    const auto form = static_cast<Exchange::Form>(draw(3));
    const int most = draw(8) == 0 ? 9000 : 1 + static_cast<int>(draw(900));
    if (!is_there(pattern)) return;
    const auto made = std::make_shared<Exchange>(pattern, form, round, most);
    if (blocks) return made->run();
    MPI_Request request = MPI_REQUEST_NULL;
    made->begin(&request);
    begun_.push_back({request, [made] { made->check(); }});
  }

  void renew(Kept& kept) {
    const Pattern& pattern = patterns_[draw(num_patterns)];
    const auto form = draw(2) == 0 ? Exchange::Form::v : Exchange::Form::w;
    complete_some([&](std::size_t i) { return begun_[i].kept == &kept; });
    if (kept.exchange) MPI_Request_free(&kept.request);
    kept.exchange.reset();
    if (!is_there(pattern)) return;
    auto made = std::make_unique<Exchange>(pattern, form, 5U, form == Exchange::Form::v ? 4000 : 700);
    if (!made->may_persist()) return;
    kept.exchange = std::move(made);
    kept.exchange->init(&kept.request);
  }

  /// Persistent ones may be started in any order.
  void start(unsigned number) {
    std::vector<Kept*> some;
    for (unsigned i = 0; i < number; ++i) some.push_back(&kept_[number == 1 ? draw(num_kept) : i]);
    std::erase_if(some, [](const Kept* each) { return each->exchange == nullptr; });
    std::shuffle(some.begin(), some.end(), own_);
    std::vector<MPI_Request> requests;
    for (Kept* const each : some) {
      complete_some([&](std::size_t i) { return begun_[i].kept == each; });
      each->exchange->fill();
      requests.push_back(each->request);
      begun_.push_back({each->request, [each] { each->exchange->check(); }, each});
    }
    if (own_() % 2 == 0 && !requests.empty()) {
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
    } else {
      for (MPI_Request& each : requests) MPI_Start(&each);
    }
  }

  void pass(unsigned round) {
    const auto passed =
        std::make_shared<Passed>(static_cast<int>(round % 30'000), 1 + static_cast<int>(draw(20'000)));
    for (int i = 0; i < 2; ++i)
      begun_.push_back({passed->requests()[i], [passed, i] { i == 0 ? passed->check() : void(); }});
  }
  void pass_and_wait(unsigned round) {
    const int n = size_of(MPI_COMM_WORLD);
    const int me = rank_in(MPI_COMM_WORLD);
    const int tag = static_cast<int>(round % 30'000);
    const int after = (me + 1) % n;
    const int before = (me + n - 1) % n;
    const std::vector<int> out(1 + draw(20'000), tag);
    std::vector<int> in(out.size(), -1);
    const auto send = [&] {
      MPI_Ssend(out.data(), static_cast<int>(out.size()), MPI_INT, after, tag, MPI_COMM_WORLD);
    };
    const auto receive = [&] {
      MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_INT, before, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    };
    if (me == 0) send();
    receive();
    if (me != 0) send();
    require(in == out, "what was passed on");
  }

  /// A graph's communicator is freed while exchanges go on, and made again.
  void remake(unsigned i) {
    for (Kept& each : kept_)
      if (each.exchange && &each.exchange->pattern() == &patterns_[i]) {
        complete_some([&](std::size_t j) { return begun_[j].kept == &each; });
        MPI_Request_free(&each.request);
        each.exchange.reset();
      }
    if (is_there(patterns_[i])) MPI_Comm_free(&patterns_[i].comm);
    patterns_[i] = make(i);
  }

  template <typename IsChosen>
  void complete_some(IsChosen&& is_chosen) {
    std::vector<MPI_Request> requests;
    std::vector<Begun> chosen;
    std::vector<Begun> rest;
    for (std::size_t i = 0; i < begun_.size(); ++i) (is_chosen(i) ? chosen : rest).push_back(begun_[i]);
    for (const Begun& each : chosen) requests.push_back(each.request);
    if (!chosen.empty())
      complete(requests, static_cast<unsigned>(own_()),
               [&](int i) { chosen[static_cast<std::size_t>(i)].check(); });
    begun_ = std::move(rest);
  }

  std::mt19937 alike_;
  std::mt19937 own_;
  std::deque<Pattern> patterns_;  // which stay where they are
  std::vector<Kept> kept_;
  std::vector<Begun> begun_;
  int sum_ = 1;
};

}  // namespace background
