// SPDX-License-Identifier: BSD-3-Clause
// What exchanges of replaced calls travel by: a shadow communicator with its engine, memory for each call, and numbers that keep the calls
// of different communicators apart which share one.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dropin/trials/trial.hpp"
#include "exchange/planless/engine.hpp"
#include "exchange/planless/travel.hpp"

namespace nuice::dropin {

/// One message of a call, in the program's terms.
struct Item {
  int rank;
  std::byte* at;
  std::int64_t count;
  MPI_Datatype type;
};

/// What a rank sends and receives in a call. in_place: `out` is what is received, which goes out before anything comes in.
struct Items {
  std::vector<Item> out;
  std::vector<Item> in;
  bool in_place = false;
};

mpi::Segment segment_of(const Item& item);
Bytes longest_of(const std::vector<Item>& items);
/// Without those that me exchanges with itself.
double bytes_of_others(const std::vector<Item>& items, Rank me);
/// Their bytes as they travel, one item behind the other; and back.
std::vector<std::byte> packed(const std::vector<Item>& items);
void unpack(const std::vector<std::byte>& bytes, const std::vector<Item>& items);

/// One call's messages as they travel.
class Call : public mpi::PlanlessListener {
 public:
  /// ranks: of the shadow, by the program's; empty: the same ones.
  void take(const Items& items, const std::vector<int>& ranks);
  /// What is sent, as it is now.
  void pack();

  std::vector<mpi::PlanlessSend> sends;
  std::vector<mpi::PlanlessReceive> receives;

 private:
  void land(std::size_t receive) override { incoming_[receive].unpack(); }

  std::vector<mpi::Travel> outgoing_;
  std::vector<mpi::Travel> incoming_;
};

/// Tags of one communicator's calls on a shadow that it shares, from first_tag on: by the messages of each pair, as ranks may begin calls of
/// different communicators in different orders. Each persistent request has one of its own, as MPI lets ranks start them in any order.
class Numbers {
 public:
  explicit Numbers(int first_tag) : first_tag_(first_tag) {}
  void give(Call& call) { give(call, started_, 0); }
  void give_to_keep(Call& call) { give(call, kept_, 2 * calls); }

  /// Of either kind, that may be under way at once.
  static constexpr int calls = 4096;
  static constexpr int tags = 4 * calls;

 private:
  struct ByRank {
    std::unordered_map<Rank, int> sent, received;
  };
  void give(Call& call, ByRank& numbers, int offset) const;

  int first_tag_;
  ByRank started_;
  ByRank kept_;
};

/// All ranks have the same, in the same order of their making.
struct Shadow {
  Shadow(const mpi::PlanlessChannel& channel, mpi::PlanlessSettings settings);

  MPI_Comm comm;
  std::vector<Rank> near;  // this host's
  // Than MPI, as was seen last.
  bool is_expected_faster = false;
  bool is_known_faster = false;
  std::int64_t num_neighbourhoods = 0;  // that were made of communicators which share it
  Rank most_neighbours = 0;             // of a rank in these, as was told last
  Trials trials;                        // of whatever travels by it

  /// For one more communicator: all ranks come here for each. None: no tags are left.
  std::optional<Numbers> next_numbers();

  std::unique_ptr<Call> take_call();
  void give_back(std::unique_ptr<Call> call) { idle_.push_back(std::move(call)); }

  /// Held by whoever uses what follows, and take_call() and give_back(): threads may come with different communicators.
  std::mutex mutex;
  mpi::PlanlessEngine engine;

 private:
  std::int64_t next_tag_;
  std::int64_t last_tag_;
  std::vector<std::unique_ptr<Call>> idle_;
};

/// How long the program does something else before it waits for such calls, as this rank has seen it last. If that is far longer than what is then left
/// to wait for, it is better to leave the calls to MPI from their beginning: they lose their pace, but go on meanwhile.
class Overlap {
 public:
  bool is_long() const { return is_long_ && num_begun_ % calls_to_look_again != 0; }
  void begin() { ++num_begun_; }
  /// Of a call that was not left to MPI: until the program came back, and from then on.
  void add(double away_s, double rest_s) { is_long_ = away_s > far_longer * rest_s; }

 private:
  static constexpr double far_longer = 2;  // about what a pace gains where it gains
  static constexpr std::int64_t calls_to_look_again = 16;
  bool is_long_ = false;
  std::int64_t num_begun_ = 0;
};

/// How a communicator's calls of one kind travel.
struct Lane {
  std::shared_ptr<Shadow> shadow;
  Bytes unasked = 0;
  Bytes whole = 0;                 // messages up to here go unasked
  std::optional<Numbers> numbers;  // none: calls that do not block are MPI's
  bool numbers_all = false;        // blocking ones too
  std::vector<int> ranks;          // in the shadow; empty: the same
  std::shared_ptr<Overlap> overlap = std::make_shared<Overlap>();
  std::shared_ptr<Trial> trial;  // of calls that Turns does not know; none: they are ours
};

}  // namespace nuice::dropin
