// SPDX-License-Identifier: BSD-3-Clause
// The table of scheduling algorithms. To add one: a file beside this one, a line in rows.hpp, a row here.
#include <array>

#include "nuice/core/error.hpp"
#include "schedulers/rows.hpp"

namespace nuice {
namespace {

using namespace sched;

/// why_not of a scheduler that handles every matrix.
std::string always_applicable(const Problem& /*problem*/) { return {}; }

constexpr std::array table{
    Scheduler{.name = "ac",
              .summary = "asynchronous: one phase, every rank sends all it has in random order",
              .source = "000 fig. 4, 003 fig. 2",
              .guarantees = direct,
              .randomized = true,
              .why_not = always_applicable,
              .make = make_ac},
    Scheduler{.name = "lp",
              .summary = "linear permutation: ranks exchange in pairs, partner i xor k in phase k",
              .source = "000 fig. 5, 003 fig. 3",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_lp},
    Scheduler{.name = "gm",
              .summary = "global masking: greedy phases from the matrix in its own order",
              .source = "003 fig. 4",
              .guarantees = direct | one_port,
              .randomized = true,
              .why_not = always_applicable,
              .make = make_gm},
    Scheduler{.name = "cgm",
              .summary = "compact global masking: greedy phases from the compressed matrix",
              .source = "003 figs 5, 6",
              .guarantees = direct | one_port,
              .randomized = true,
              .why_not = always_applicable,
              .make = make_compact_masking},
    Scheduler{.name = "rs_n",
              .summary = "random scheduling avoiding node contention; the later name of cgm",
              .source = "000 fig. 6, 004 fig. 4",
              .guarantees = direct | one_port,
              .randomized = true,
              .why_not = always_applicable,
              .make = make_compact_masking},
    Scheduler{.name = "coloring",
              .summary = "bipartite edge colouring: exactly as many phases as the maximum degree",
              .source = "Koenig 1916",
              .guarantees = direct | one_port | fewest_phases,
              .randomized = false,
              .why_not = why_not_coloring,
              .make = make_coloring},
    Scheduler{.name = "lex",
              .summary = "linear exchange: in step i all send to rank i",
              .source = "001 s.3.1",
              .guarantees = direct,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_lex},
    Scheduler{.name = "pex",
              .summary = "pairwise exchange: partner i xor k in step k; the same as lp",
              .source = "001 s.3.2, fig. 2",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_lp},
    Scheduler{.name = "rex",
              .summary = "recursive exchange: log2 n steps, messages are forwarded by other ranks",
              .source = "001 s.3.3, fig. 3",
              .guarantees = one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_rex},
    Scheduler{.name = "bruck",
              .summary = "forwards by the digits of the distance: few phases, each message a few hops",
              .source = "Bruck et al., TPDS 8(11), 1997",
              .guarantees = one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_bruck},
    Scheduler{.name = "bex",
              .summary = "balanced exchange: pex shifted by one rank, to spread long distances over steps",
              .source = "001 s.3.4, fig. 4",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_bex},
    Scheduler{.name = "ls",
              .summary = "linear scheduling: lex where messages may be missing; the same as lex",
              .source = "001 s.4.1",
              .guarantees = direct,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_lex},
    Scheduler{.name = "ps",
              .summary = "pairwise scheduling: pex where messages may be missing; the same as pex",
              .source = "001 s.4.2",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_lp},
    Scheduler{.name = "bs",
              .summary = "balanced scheduling: bex where messages may be missing; the same as bex",
              .source = "001 s.4.3",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_bex},
    Scheduler{.name = "gs",
              .summary = "greedy scheduling: each rank in turn takes the first partner that is free",
              .source = "001 s.4.4, fig. 12",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_gs},
    Scheduler{.name = "rs_nh",
              .summary = "rs_n for unequal sizes: largest first, large messages in parts over several phases",
              .source = "000 s.3.3, 004 s.3.3",
              .guarantees = direct | one_port,
              .randomized = true,
              .why_not = always_applicable,
              .make = make_rs_nh},
    Scheduler{.name = "lpt",
              .summary = "largest message first, into the first phase where both its ranks are free",
              .source = "Graham 1969",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_lpt},
    Scheduler{.name = "birkhoff",
              .summary = "messages split so that all phases together wait for the fewest bytes",
              .source = "Birkhoff 1946, Gonzalez and Sahni 1976",
              .guarantees = direct | one_port | fewest_bytes,
              .randomized = false,
              .why_not = why_not_peeling,
              .make = make_birkhoff},
    Scheduler{.name = "coloring_by_size",
              .summary = "max-degree phases like coloring, with nearly the fewest bytes of whole messages",
              .source = "NUICE, after Koenig 1916",
              .guarantees = direct | one_port | fewest_phases,
              .randomized = false,
              .why_not = always_applicable,
              .make = make_coloring_by_size},
    Scheduler{.name = "slices",
              .summary = "large messages split at powers of two, their small remainders as coloring_by_size",
              .source = "Liu et al., CoNEXT 2015",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = why_not_peeling,
              .make = make_slices},
    Scheduler{.name = "kpbs",
              .summary = "phases have a cost: splits messages where that pays, at most twice the least cost",
              .source = "Cohen et al., TPDS 17(10), 2006",
              .guarantees = direct | one_port,
              .randomized = false,
              .why_not = why_not_kpbs,
              .make = make_kpbs},
    Scheduler{
        .name = "rs_nl",
        .summary = "rs_n that also keeps the links of a network free: no two routes of a phase share one",
        .source = "000 s.2.1, s.3.3",
        .guarantees = direct | one_port | link_free,
        .randomized = true,
        .why_not = why_not_link_free,
        .make = make_rs_nl},
    Scheduler{.name = "rs_nlh",
              .summary = "rs_nh without link contention: for unequal sizes, large messages in parts",
              .source = "000 s.3.3",
              .guarantees = direct | one_port | link_free,
              .randomized = true,
              .why_not = why_not_link_free,
              .make = make_rs_nlh},
    Scheduler{
        .name = "link_coloring",
        .summary = "nearly the fewest phases without link contention: first fit, then phases are dissolved",
        .source = "NUICE, after Nagata and Braysy 2009",
        .guarantees = direct | one_port | link_free,
        .randomized = false,
        .why_not = why_not_link_free,
        .make = make_link_coloring},
};

}  // namespace

std::span<const Scheduler> schedulers() { return table; }

const Scheduler& find_scheduler(std::string_view name) {
  std::string known;
  for (const Scheduler& scheduler : table) {
    if (scheduler.name == name) return scheduler;
    known += (known.empty() ? "" : ", ") + std::string(scheduler.name);
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown scheduler \"" + std::string(name) + "\"; known: " + known);
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
