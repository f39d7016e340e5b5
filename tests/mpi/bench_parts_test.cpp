// SPDX-License-Identifier: BSD-3-Clause
// The parts of nuice-bench that run without ranks. Above all: that its verification would notice damage.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "kit/command_line.hpp"
#include "nuice_bench/measure.hpp"
#include "nuice_bench/options.hpp"
#include "nuice_bench/payload.hpp"
#include "nuice_bench/report.hpp"

namespace nuice::bench {
namespace {

TEST(Verification, NoticesEveryWrongByte) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 64U, 101U}) {
    std::vector<std::byte> message(size);
    fill(message, 3, 5);
    EXPECT_EQ(first_wrong_byte(message, 3, 5), std::nullopt);
    for (std::size_t i = 0; i < size; ++i) {
      message[i] ^= std::byte{1};
      EXPECT_EQ(first_wrong_byte(message, 3, 5), i);
      message[i] ^= std::byte{1};
    }
  }
}

TEST(Verification, PoisonIsWrongInEveryByte) {
  std::vector<std::byte> good(101);
  std::vector<std::byte> bad(101);
  fill(good, 1, 2);
  poison(bad, 1, 2);
  for (std::size_t i = 0; i < good.size(); ++i) EXPECT_NE(good[i], bad[i]) << i;
}

TEST(Verification, NoticesAnotherMessageOrAShiftedOne) {
  std::vector<std::byte> message(64);
  fill(message, 1, 2);
  EXPECT_TRUE(first_wrong_byte(message, 2, 1));
  EXPECT_TRUE(first_wrong_byte(message, 1, 3));
  EXPECT_TRUE(first_wrong_byte(std::span(message).subspan(8), 1, 2));
  EXPECT_TRUE(first_wrong_byte(std::span(message).subspan(1), 1, 2));
}

TEST(Verification, NamesThePairAndTheByte) {
  Payload payload(2, {}, {{0, 10}, {1, 20}, {2, 5}});
  payload.poison_received();
  EXPECT_EQ(payload.verify_received(), "rank 0 -> rank 2: byte 0 of 10 is wrong");
  for (std::size_t i = 0; i < 3; ++i) fill(payload.receive.message(i), payload.receive.partners[i].rank, 2);
  EXPECT_EQ(payload.verify_received(), "");
  payload.receive.message(1)[17] ^= std::byte{0x80};
  EXPECT_EQ(payload.verify_received(), "rank 1 -> rank 2: byte 17 of 20 is wrong");
}

TEST(Summary, MedianIsInTheMiddle) {
  EXPECT_EQ(summarize({3, 1, 2}).median_s, 2);
  EXPECT_EQ(summarize({4, 1, 2, 3}).median_s, 2.5);
  EXPECT_EQ(summarize({4, 1, 2, 3}).min_s, 1);
  EXPECT_EQ(summarize({4, 1, 2, 3}).max_s, 4);
  EXPECT_EQ(summarize({7}).median_s, 7);
  EXPECT_EQ(summarize({4, 1, 2, 3}).p95_s, 4);
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  EXPECT_EQ(summarize(hundred).p95_s, 95);
}

Result result_of(const std::string& word, bool is_peer, double plan_s, double exchange_s) {
  Result result;
  result.spec = {word, is_peer, is_peer ? "" : word, "phased"};
  result.planning.total_s = plan_s;
  result.exchange = {exchange_s, exchange_s, exchange_s};
  return result;
}

TEST(PayOff, CountsExchangesUntilPlanningIsEarnedBack) {
  const Result peer = result_of("neighbor", true, 1.0, 10.0);
  EXPECT_EQ(reuses_to_pay_off(result_of("lp", false, 21.0, 6.0), peer), 5.0);  // (21 - 1) / (10 - 6)
  EXPECT_EQ(reuses_to_pay_off(result_of("lp", false, 0.5, 6.0), peer), 1.0);
  EXPECT_EQ(reuses_to_pay_off(result_of("lp", false, 0.5, 10.0), peer), std::nullopt);
}

/// Options, or what is said in their place.
struct Parsed {
  std::optional<Options> options;
  kit::Reply reply;
};

Parsed parse(const std::string& line) {
  std::istringstream in("nuice-bench " + line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const int argc = static_cast<int>(argv.size());
  kit::App app{"", "nuice-bench"};
  Options options;
  Words typed;
  add_options(app, options, typed);
  const auto reply = kit::reply_to(argc, argv.data(), app, [&] {
    app.parse(argc, argv.data());
    interpret(app, typed, options);
  });
  if (reply) return {std::nullopt, *reply};
  return {options, {}};
}

TEST(CommandLine, MethodsHaveTheirExecutors) {
  const Parsed parsed = parse("--matrix m.mtx --schedulers ac,lp,rs_n:pairwise,alltoallv --reps 3 --seed 9");
  ASSERT_TRUE(parsed.options) << parsed.reply.err;
  const auto& methods = parsed.options->methods;
  ASSERT_EQ(methods.size(), 4U);
  EXPECT_EQ(methods[0].executor, "async");
  EXPECT_EQ(methods[1].executor, "phased");
  EXPECT_EQ(methods[2].scheduler, "rs_n");
  EXPECT_EQ(methods[2].executor, "pairwise");
  EXPECT_TRUE(methods[3].is_peer);
  const Parsed all_pairwise = parse("--matrix m.mtx --schedulers ac,lp:async --executor pairwise");
  EXPECT_EQ(all_pairwise.options->methods[0].executor, "pairwise");
  EXPECT_EQ(all_pairwise.options->methods[1].executor, "async");
}

TEST(CommandLine, BroadcastsHaveTheirMethods) {
  const Parsed parsed = parse("--broadcast 4096 --root 2 --group 5,1");
  ASSERT_TRUE(parsed.options) << parsed.reply.err;
  ASSERT_TRUE(parsed.options->broadcast);
  EXPECT_EQ(parsed.options->broadcast->bytes, 4096);
  EXPECT_EQ(parsed.options->broadcast->root, 2);
  EXPECT_EQ(parsed.options->broadcast->group, (std::vector<Rank>{5, 1}));
  const auto& methods = parsed.options->methods;
  ASSERT_EQ(methods.size(), 4U);
  EXPECT_EQ(methods[1].scheduler, "reb");
  EXPECT_EQ(methods[1].executor, "phased");
  EXPECT_EQ(methods[2].executor, "async");
  EXPECT_TRUE(methods[3].is_peer);
  EXPECT_FALSE(parse("--matrix m").options->broadcast);
}

TEST(Verification, BroadcastsAreTheSameForAll) {
  Payload root = Payload::of_broadcast(2, 2, 100, true);
  Payload member = Payload::of_broadcast(5, 2, 100, true);
  Payload stranger = Payload::of_broadcast(6, 2, 100, false);
  member.poison_received();
  EXPECT_EQ(member.verify_received(), "rank 2 -> rank 5: byte 0 of 100 is wrong");
  std::ranges::copy(root.send.message(0), member.receive.message(0).begin());
  EXPECT_EQ(member.verify_received(), "");
  EXPECT_EQ(root.verify_received(), "");
  EXPECT_TRUE(stranger.send.partners.empty() && stranger.receive.partners.empty());
}

TEST(CommandLine, MethodsMayBeBlindOrCombine) {
  const Parsed parsed =
      parse("--matrix m --hosts 4 --schedulers coloring:pairwise,coloring:pairwise@blind,ac@combine");
  ASSERT_TRUE(parsed.options) << parsed.reply.err;
  EXPECT_EQ(parsed.options->plan.hosts, "4");
  const auto& methods = parsed.options->methods;
  EXPECT_FALSE(methods[0].blind || methods[0].combine);
  EXPECT_TRUE(methods[1].blind);
  EXPECT_EQ(methods[1].scheduler, "coloring");
  EXPECT_EQ(methods[1].executor, "pairwise");
  EXPECT_TRUE(methods[2].combine);
  EXPECT_EQ(methods[2].executor, "async");
}

TEST(CommandLine, FormsOfDrs) {
  if (drs_transports().empty()) GTEST_SKIP() << "built without active messages";
  EXPECT_NE(parse("--matrix m --schedulers drs_n:list:pigeon").reply.err.find("unknown transport \"pigeon\""),
            std::string::npos);
  const Parsed parsed = parse("--matrix m --schedulers drs_n,drs_n:rma,drs_n:list,drs_n:early:mpi");
  ASSERT_TRUE(parsed.options) << parsed.reply.err;
  const auto& methods = parsed.options->methods;
  ASSERT_EQ(methods.size(), 4U);
  for (const MethodSpec& method : methods) ASSERT_TRUE(method.drs) << method.word;
  EXPECT_EQ(methods[0].drs->form, "refuse");
  EXPECT_EQ(methods[1].drs->form, "rma");
  EXPECT_EQ(methods[2].drs->form, "list");
  EXPECT_EQ(methods[3].drs->form, "early");
  EXPECT_EQ(methods[3].drs->transport, "mpi");
}

TEST(CommandLine, FaultsAreNamedAndGiveExitCode2) {
  for (const auto& [line, text] : std::vector<std::pair<std::string, std::string>>{
           {"", "--matrix or --broadcast is required"},
           {"--matrix m --broadcast 8", "--broadcast"},
           {"--matrix m --root 1", "--root"},
           {"--broadcast -1", "--broadcast"},
           {"--broadcast 8 --schedulers reb,tree",
            "unknown broadcast \"tree\"; known: lib, reb; or MPI's own: bcast"},
           {"--broadcast 8 --schedulers alltoallv", "unknown broadcast \"alltoallv\""},
           {"--matrix m --schedulers bcast", "unknown scheduler \"bcast\""},
           {"--matrix m --schedulers fast", "unknown scheduler \"fast\"; known: ac"},
           {"--matrix m --schedulers lp:fast", "unknown executor \"fast\""},
           {"--matrix m --schedulers lp:", "unknown executor \"\""},
           {"--matrix m --schedulers drs_n:fast", "unknown form \"fast\" in drs_n:fast; known: refuse, rma"},
           {"--matrix m --schedulers rs_n@night",
            "unknown form \"night\" in rs_n@night; known: blind, combine"},
           {"--matrix m --schedulers drs_nh", "unknown scheduler \"drs_nh\""},
           {"--matrix m --executor fast", "unknown executor \"fast\""},
           {"--matrix m --reps 0", "--reps"},
           {"--matrix m --warmup -1", "--warmup"},
           {"--matrix m --seed x", "--seed"},
           {"--matrix m --phase-cost-bytes -1", "--phase-cost-bytes"},
           {"--matrix m --whatever", "--whatever"}}) {
    const Parsed parsed = parse(line);
    EXPECT_FALSE(parsed.options) << line;
    EXPECT_EQ(parsed.reply.exit_code, 2) << line;
    EXPECT_EQ(parsed.reply.out, "") << line;
    EXPECT_NE(parsed.reply.err.find(text), std::string::npos) << line << ": " << parsed.reply.err;
  }
  EXPECT_EQ(parse("--help").reply.exit_code, 0);
  EXPECT_NE(parse("--help").reply.out.find("--matrix"), std::string::npos);
}

class Report : public testing::Test {
 protected:
  Options options{.matrix = "m.mtx", .broadcast = {}, .methods = {}, .reps = 4};
  Input input;
  Setting setting{options, input, 8, "Some MPI 1.0"};
  std::vector<Result> results = {result_of("lp", false, 21.0, 6.0), result_of("alltoallv", true, 0, 12.0),
                                 result_of("neighbor", true, 1.0, 10.0)};
};

TEST_F(Report, ComparesWithTheBestPeer) {
  EXPECT_EQ(best_peer(results), &results[2]);
  results[2].refused = "too large";
  EXPECT_EQ(best_peer(results), &results[1]);
  results.resize(1);
  EXPECT_EQ(best_peer(results), nullptr);
}

TEST_F(Report, WritesNullForWhatIsNotKnown) {
  results[1].refused = "too large";
  std::istringstream lines(json_lines(setting, results));
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[0]["ratio_to_best_mpi"], 0.6);
  EXPECT_EQ(objects[0]["reuses_to_pay_off"], 5);
  EXPECT_EQ(objects[0]["verified"], true);
  EXPECT_EQ(objects[1]["refused"], "too large");
  EXPECT_TRUE(objects[1]["verified"].is_null());
  EXPECT_TRUE(objects[1]["exchange_seconds_median"].is_null());
  EXPECT_TRUE(objects[2]["scheduler"].is_null());
  EXPECT_TRUE(objects[2]["phases"].is_null());
  EXPECT_TRUE(objects[2]["refused"].is_null());
}

TEST_F(Report, TableSaysWhatWasNotRun) {
  results[1].refused = "too large";
  const std::string text = table(setting, results);
  EXPECT_NE(text.find("alltoallv was not run: too large"), std::string::npos);
  EXPECT_NE(text.find("neighbor"), std::string::npos);
}

}  // namespace
}  // namespace nuice::bench
