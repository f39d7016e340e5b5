// SPDX-License-Identifier: BSD-3-Clause
// The check of a change finds every kind of damage: a state is changed rightly, then spoilt by hand.
#include <gtest/gtest.h>

#include "nuice/nuice.hpp"
#include "schedulers/derived/update_state.hpp"

namespace nuice::update {
namespace {

/// 0 -> 1 in phase 0, 0 -> 2 in phase 1, 1 -> 2 in phase 0; all of them just asked for.
State three_messages() {
  State state(3);
  state.asked = {{0, 1, 10}, {0, 2, 20}, {1, 2, 30}};
  for (const Message& message : state.asked) state.add_record(message);
  state.place(0, 1, 0);
  state.place(0, 2, 1);
  state.place(1, 2, 0);
  return state;
}

std::string found(const State& state) {
  const auto violation = check_changes(state);
  return violation ? std::string(violation_name(violation->kind)) + ", " + violation->text : "nothing";
}

TEST(CheckChanges, FindsNothingWrongInARightState) { EXPECT_EQ(found(three_messages()), "nothing"); }

TEST(CheckChanges, FindsWhatIsWrong) {
  const struct {
    const char* expected;
    void (*spoil)(State&);
  } cases[] = {
      {"not_delivered, message rank 0 -> rank 2: 21 bytes instead of 20",
       [](State& s) { s.find(0, 2)->bytes = 21; }},
      {"not_delivered, message rank 2 -> rank 2: 0 bytes instead of 4",
       [](State& s) { s.asked.push_back({2, 2, 4}); }},
      {"not_delivered, message rank 2 -> rank 0: 0 bytes instead of 4",
       [](State& s) { s.asked.push_back({2, 0, 4}); }},
      {"not_delivered, message rank 0 -> rank 1: 10 bytes instead of 0",
       [](State& s) { s.asked[0].bytes = 0; }},
      {"not_delivered, message rank 0 -> rank 1: its ranks do not exchange it",
       [](State& s) { s.find(0, 1)->phase = 2; }},
      {"not_delivered, message rank 1 -> rank 2: its ranks do not exchange it",
       [](State& s) { s.grid.remove(1, 2, 0); }},
      {"two_sends, message rank 0 -> rank 1: its sender sends twice",
       [](State& s) { s.grid.place(0, 2, 0); }},
      {"two_receives, message rank 0 -> rank 1: its receiver receives twice",
       [](State& s) { s.grid.place(2, 1, 0); }},
      {"bad_piece, message rank 0 -> rank 2: exchanged, but there is none",
       [](State& s) {  // moved away, but its old place was not cleared
         s.grid.place(0, 2, 2);
         s.find(0, 2)->phase = 2;
         s.moves.push_back({0, 2, 1, 2});
       }},
      {"bad_piece, message rank 2 -> rank 0: exchanged, but there is none",
       [](State& s) {  // removed, but still at its place
         s.grid.place(2, 0, 1);
         s.left.push_back({2, 0, 1});
       }},
  };
  for (const auto& [expected, spoil] : cases) {
    State state = three_messages();
    spoil(state);
    EXPECT_EQ(found(state), expected);
  }
}

}  // namespace
}  // namespace nuice::update
