// SPDX-License-Identifier: BSD-3-Clause
// The table of scheduling algorithms. To add a scheduler, write its file in this folder, a line in rows.hpp,
// and a row here.
#include <algorithm>
#include <array>
#include <bit>

#include "core/support/table.hpp"
#include "nuice/core/error.hpp"
#include "schedulers/rows.hpp"

namespace nuice {
namespace {

using namespace sched;

std::uint32_t whole(double value) { return static_cast<std::uint32_t>(value); }

double log2_up(double value) { return value < 1 ? 0 : std::bit_width(whole(value) - 1); }

// The functions below return the expected number of phases, for n ranks and maximum degree D.

double one_phase(const MatrixTraits& /*traits*/) { return 1; }

/// Every pair of ranks has a phase, even without messages.
double linear_phases(const MatrixTraits& t) {
  return std::min(static_cast<double>(std::bit_ceil(whole(t.ranks))) - 1, t.degree * t.ranks);
}

double two_phases(const MatrixTraits& /*traits*/) { return 2; }

double a_phase_per_rank(const MatrixTraits& t) { return t.ranks; }

double steps(const MatrixTraits& t) { return log2_up(t.ranks); }

/// D + log2 D, the average found in 003 s.4.
double greedy_phases(const MatrixTraits& t) { return t.degree + log2_up(t.degree); }

/// D if all sizes are equal, so that no message is split.
double peeled_phases(const MatrixTraits& t) { return t.equal_sizes ? t.degree : t.degree * 6; }

double link_free_phases(const MatrixTraits& t) { return t.degree * 1.3; }

double fewest(const MatrixTraits& t) { return t.degree; }

/// D + 1: distributed planning adds a colour instead of searching for the last free place.
double one_more(const MatrixTraits& t) { return t.degree + 1; }

constexpr Scheduler lp{.name = "lp",
                       .summary = "linear permutation: ranks exchange in pairs, partner i xor k in phase k",
                       .source = "000 fig. 5, 003 fig. 3",
                       .guarantees = direct | one_port,
                       .randomized = false,
                       .make = make_lp,
                       .expected_phases = linear_phases,
                       .expected_unevenness = 0.7,
                       .planning_passes = 1,
                       .gathers = false,
                       .tried_with = Paces(Pace::phases)};

constexpr Scheduler rs_n{.name = "rs_n",
                         .summary = "random scheduling avoiding node contention; the later name of cgm",
                         .source = "000 fig. 6, 004 fig. 4",
                         .guarantees = direct | one_port,
                         .randomized = true,
                         .make = make_compact_masking,
                         .expected_phases = greedy_phases,
                         .expected_unevenness = 0.7,
                         .planning_passes = 1,
                         .gathers = true,
                         .tried_with = Paces(Pace::phases)};

constexpr Scheduler lex{
    .name = "lex",
    .summary = "linear exchange: in step i all send to rank i",
    .source = "001 s.3.1",
    .guarantees = direct,
    .randomized = false,
    .make = make_lex,
    .expected_phases = a_phase_per_rank,
    .expected_unevenness = 0.7,
    .planning_passes = 1,
    .gathers = false,
    .tried_with = Paces::none()};  // all ranks send to one rank, which is the contention that schedules are
                                   // to avoid

constexpr Scheduler bex{
    .name = "bex",
    .summary = "balanced exchange: pex shifted by one rank, to spread long distances over steps",
    .source = "001 s.3.4, fig. 4",
    .guarantees = direct | one_port,
    .randomized = false,
    .make = make_bex,
    .expected_phases = linear_phases,
    .expected_unevenness = 0.7,
    .planning_passes = 1,
    .gathers = false,
    .tried_with = Paces(Pace::phases)};

/// Returns the row under another name.
constexpr Scheduler alias(Scheduler row, std::string_view name, std::string_view summary,
                          std::string_view source) {
  row.alias_of = row.name;
  row.name = name;
  row.summary = summary;
  row.source = source;
  return row;
}

constexpr std::array built_in{
    Scheduler{.name = "ac",
              .summary = "asynchronous: one phase, every rank sends all it has in random order",
              .source = "000 fig. 4, 003 fig. 2",
              .guarantees = direct,
              .randomized = true,
              .make = make_ac,
              .expected_phases = one_phase,
              .expected_unevenness = 0.7,
              .planning_passes = 1,
              .gathers = false,
              .tried_with = Paces(Pace::at_once)},
    lp,
    Scheduler{.name = "gm",
              .summary = "global masking: greedy phases from the matrix in its own order",
              .source = "003 fig. 4",
              .guarantees = direct | one_port,
              .randomized = true,
              .make = make_gm,
              .expected_phases = greedy_phases,
              .expected_unevenness = 0.7,
              .planning_passes = 1,
              .gathers = true,
              .tried_with = Paces::none()},  // its schedules are as good as those of rs_n, but planning takes
                                             // longer
    alias(rs_n, "cgm", "compact global masking: greedy phases from the compressed matrix", "003 figs 5, 6"),
    rs_n,
    Scheduler{.name = "coloring",
              .summary = "bipartite edge colouring: exactly as many phases as the maximum degree",
              .source = "Koenig 1916",
              .guarantees = direct | one_port | fewest_phases,
              .randomized = false,
              .make = make_coloring,
              .why_not = why_not_coloring,
              .expected_phases = fewest,
              .expected_unevenness = 0.7,
              .planning_passes = 1,
              .gathers = true,
              .tried_with = Paces(Pace::at_once, Pace::phases)},
    lex,
    alias(lp, "pex", "pairwise exchange: partner i xor k in step k; the same as lp", "001 s.3.2, fig. 2"),
    Scheduler{.name = "rex",
              .summary = "recursive exchange: log2 n steps, messages are forwarded by other ranks",
              .source = "001 s.3.3, fig. 3",
              .guarantees = one_port,
              .randomized = false,
              .make = make_rex,
              .expected_phases = steps,
              .expected_unevenness = 0.7,
              .planning_passes = 2,
              .gathers = true,
              .tried_with = Paces(Pace::phases)},
    Scheduler{.name = "bruck",
              .summary = "forwards by the digits of the distance: few phases, each message a few hops",
              .source = "Bruck et al., TPDS 8(11), 1997",
              .guarantees = one_port,
              .randomized = false,
              .make = make_bruck,
              .expected_phases = steps,
              .expected_unevenness = 0.7,
              .planning_passes = 10,
              .gathers = true,
              .tried_with = Paces(Pace::phases),
              .radices = bruck_radices},
    Scheduler{.name = "bruck_kport",
              .summary = "as bruck with radix sqrt(n), all shifts of a digit at once: two phases",
              .source = "Bruck et al., TPDS 8(11), 1997, k ports; Fan et al., HPDC 2022",
              .guarantees = 0,
              .randomized = false,
              .make = make_bruck_kport,
              .expected_phases = two_phases,
              .expected_unevenness = 0.7,
              .planning_passes = 2,
              .gathers = true,
              .tried_with = Paces(Pace::phases),
              .is_tried_for_small = true},
    Scheduler{.name = "forward_small",
              .summary = "bruck_kport for small messages; the others directly, all at once in its last phase",
              .source = "NUICE, after Bruck et al., TPDS 8(11), 1997",
              .guarantees = 0,
              .randomized = false,
              .make = make_forward_small,
              .expected_phases = two_phases,
              .expected_unevenness = 0.7,
              .planning_passes = 1,
              .gathers = true,
              .tried_with = Paces(Pace::phases),
              .straight_above = most_forwarded},
    bex,
    alias(lex, "ls", "linear scheduling: lex where messages may be missing; the same as lex", "001 s.4.1"),
    alias(lp, "ps", "pairwise scheduling: pex where messages may be missing; the same as pex", "001 s.4.2"),
    alias(bex, "bs", "balanced scheduling: bex where messages may be missing; the same as bex", "001 s.4.3"),
    Scheduler{.name = "gs",
              .summary = "greedy scheduling: each rank in turn takes the first partner that is free",
              .source = "001 s.4.4, fig. 12",
              .guarantees = direct | one_port,
              .randomized = false,
              .make = make_gs,
              .expected_phases = greedy_phases,
              .expected_unevenness = 0.7,
              .planning_passes = 2,
              .gathers = true,
              .tried_with = Paces(Pace::phases)},
    Scheduler{.name = "rs_nh",
              .summary = "rs_n for unequal sizes: largest first, large messages in parts over several phases",
              .source = "000 s.3.3, 004 s.3.3",
              .guarantees = direct | one_port,
              .randomized = true,
              .make = make_rs_nh,
              .expected_phases = greedy_phases,
              .expected_unevenness = 0.2,
              .planning_passes = 2,
              .gathers = true,
              .tried_with = Paces(Pace::at_once, Pace::phases)},
    Scheduler{.name = "lpt",
              .summary = "largest message first, into the first phase where both its ranks are free",
              .source = "Graham 1969",
              .guarantees = direct | one_port,
              .randomized = false,
              .make = make_lpt,
              .expected_phases = fewest,
              .expected_unevenness = 0.1,
              .planning_passes = 2,
              .gathers = true,
              .tried_with = Paces(Pace::phases)},
    Scheduler{.name = "birkhoff",
              .summary = "messages split so that all phases together wait for the fewest bytes",
              .source = "Birkhoff 1946, Gonzalez and Sahni 1976",
              .guarantees = direct | one_port | fewest_bytes,
              .randomized = false,
              .make = make_birkhoff,
              .why_not = why_not_peeling,
              .expected_phases = peeled_phases,
              .expected_unevenness = 0,
              .planning_passes = 20,
              .gathers = true,
              .tried_with = Paces(Pace::phases)},
    Scheduler{.name = "coloring_by_size",
              .summary = "max-degree phases like coloring, with nearly the fewest bytes of whole messages",
              .source = "NUICE, after Koenig 1916",
              .guarantees = direct | one_port | fewest_phases,
              .randomized = false,
              .make = make_coloring_by_size,
              .expected_phases = fewest,
              .expected_unevenness = 0.1,
              .planning_passes = 5,
              .gathers = true,
              .tried_with = Paces(Pace::at_once, Pace::phases, Pace::notices)},
    Scheduler{.name = "slices",
              .summary = "coloring_by_size with the largest messages split: at most a tenth more phases",
              .source = "NUICE, after Koenig 1916",
              .guarantees = direct | one_port,
              .randomized = false,
              .make = make_slices,
              .expected_phases = fewest,
              .expected_unevenness = 0.02,
              .planning_passes = 10,
              .gathers = true,
              .tried_with = Paces(Pace::phases)},
    Scheduler{.name = "kpbs",
              .summary = "phases have a cost: splits messages where that pays, at most twice the least cost",
              .source = "Cohen et al., TPDS 17(10), 2006",
              .guarantees = direct | one_port,
              .randomized = false,
              .make = make_kpbs,
              .why_not = why_not_kpbs,
              .expected_phases = fewest,
              .expected_unevenness = 0.1,
              .planning_passes = 10,
              .gathers = true,
              .tried_with = Paces(Pace::phases)},
    Scheduler{
        .name = "rs_nl",
        .summary = "rs_n that also keeps the links of a network free: no two routes of a phase share one",
        .source = "000 s.2.1, s.3.3",
        .guarantees = direct | one_port | link_free,
        .randomized = true,
        .make = make_rs_nl,
        .why_not = why_not_link_free,
        .expected_phases = link_free_phases,
        .expected_unevenness = 0.7,
        .planning_passes = 2,
        .gathers = true,
        .tried_with = Paces(Pace::at_once, Pace::phases)},
    Scheduler{.name = "rs_nlh",
              .summary = "rs_nh without link contention: for unequal sizes, large messages in parts",
              .source = "000 s.3.3",
              .guarantees = direct | one_port | link_free,
              .randomized = true,
              .make = make_rs_nlh,
              .why_not = why_not_link_free,
              .expected_phases = link_free_phases,
              .expected_unevenness = 0.2,
              .planning_passes = 2,
              .gathers = true,
              .tried_with = Paces(Pace::at_once, Pace::phases)},
    Scheduler{
        .name = "link_coloring",
        .summary = "nearly the fewest phases without link contention: first fit, then phases are dissolved",
        .source = "NUICE, after Nagata and Braysy 2009",
        .guarantees = direct | one_port | link_free,
        .randomized = false,
        .make = make_link_coloring,
        .why_not = why_not_link_free,
        .expected_phases = fewest,
        .expected_unevenness = 0.7,
        .planning_passes = 10,
        .gathers = true,
        .tried_with = Paces(Pace::at_once, Pace::phases, Pace::notices)},
    Scheduler{
        .name = "path_coloring",
        .summary = "a path for every message too: on full fat trees the fewest phases, elsewhere searched",
        .source = "Slepian 1952, Duguid 1959, Rosenthal 1973",
        .guarantees = direct | one_port | link_free,
        .randomized = false,
        .make = make_path_coloring,
        .why_not = why_not_link_free,
        .expected_phases = fewest,
        .expected_unevenness = 0.7,
        .planning_passes = 50,
        .gathers = true,
        .tried_with = Paces::none()},  // no MPI lets a sender choose a path
    Scheduler{
        .name = "link_list",
        .summary = "an order for depend: transfers on the busiest ports and links first, long ones in parts",
        .source = "NUICE, after Gonzalez and Sahni 1976",
        .guarantees = direct | one_port | link_free,
        .randomized = false,
        .make = make_link_list,
        .why_not = why_not_link_free,
        .expected_phases = link_free_phases,
        .expected_unevenness = 0.7,
        .planning_passes = 20,
        .gathers = true,
        .tried_with = Paces(Pace::at_once, Pace::notices)},
    Scheduler{.name = "distributed_coloring",
              .summary = "edge colouring by ranks that know their own messages only; cuts large messages",
              .source = "NUICE, after Panconesi and Srinivasan 1997",
              .guarantees = direct | one_port,
              .randomized = true,
              .make = make_distributed_coloring,
              .why_not = why_not_distributed_coloring,
              .expected_phases = one_more,
              .expected_unevenness = 0.1,
              .planning_passes = 50,
              .gathers = false,
              .tried_with = Paces::none()},  // for planning without a gather; else coloring is better
};

core::Table<Scheduler>& table() {
  static core::Table<Scheduler> rows("scheduler", built_in);
  return rows;
}

}  // namespace

std::span<const Scheduler> schedulers() { return table().rows(); }

const Scheduler& find_scheduler(std::string_view name) { return table().find(name); }

void add_scheduler(const Scheduler& row) {
  if (!row.alias_of.empty()) find_scheduler(row.alias_of);
  table().add(row);
}

Schedule make_schedule(const CommMatrix& matrix, std::string_view name, std::uint64_t seed,
                       Bytes phase_cost_bytes) {
  return make_schedule(Problem{matrix, seed, phase_cost_bytes}, name);
}

Schedule make_schedule(const Problem& problem, std::string_view name) {
  const Scheduler& scheduler = find_scheduler(name);
  if (const std::string reason = scheduler.why_not(problem); !reason.empty()) {
    throw Error(ErrorCode::not_applicable, std::string(name) + ": " + reason);
  }
  return scheduler.make(problem);
}

}  // namespace nuice
