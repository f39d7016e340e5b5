// SPDX-License-Identifier: BSD-3-Clause
// Machine files: what is read, and that what makes no sense is refused with its line.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <variant>

#include "machine/keys.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"
#include "nuice/core/topology.hpp"
#include "nuice/plan/machine.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

constexpr std::string_view good = R"(summary = "a test"
topology = "hypercube:4"
[message]
start_up = "88 us"
eager_limit = "16 KiB"
[port]
bandwidth = "4 MB/s"
duplex = "paired"
[network]
switching = "circuit"
packet_payload = "16 B"
packet_header = "4 B"
[memory]
copy = "0.5 ns/B"
)";

TEST(MachineFile, NumbersComeInTheirUnits) {
  const Machine machine = parse_machine(good, "test");
  EXPECT_EQ(machine.name, "test");
  EXPECT_EQ(machine.summary, "a test");
  EXPECT_EQ(machine.topology->num_ranks(), 16);
  EXPECT_DOUBLE_EQ(machine.start_up_s, 88e-6);
  EXPECT_EQ(machine.eager_limit, 16384);
  EXPECT_DOUBLE_EQ(machine.byte_s, 0.25e-6);
  EXPECT_EQ(machine.duplex, Duplex::paired);
  EXPECT_EQ(machine.switching, Switching::circuit);
  EXPECT_DOUBLE_EQ(machine.copy_byte_s, 0.5e-9);
  EXPECT_EQ(wire_bytes(machine, 17), 40);
}

TEST(MachineFile, EveryShippedMachineIsSound) {
  EXPECT_GE(shipped_machines().size(), 8U);
  for (const ShippedMachine& shipped : shipped_machines()) {
    const Machine machine = find_machine(shipped.name);
    EXPECT_FALSE(machine.summary.empty()) << shipped.name;
    EXPECT_NO_THROW(require_valid(machine));
  }
}

struct Wrong {
  std::string from;  // in `good`
  std::string to;
  std::string says;  // part of the error
};

class WrongFile : public testing::TestWithParam<Wrong> {};

TEST_P(WrongFile, IsRefusedWithItsLine) {
  std::string text(good);
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, GetParam().from.size(), GetParam().to);
  SCOPED_TRACE(GetParam().from + " -> " + GetParam().to);
  EXPECT_ERROR(parse_machine(text, "bad.toml"), ErrorCode::parse, {"bad.toml:", GetParam().says});
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongFile,
    testing::Values(
        Wrong{"[port]", "[,port]", "expected bare key"},
        Wrong{"start_up = ", "startup = ",
              "bad.toml:4: no key of [message] is called 'startup'; known: start_up"},
        Wrong{"[message]", "[massage]", "no section is called [massage]; known: [message]"},
        Wrong{"summary = ", "sumary = ", "bad.toml:1: no key is called 'sumary'"},
        Wrong{"\"88 us\"", "88", "bad.toml:4: start_up has no unit: write it as \"88 us\""},
        Wrong{"\"88 us\"", "\"88\"", "bad.toml:4: start_up: '88' has no unit; units: ns, us, ms, s"},
        Wrong{"\"88 us\"", "\"88 km\"", "bad.toml:4: start_up: no unit here is called 'km'"},
        Wrong{"\"88 us\"", "\"88 MB/s\"", "bad.toml:4: start_up: no unit here is called 'MB/s'"},
        Wrong{"\"88 us\"", "\"-88 us\"", "bad.toml:4: start_up: '-88 us' must not be negative"},
        Wrong{"\"88 us\"", "\"1e17 s\"", "bad.toml:4: start_up makes for more than 1e9 s"},
        Wrong{"\"88 us\"", "\"nan us\"", "bad.toml:4: start_up: 'nan us' does not begin with a number"},
        Wrong{"\"88 us\"", "\"1e999 us\"", "bad.toml:4: start_up"},
        Wrong{"\"88 us\"", "\"\"", "bad.toml:4: start_up: '' does not begin with a number"},
        Wrong{"\"16 KiB\"", "\"0.3 B\"", "bad.toml:5: eager_limit is not a whole number of bytes"},
        Wrong{"\"16 KiB\"", "\"1e30 B\"", "bad.toml:5: eager_limit is above 2^62 bytes"},
        Wrong{"\"4 MB/s\"", "\"0 MB/s\"", "bad.toml:7: bandwidth: '0 MB/s' must be above 0"},
        Wrong{"\"4 MB/s\"", "\"0 ns/B\"", "bad.toml:7: bandwidth must be above 0"},
        Wrong{"bandwidth = \"4 MB/s\"", "", "the key 'bandwidth' of [port] is missing"},
        Wrong{"topology = \"hypercube:4\"", "", "the key 'topology' is missing"},
        Wrong{"hypercube:4", "hypercube:x", "bad.toml:2: topology"},
        Wrong{"\"paired\"", "\"both\"", "bad.toml:8: unknown duplex \"both\"; known: full, paired, half"},
        Wrong{"\"circuit\"", "7", "bad.toml:10: switching must be a string in quotes"},
        Wrong{"packet_payload = \"16 B\"", "", "bad.toml:12: packet_header without packet_payload"},
        Wrong{"[memory]", "[memory]\nslowdown = 0.5", "bad.toml:14: slowdown is not in 1..1e9"},
        Wrong{"[memory]", "[memory]\nslowdown = 2", "bad.toml:14: slowdown needs a limit"},
        Wrong{"[memory]", "[receiver]\nqueue_senders = 2\n[memory]",
              "bad.toml:14: queue_senders needs a timeout"},
        Wrong{"[memory]", "[receiver]\nqueue_senders = -1\n[memory]", "bad.toml:14: queue_senders is not in"},
        Wrong{"[memory]", "[receiver]\nloss_per_sender = 0.1\n[memory]",
              "bad.toml:14: loss_per_sender needs"},
        Wrong{"[memory]", "[memory", "bad.toml:13"}));

TEST(MachineFile, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_ERROR(find_machine("cm6"), ErrorCode::invalid_argument, {"cm5-32"});
  EXPECT_THROW(load_machine("no-such-file.toml"), Error);
  EXPECT_ERROR(find_machine("/nowhere/cm5-32"), ErrorCode::io, {"/nowhere/cm5-32: No such file"});
}

// ---- the writer

using namespace machine::key_kinds;

/// Field by field, exactly; by the table, so that no key is forgotten.
void expect_same(const Machine& a, const Machine& b) {
  for (const machine::Key& key : machine::keys) {
    const auto same = [&](const auto& what) {
      if constexpr (requires { what.member; }) return a.*what.member == b.*what.member;
      return a.duplex == b.duplex && a.switching == b.switching && a.routing == b.routing;
    };
    EXPECT_TRUE(std::visit(same, key.what)) << b.name << ": [" << key.section << "] " << key.name;
  }
  EXPECT_EQ(a.summary, b.summary);
  EXPECT_EQ(a.topology->name(), b.topology->name());
}

void expect_reads_back(const Machine& machine) {
  const std::string text = machine_text(machine);
  SCOPED_TRACE(text);
  expect_same(parse_machine(text, machine.name), machine);
}

TEST(WriteMachine, EveryShippedMachineReadsBack) {
  for (const ShippedMachine& shipped : shipped_machines()) expect_reads_back(find_machine(shipped.name));
}

TEST(WriteMachine, AnyMachineReadsBackToTheLastBit) {
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    Machine any = find_machine("cm5-32");
    const auto draw = [&](double least, double most) {  // evenly over the orders of magnitude
      return least * std::pow(most / least, random.unit());
    };
    for (const machine::Key& key : machine::keys) {
      if (const auto* s = std::get_if<Seconds>(&key.what)) any.*s->member = draw(1e-12, 1e4);
      if (const auto* p = std::get_if<PerByte>(&key.what)) any.*p->member = draw(1e-15, 1e-2);
      if (const auto* s = std::get_if<Size>(&key.what)) any.*s->member = Bytes(random.below(1ULL << 50));
      if (const auto* c = std::get_if<Count>(&key.what)) any.*c->member = int(random.below(100));
      if (const auto* n = std::get_if<Number>(&key.what)) any.*n->member = draw(1, 1e6);
      if (const auto* f = std::get_if<Flag>(&key.what)) any.*f->member = random.below(2) == 1;
    }
    any.packet_payload += 1;
    any.exchange_saves_s = any.send_overhead_s * random.unit();
    any.duplex = static_cast<Duplex>(random.below(3));
    any.switching = static_cast<Switching>(random.below(2));
    any.lossless = any.lossless && any.switching == Switching::packet && any.duplex == Duplex::full;
    any.routing = Routing{static_cast<int>(random.below(3))};
    expect_reads_back(any);
  }
}

TEST(WriteMachine, PeopleCanReadIt) {
  Machine machine = parse_machine(good, "test");
  machine.summary = "a \"quoted\" \\ line\nand another";
  const std::vector<MachineNote> notes = {{"", "", "measured by hand\nnow"},
                                          {"message", "start_up", "spread 3 us"},
                                          {"receiver", "queue", "not measured"}};
  EXPECT_EQ(machine_text(machine, notes), R"(# measured by hand now
summary = "a \"quoted\" \\ line and another"
topology = "hypercube:4"

[message]
start_up = "88 us"              # spread 3 us
eager_limit = "16 KiB"

[port]
bandwidth = "4 MB/s"
duplex = "paired"

[network]
switching = "circuit"
packet_payload = "16 B"
packet_header = "4 B"

[receiver]
# queue: not measured

[memory]
copy = "2 GB/s"
)");
}

TEST(WriteMachine, NonsenseIsNotWritten) {
  Machine machine = parse_machine(good, "test");
  machine.latency_s = -1;
  const std::string path = testing::TempDir() + "nuice_nonsense.toml";
  std::filesystem::remove(path);  // of an earlier run
  EXPECT_THROW(save_machine(machine, path), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
  machine.latency_s = 1e-6;
  save_machine(machine, path);
  expect_same(load_machine(path), machine);
  EXPECT_THROW(save_machine(machine, "/no/such/folder/m.toml"), Error);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace nuice
