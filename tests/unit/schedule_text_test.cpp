// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

std::string write(const ScheduleRecord& record, const CommMatrix& matrix) {
  std::ostringstream out;
  write_schedule(out, record, matrix);
  return out.str();
}
ScheduleRecord read(const std::string& text, const CommMatrix& matrix) {
  std::istringstream in(text);
  return read_schedule(in, "p.plan", matrix);
}

ScheduleRecord record_of(const CommMatrix& matrix, const Scheduler& scheduler, std::uint64_t seed) {
  const Topology* topology = test::network_for(scheduler, matrix.num_ranks());
  return {std::string(scheduler.name),
          seed,
          scheduler.guarantees,
          matrix.fingerprint(),
          scheduler.make({.matrix = matrix, .seed = seed, .topology = topology}),
          topology != nullptr ? topology->name() : ""};
}

/// law_test.cpp reads schedules of random matrices too.
TEST(ScheduleText, ReadsWhatItWrites) {
  for (const auto& [name, matrix] : test::extreme_matrices()) {
    for (const Scheduler& scheduler : schedulers()) {
      const ScheduleRecord record = record_of(matrix, scheduler, 3);
      const ScheduleRecord again = read(write(record, matrix), matrix);
      EXPECT_EQ(again.schedule, record.schedule) << name << " " << scheduler.name;
      EXPECT_EQ(again.scheduler, record.scheduler);
      EXPECT_EQ(again.seed, 3U);
      EXPECT_EQ(again.guarantees, record.guarantees);
      EXPECT_EQ(again.topology, record.topology);
      EXPECT_EQ(again.matrix_fingerprint, matrix.fingerprint());
    }
  }
}

TEST(ScheduleText, KeepsForwardedAndSplitPieces) {
  const CommMatrix matrix = test::matrix_of(3, {{0, 2, 8}, {0, 1, 3}});
  Schedule schedule(3);
  const Piece both[] = {{0, 0, 3}, {1, 2, 4}};
  const Piece part{1, 2, 4};
  schedule.add(0, 1, both);
  schedule.begin_phase();
  schedule.add(1, 2, {&part, 1});
  const std::string text = write({"by_hand", 0, 0, matrix.fingerprint(), schedule}, matrix);
  EXPECT_NE(text.find("\nphase 0 transfers 1\n0 1 0>1:0+3 0>2:2+4\nphase 1 transfers 1\n1 2 0>2:2+4\nend\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(read(text, matrix).schedule, schedule);
}

class BadScheduleText : public testing::Test {
 protected:
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 10}, {2, 3, 5}, {0, 2, 6}});
  const std::string good = write(record_of(matrix, find_scheduler("coloring"), 0), matrix);

  /// The good text with the first `from` replaced.
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " is not in\n" << text;
    return text.replace(at, from.size(), to);
  }
  void bad(const std::string& text, const std::string& place, const std::string& what,
           ErrorCode code = ErrorCode::parse) const {
    SCOPED_TRACE(text);
    EXPECT_ERROR(read(text, matrix), code, {place, what});
  }
};

TEST_F(BadScheduleText, NamesTheLine) {
  bad("", "p.plan:0", "nuice-schedule 1");
  bad(with("nuice-schedule 1", "nuice-schedule 2"), "p.plan:1", "version 2");
  bad(with("nuice-schedule", "schedule"), "p.plan:1", "nuice-schedule 1");
  bad(with("scheduler coloring", "scheduler"), "p.plan:2", "scheduler VALUE");
  bad(with("seed 0", "seed -1"), "p.plan:3", "-1");
  bad(with("one_port", "no_port"), "p.plan:4", "unknown guarantee \"no_port\"");
  bad(with("ranks 4", "ranks four"), "p.plan:5", "four");
  bad(with("phases 2", "phases 3"), "p.plan:", "phase 2");
  bad(with("phase 1", "phase 7"), "p.plan:", "phase 1 transfers");
  bad(with("transfers 2", "transfers 0"), "p.plan:", "transfers COUNT");
  bad(with("transfers 2", "transfers 3"), "p.plan:", "expected");
  bad(with("0>1:0+10", "0>1:0-10"), "p.plan:9", "not a piece");
  bad(with("0>1:0+10", "0>1:0+99999999999999999999"), "p.plan:9", "not a piece");
  bad(with("\nend\n", "\nend\nmore\n"), "p.plan:", "after \"end\"");
  bad(with("\nend\n", "\n"), "p.plan:", "end");
}

TEST_F(BadScheduleText, NamesAnotherMatrix) {
  bad(with("0>1:0+10", "1>0:0+10"), "p.plan:9", "no message from rank 1 to rank 0", ErrorCode::mismatch);
  const CommMatrix other = test::matrix_of(4, {{0, 1, 11}, {2, 3, 5}, {0, 2, 6}});
  EXPECT_ERROR(read(good, other), ErrorCode::mismatch, {"p.plan:6", "another matrix"});
}

TEST_F(BadScheduleText, CutAnywhereIsRefused) {
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    EXPECT_THROW(read(good.substr(0, length), matrix), Error) << "cut after " << length << " characters";
  }
}

}  // namespace
}  // namespace nuice
