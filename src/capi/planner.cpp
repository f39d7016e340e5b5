// SPDX-License-Identifier: BSD-3-Clause
// Matrices, schedules and advice: the functions that need no MPI.
#include "capi/planner.hpp"

#include <memory>
#include <variant>

#include "capi/guard.hpp"
#include "core/support/option_table.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::capi {
namespace {

using namespace nuice::options;

struct ScheduleOptions {
  std::string scheduler = "rs_n";
  std::uint64_t seed = 0;
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  bool prefer_pairs = false;
  std::string topology;
};
struct MachineOptions {
  std::string machine = "ethernet-10g";
  std::uint64_t reuse = AdviceOptions{}.reuse;
  std::uint64_t seed = 0;
};
constexpr std::uint64_t any = ~std::uint64_t{0};

template <typename O>
using PlannerOption = Option<std::variant<Text<O>, Flag<O>, Whole<O, std::uint64_t>, Size<O>>>;

// NOLINTNEXTLINE(bugprone-macro-parentheses): a type must not be in parentheses
#define NUICE_AT(type, member) [](type& o) -> decltype((o.member)) { return o.member; }
const std::array schedule_rows{
    PlannerOption<ScheduleOptions>{"scheduler", "which algorithm",
                                   Text<ScheduleOptions>{NUICE_AT(ScheduleOptions, scheduler)}},
    PlannerOption<ScheduleOptions>{
        "seed", "of random numbers",
        Whole<ScheduleOptions, std::uint64_t>{NUICE_AT(ScheduleOptions, seed), 0, any}},
    PlannerOption<ScheduleOptions>{
        "phase_cost", "in bytes",
        Size<ScheduleOptions>{NUICE_AT(ScheduleOptions, phase_cost_bytes), 0, max_bytes}},
    PlannerOption<ScheduleOptions>{"prefer_pairs", "pairs in the same phase",
                                   Flag<ScheduleOptions>{NUICE_AT(ScheduleOptions, prefer_pairs)}},
    PlannerOption<ScheduleOptions>{"topology", "the network",
                                   Text<ScheduleOptions>{NUICE_AT(ScheduleOptions, topology)}},
};
const std::array machine_rows{
    PlannerOption<MachineOptions>{"machine", "by name or file",
                                  Text<MachineOptions>{NUICE_AT(MachineOptions, machine)}},
    PlannerOption<MachineOptions>{
        "reuse", "how often the plan is used",
        Whole<MachineOptions, std::uint64_t>{NUICE_AT(MachineOptions, reuse), 1, any}},
    PlannerOption<MachineOptions>{
        "seed", "of random numbers",
        Whole<MachineOptions, std::uint64_t>{NUICE_AT(MachineOptions, seed), 0, any}},
};
#undef NUICE_AT

template <typename O, std::size_t n>
O options_of(const char* text, const std::array<PlannerOption<O>, n>& table) {
  O options;
  parse_options(text == nullptr ? "" : text, std::span<const PlannerOption<O>>(table), options);
  for (const auto& row : table)
    if (const std::string why = why_not_option(row, options); !why.empty())
      refuse("option " + std::string(row.name) + " " + why);
  return options;
}

void check_record(const ScheduleRecord& record, const CommMatrix& matrix) {
  if (record.matrix_fingerprint != matrix.fingerprint())
    throw Error(ErrorCode::mismatch, "the schedule is for another matrix");
  const auto network = record.topology.empty() ? nullptr : make_topology(record.topology);
  if (const auto violation = check(matrix, record.schedule, record.guarantees, network.get()))
    throw Error(ErrorCode::mismatch, violation->text);
}

ScheduleRecord make_record(const CommMatrix& matrix, const ScheduleOptions& options) {
  const auto network = options.topology.empty() ? nullptr : make_topology(options.topology);
  const Scheduler& row = find_scheduler(options.scheduler);
  ScheduleRecord record{.scheduler = options.scheduler,
                        .seed = options.seed,
                        .guarantees = row.guarantees,
                        .matrix_fingerprint = matrix.fingerprint(),
                        .schedule = make_schedule({.matrix = matrix,
                                                   .seed = options.seed,
                                                   .phase_cost_bytes = options.phase_cost_bytes,
                                                   .topology = network.get(),
                                                   .prefer_pairs = options.prefer_pairs},
                                                  options.scheduler)};
  if (row.needs_topology()) record.topology = network->name();
  check_record(record, matrix);
  return record;
}

struct PieceRow {
  PhaseId phase;
  Transfer transfer;
  Piece piece;
};

template <typename Act>
void for_each_piece(const Schedule& schedule, Act&& act) {
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    for (const Transfer& transfer : schedule.transfers(phase))
      for (const Piece& piece : transfer.pieces) act(PieceRow{phase, transfer, piece});
}

using AdviceText = std::string (*)(const Advice&);
constexpr auto advice_texts = std::to_array<Property<AdviceText>>({
    {"scheduler", [](const Advice& advice) { return advice.choice().scheduler; }},
    {"executor", [](const Advice& advice) { return advice.choice().executor; }},
    {"sentence", [](const Advice& advice) { return advice.sentence; }},
    {"text", [](const Advice& advice) { return to_text(advice); }},
    {"json", [](const Advice& advice) { return to_json(advice); }},
});

template <typename Value>
void put(Value* to, std::size_t index, std::int64_t value) {
  if (to != nullptr) to[index] = static_cast<Value>(value);
}

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_matrix_create(int num_ranks, int64_t num_messages, const int src[], const int dst[],
                        const int64_t bytes[], nuice_matrix** matrix) {
  return guarded([&] {
    const auto from = array(src, num_messages, "src");
    const auto to = array(dst, num_messages, "dst");
    const auto sizes = array(bytes, num_messages, "bytes");
    std::vector<nuice::Message> entries(from.size());
    for (std::size_t j = 0; j < entries.size(); ++j) entries[j] = {from[j], to[j], sizes[j]};
    at(matrix, "matrix") = new nuice_matrix{nuice::CommMatrix::from_messages(num_ranks, entries)};
  });
}

int nuice_matrix_load(const char* path, nuice_matrix** matrix) {
  return guarded(
      [&] { at(matrix, "matrix") = new nuice_matrix{nuice::load_matrix_market(&at(path, "path"))}; });
}

int nuice_matrix_save(const nuice_matrix* matrix, const char* path) {
  return guarded([&] { nuice::save_matrix_market(&at(path, "path"), at(matrix, "matrix").matrix); });
}

int nuice_matrix_size(const nuice_matrix* matrix, int* num_ranks, int64_t* num_messages) {
  return guarded([&] {
    const nuice::CommMatrix& held = at(matrix, "matrix").matrix;
    put(num_ranks, 0, held.num_ranks());
    put(num_messages, 0, held.num_messages());
  });
}

int nuice_matrix_messages(const nuice_matrix* matrix, int src[], int dst[], int64_t bytes[]) {
  return guarded([&] {
    const nuice::CommMatrix& held = at(matrix, "matrix").matrix;
    for (nuice::MessageId id = 0; id < held.num_messages(); ++id) {
      put(src, id, held.src(id));
      put(dst, id, held.dst(id));
      put(bytes, id, held.bytes(id));
    }
  });
}

int nuice_matrix_free(nuice_matrix** matrix) { return free_handle(matrix); }

int nuice_schedule_create(const nuice_matrix* matrix, const char* options, nuice_schedule** schedule) {
  return guarded([&] {
    const nuice::CommMatrix& held = at(matrix, "matrix").matrix;
    at(schedule, "schedule") =
        new nuice_schedule{make_record(held, options_of(options, schedule_rows)), held};
  });
}

int nuice_schedule_load(const nuice_matrix* matrix, const char* path, nuice_schedule** schedule) {
  return guarded([&] {
    const nuice::CommMatrix& held = at(matrix, "matrix").matrix;
    at(schedule, "schedule") = new nuice_schedule{nuice::load_schedule(&at(path, "path"), held), held};
  });
}

int nuice_schedule_save(const nuice_schedule* schedule, const nuice_matrix* matrix, const char* path) {
  return guarded([&] {
    const nuice::ScheduleRecord& record = at(schedule, "schedule").record;
    const nuice::CommMatrix& held = at(matrix, "matrix").matrix;
    if (record.matrix_fingerprint != held.fingerprint())
      throw nuice::Error(nuice::ErrorCode::mismatch, "the schedule is for another matrix");
    nuice::save_schedule(&at(path, "path"), record, held);
  });
}

int nuice_schedule_check(const nuice_schedule* schedule, const nuice_matrix* matrix) {
  return guarded([&] { check_record(at(schedule, "schedule").record, at(matrix, "matrix").matrix); });
}

int nuice_schedule_size(const nuice_schedule* schedule, int64_t* num_phases, int64_t* num_pieces) {
  return guarded([&] {
    const nuice::Schedule& held = at(schedule, "schedule").record.schedule;
    put(num_phases, 0, held.num_phases());
    put(num_pieces, 0, static_cast<int64_t>(held.num_pieces()));
  });
}

int nuice_schedule_pieces(const nuice_schedule* schedule, int64_t phase[], int src[], int dst[],
                          int message_src[], int message_dst[], int64_t offset[], int64_t bytes[]) {
  return guarded([&] {
    const nuice_schedule& held = at(schedule, "schedule");
    std::size_t p = 0;
    for_each_piece(held.record.schedule, [&](const PieceRow& row) {
      put(phase, p, row.phase);
      put(src, p, row.transfer.src);
      put(dst, p, row.transfer.dst);
      put(message_src, p, held.matrix.src(row.piece.message));
      put(message_dst, p, held.matrix.dst(row.piece.message));
      put(offset, p, row.piece.offset);
      put(bytes, p, row.piece.bytes);
      ++p;
    });
  });
}

int nuice_schedule_free(nuice_schedule** schedule) { return free_handle(schedule); }

int nuice_advice_create(const nuice_matrix* matrix, const char* options, nuice_advice** advice) {
  return guarded([&] {
    const auto chosen = options_of(options, machine_rows);
    const nuice::CommMatrix& given = at(matrix, "matrix").matrix;
    at(advice, "advice") =
        new nuice_advice{nuice::advise(given, nuice::find_machine(chosen.machine, given.num_ranks()),
                                       {.reuse = chosen.reuse, .seed = chosen.seed}),
                         {}};
  });
}

int nuice_advice_text(const nuice_advice* advice, const char* name, const char** text) {
  return guarded([&] {
    const nuice_advice& held = at(advice, "advice");
    held.text = find_property(advice_texts, name)(held.advice);
    at(text, "text") = held.text.c_str();
  });
}

int nuice_advice_free(nuice_advice** advice) { return free_handle(advice); }
