// SPDX-License-Identifier: BSD-3-Clause
// What distributed planning takes, with all ranks in one process: distributed_counts RANKS
// DEGREE PATTERN SIZES. Prints a row of docs/explanation/at-scale.md. 2^20 ranks with 64
// messages each take minutes and 12 GB.
#include <cstdio>
#include <cstdlib>

#include "support/scale/changes.hpp"
#include "support/scale/patterns.hpp"
#include "support/scale/planned.hpp"

namespace {

using namespace nuice;
using namespace nuice::scale;

std::size_t bytes_of(const PhaseTable& table) {
  return sizeof(table) + (table.destinations.size() + table.sources.size()) * sizeof(Partner) +
         table.entries.size() * sizeof(PhaseEntry);
}

/// Returns the memory of the rank that needs most, in bytes: for its messages, and for its control messages
/// while it plans or its finished table, whichever is more.
std::size_t bytes_of_a_rank(Planned& planned) {
  const std::vector<std::uint8_t> used = used_colours(planned);
  const std::vector<PhaseId> phase_of = phases_of(used);
  const auto num_phases = static_cast<PhaseId>(std::ranges::count(used, 1));
  std::size_t most_messages = 0;
  std::size_t most_table = 0;
  for (Rank rank = 0; rank < planned.sends.num_ranks(); ++rank) {
    const PhaseTable table = table_of(planned.sends.side(rank), planned.receives.side(rank), phase_of,
                                      num_phases, planned.sends.num_ranks());
    most_messages = std::max(most_messages, planned.sends.degree(rank) + planned.receives.degree(rank));
    most_table = std::max(most_table, bytes_of(table));
  }
  const std::size_t messages = most_messages * (sizeof(Rank) + sizeof(Bytes) + sizeof(Colour));
  return messages + 2 * sizeof(Side) + std::max(most_table, planned.most_letter_bytes_of_a_rank);
}

int run(Rank ranks, Rank degree, const char* pattern, const char* sizes) {
  constexpr std::uint64_t seed = 0;
  Planned planned = plan(make_rows(pattern, sizes, ranks, degree, seed), seed);
  const std::size_t memory = bytes_of_a_rank(planned);
  const std::vector<Bytes> limits = limits_of(planned.sends, planned.receives);
  const double most_degree = static_cast<double>(limits.size());
  double phases = 0;
  double bytes = 0;
  {
    const CommMatrix matrix = matrix_of(planned.sends);
    const Schedule schedule = schedule_of(planned, matrix);
    if (const auto violation = check(matrix, schedule, direct | one_port)) {
      std::fprintf(stderr, "distributed_counts: %s\n", violation->text.c_str());
      return 1;
    }
    phases = schedule.num_phases() / most_degree;
    bytes = static_cast<double>(phase_bytes(schedule)) / static_cast<double>(whole_message_bytes(matrix));
  }
  const auto rounds = planned.rounds;
  const auto letters = static_cast<double>(planned.letters());
  const double letters_of_a_rank = static_cast<double>(planned.most_letters_of_a_rank) / most_degree;
  Random random(mix64(seed + 1));
  exchange_partners(planned.sends, 0.01, random);
  const Planned follows = plan(std::move(planned.sends), seed, &planned.palette);
  std::printf("| %s, %s | %d | %.0f | %.3f | %.3f | %u | %.2f | %.1f %% | %.1f |\n", pattern, sizes, ranks,
              most_degree, phases, bytes, rounds, letters_of_a_rank,
              100 * static_cast<double>(follows.letters()) / letters, static_cast<double>(memory) / 1024);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: distributed_counts RANKS DEGREE PATTERN SIZES\n", stderr);
    return 2;
  }
  std::puts(
      "| pattern, sizes | ranks | D | phases / D | bytes / W | rounds | control messages | follows | KiB of "
      "a rank |\n"
      "|---|---|---|---|---|---|---|---|---|");
  return run(std::atoi(argv[1]), std::atoi(argv[2]), argv[3], argv[4]);
}
