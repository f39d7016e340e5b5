// SPDX-License-Identifier: BSD-3-Clause
// Trials of unmodified programs' calls: all ranks go the same way in a call of the same number, however far apart they are.
#include "dropin/trials/trial.hpp"
#include "dropin/trials/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace {

using nuice::dropin::Trial;
using nuice::dropin::Trials;
using Way = Trial::Way;

/// Ranks with a copy each of two trials, whose calls last as long as is said.
class Ranks {
 public:
  Ranks(int ranks, Way first, double our_s, double mpi_s, double bytes, bool is_trusted = false)
      : our_s_(our_s), mpi_s_(mpi_s), bytes_(bytes), all_(static_cast<std::size_t>(ranks)) {
    for (Rank& each : all_)
      for (auto& trial : each.trials) {
        trial = std::make_shared<Trial>(first, is_trusted);
        each.known.add(trial);
      }
  }

  /// The i-th begins so many calls of one trial, and persistent requests where kept; what it had begun may end later.
  void begin(std::size_t i, std::size_t trial, int calls, bool kept = false) {
    for (int call = 0; call < calls; ++call) {
      Rank& rank = all_[i];
      if (kept) {
        note(ways_[2 + trial], ++rank.kept[trial], rank.trials[trial]->next_kept());
        continue;
      }
      const Trial::Step step = rank.trials[trial]->next();
      note(ways_[trial], ++rank.begun[trial], step.way);
      rank.open.emplace_back(trial, step);
    }
  }
  void end_all_but(std::size_t i, std::size_t left) {
    for (auto& open = all_[i].open; open.size() > left; open.erase(open.begin())) {
      const auto& [trial, step] = open.front();
      all_[i].trials[trial]->add(step, bytes_, step.way == Way::ours ? our_s_ : mpi_s_);
    }
  }
  /// A collective call of all. Whether they met.
  bool reach() {
    std::size_t num_met = 0;
    for (Rank& each : all_) num_met += each.known.reach() ? 1U : 0U;
    EXPECT_TRUE(num_met == 0 || num_met == all_.size());
    if (num_met == 0) return false;
    std::vector<double> most = all_[0].known.most();
    std::vector<double> sums = all_[0].known.sums();
    for (std::size_t i = 1; i < all_.size(); ++i) {
      std::ranges::transform(most, all_[i].known.most(), most.begin(),
                             [](double a, double b) { return std::max(a, b); });
      std::ranges::transform(sums, all_[i].known.sums(), sums.begin(), std::plus<>());
    }
    for (Rank& each : all_) num_lost_ += each.known.hear(most, sums).num_lost;
    return true;
  }
  /// `calls` collective calls, behind each of which every rank begins and ends one call.
  void run(int calls) {
    for (int call = 0; call < calls; ++call) {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        begin(i, 0, 1);
        end_all_but(i, 0);
      }
      reach();
    }
  }
  Way way_of(int call) const { return ways_[0].at(call); }
  int last_by(Way way) const {
    int last = 0;
    for (const auto& [call, own] : ways_[0])
      if (own == way) last = call;
    return last;
  }
  bool agree() const { return agree_; }
  bool have_gone_both_ways(std::size_t of) const {
    return std::ranges::any_of(ways_[of], [](const auto& each) { return each.second == Way::ours; }) &&
           std::ranges::any_of(ways_[of], [](const auto& each) { return each.second == Way::mpi; });
  }
  std::int64_t num_lost() const { return num_lost_; }
  void leave(std::size_t i, std::size_t trial) { all_[i].trials[trial]->end(); }
  bool any(std::size_t i) const { return all_[i].known.any(); }

 private:
  struct Rank {
    std::shared_ptr<Trial> trials[2];
    Trials known;
    int begun[2] = {};
    int kept[2] = {};
    std::vector<std::pair<std::size_t, Trial::Step>> open;
  };
  void note(std::map<int, Way>& ways, int call, Way way) {
    const auto [at, is_new] = ways.emplace(call, way);
    agree_ = agree_ && (is_new || at->second == way);
  }

  double our_s_;
  double mpi_s_;
  double bytes_;
  std::vector<Rank> all_;
  std::map<int, Way> ways_[4];  // by the call; of the trials, and of their persistent requests
  bool agree_ = true;
  std::int64_t num_lost_ = 0;
};

TEST(DropinTrial, MpiKeepsWhatIsNotClearlyFaster) {
  for (const double our_s : {0.9, 1.0, 1.1}) {
    Ranks ranks(3, Way::ours, our_s, 1.0, 1000);
    ranks.run(100);
    EXPECT_EQ(ranks.way_of(100), our_s < 1 ? Way::ours : Way::mpi) << our_s;
    EXPECT_EQ(ranks.num_lost(), our_s < 1 ? 0 : 3) << our_s;
    EXPECT_TRUE(ranks.have_gone_both_ways(0));
  }
}

TEST(DropinTrial, WhoIsFarAheadWinsAfterOneTurnOfEach) {
  Ranks slow_mpi(2, Way::ours, 1, 3, 1000);
  slow_mpi.run(120);
  EXPECT_EQ(slow_mpi.last_by(Way::mpi), 16);  // meetings at calls 8 and 16
  Ranks slow_us(2, Way::ours, 3, 1, 1000);
  slow_us.run(120);
  EXPECT_EQ(slow_us.last_by(Way::ours), 8);
}

TEST(DropinTrial, TheLoserIsTriedAgain) {
  Ranks ranks(2, Way::ours, 3, 1, 1000);
  ranks.run(400);
  EXPECT_GT(ranks.last_by(Way::ours), 8 * 16);
}

TEST(DropinTrial, LargeExchangesAreTrusted) {
  Ranks begun_as_ours(2, Way::ours, 3, 1, 1e6);
  begun_as_ours.run(16);
  EXPECT_EQ(begun_as_ours.last_by(Way::ours), 16);
  begun_as_ours.run(200);
  EXPECT_EQ(begun_as_ours.way_of(216), Way::mpi);
  Ranks trusted(2, Way::ours, 1, 3, 1000, true);
  trusted.run(16);
  EXPECT_EQ(trusted.last_by(Way::ours), 16);
}

TEST(DropinTrial, NothingIsChangedWhereNobodyCalls) {
  Ranks ranks(2, Way::ours, 3, 1, 1000);
  int num_meetings = 0;
  for (int call = 0; call < 1000; ++call) num_meetings += ranks.reach() ? 1 : 0;
  EXPECT_LE(num_meetings, 8);  // 8, 24, 56, ...
  ranks.run(2000);
  EXPECT_EQ(ranks.way_of(2000), Way::mpi);
}

TEST(DropinTrial, OneThatAnyRankHasLeftIsOver) {
  Ranks ranks(2, Way::ours, 1, 1, 1000);
  ranks.leave(1, 0);
  for (int call = 0; call < 8; ++call) ranks.reach();
  EXPECT_TRUE(ranks.any(0));
  ranks.leave(0, 1);
  for (int call = 0; call < 16; ++call) ranks.reach();
  EXPECT_FALSE(ranks.any(0));
  EXPECT_FALSE(ranks.any(1));
}

TEST(DropinTrial, OfVeryManyTheOldestIsGivenUp) {
  Trials all;
  int num_more = 0;
  for (int i = 0; i < 70; ++i) num_more += all.add(std::make_shared<Trial>(Way::ours)) ? 1 : 0;
  EXPECT_EQ(num_more, 64);
  EXPECT_EQ(all.sums().size(), 64U * 4);
}

TEST(DropinTrial, RanksThatAreApartGoOneWayInEachCall) {
  std::mt19937 random(5);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  for (int run = 0; run < 200; ++run) {
    const auto n = 2 + draw(7);
    Ranks ranks(static_cast<int>(n), draw(2) == 0 ? Way::ours : Way::mpi, 0.5 + draw(4), 2, 1000);
    // Each comes to a collective call with up to five calls more or fewer than the others; rank 0 may stay away from all.
    const unsigned stays_away = draw(4);
    std::vector<int> ahead(n, 0);
    for (int call = 0; call < 300; ++call) {
      for (std::size_t i = stays_away == 0 ? 1 : 0; i < n; ++i)
        for (const std::size_t trial : {0U, 1U}) {
          const int target = static_cast<int>(draw(6));
          const int now = 1 + target - (trial == 0 ? ahead[i] : 0);
          if (trial == 0) ahead[i] = target;
          ranks.begin(i, trial, trial == 0 ? std::max(0, now) : 1);
          if (trial == 0 && now < 0) ahead[i] = target - now;
          if (draw(4) == 0) ranks.begin(i, trial, 1, true);
          ranks.end_all_but(i, draw(4));
        }
      ranks.reach();
    }
    ASSERT_TRUE(ranks.agree()) << "run " << run;
    EXPECT_TRUE(ranks.have_gone_both_ways(0)) << "run " << run;
    EXPECT_TRUE(ranks.have_gone_both_ways(1)) << "run " << run;
  }
}

using nuice::dropin::Turns;

/// Calls of ours among so many of a communicator whose ranks take so long for each, and what they answer when they are asked.
struct Answer {
  double most_bytes = 1000;
  Turns::Experience experience = Turns::Experience::none;
  bool by_tcp = false;
};
std::vector<int> ours_of(int calls, double our_s, double mpi_s, const Answer& all = {}) {
  Turns turns;
  std::vector<int> ours;
  bool is_there = false;
  for (int call = 1; call <= calls; ++call) {
    Turns::Step step = turns.next(is_there);
    const auto answer = [&] {
      turns.answer(true, all.most_bytes, all.experience, all.by_tcp);
      is_there = is_there || turns.is_trusted();
    };
    EXPECT_EQ(step.asks_first, call == 1);
    if (step.asks_first) {
      answer();
      step = turns.first();
    }
    const bool is_ours = step.way == Turns::Way::replace;
    if (is_ours) ours.push_back(call);
    if (step.is_timed) turns.add(is_ours, 1000, is_ours ? our_s : mpi_s);
    if (step.beside == Turns::Beside::ask) answer();
    if (step.beside == Turns::Beside::make_shadow) is_there = true;
    if (step.beside == Turns::Beside::compare) turns.decide(turns.by_mpi(), turns.by_us());
  }
  return ours;
}

TEST(DropinTurns, WhatIsFarBehindIsNotTriedAgainSoon) {
  EXPECT_EQ(ours_of(500, 2, 1), (std::vector{5, 6, 7, 448, 449}));
  EXPECT_EQ(ours_of(500, 1.2, 1), (std::vector{5, 6, 7, 28, 29, 480, 481}));
}

std::vector<int> all_of(int calls, std::vector<int> but) {
  std::vector<int> left;
  for (int call = 1; call <= calls; ++call)
    if (std::ranges::find(but, call) == but.end()) left.push_back(call);
  return left;
}

TEST(DropinTurns, LargeExchangesOverTcpAreOursFromTheFirstCallOn) {
  EXPECT_EQ(ours_of(200, 1, 2, {.most_bytes = 1e6, .by_tcp = true}), all_of(200, {64}));
  // It is tried all the same: ours are calls 1 to 63 and the one beside which all hear of it.
  EXPECT_EQ(ours_of(500, 1, 1, {.most_bytes = 1e6, .by_tcp = true}).back(), 261);
  EXPECT_EQ(ours_of(200, 1, 1, {.most_bytes = 1e6, .by_tcp = true}), all_of(65, {64}));
}

TEST(DropinTurns, LargeExchangesOverSomethingElseAreFirstDoneByMpi) {
  EXPECT_EQ(ours_of(60, 1, 2, {.most_bytes = 1e6}), all_of(60, {1}));
  EXPECT_EQ(ours_of(60, 1, 1, {.most_bytes = 1e6}), all_of(17, {1, 16}));
}

TEST(DropinTurns, SmallExchangesOverTcpAreTriedAsElsewhere) {
  EXPECT_EQ(ours_of(60, 1, 1, {.by_tcp = true}), (std::vector{5, 6, 7, 28, 29}));
}

TEST(DropinTurns, WhereAnyRankHasSeenMpiFasterNothingIsOursBeforeItIsAskedAgain) {
  const Answer seen = {.most_bytes = 1e6, .experience = Turns::Experience::mpi, .by_tcp = true};
  EXPECT_EQ(ours_of(20, 1, 2, seen), all_of(20, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(DropinTurns, WhatWasFasterElsewhereIsOursFromTheFirstCallOnOverTcp) {
  EXPECT_EQ(ours_of(60, 1, 2, {.experience = Turns::Experience::ours, .by_tcp = true}), all_of(60, {}));
  EXPECT_EQ(ours_of(60, 1, 2, {.experience = Turns::Experience::ours}), all_of(60, {1}));
}

}  // namespace
