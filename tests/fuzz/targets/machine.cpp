// SPDX-License-Identifier: BSD-3-Clause
// Machine files: what is read is written and read again as the same, and can be simulated.
#include "nuice/plan/machine.hpp"
#include "driver/target.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/plan/scheduler.hpp"
#include "nuice/plan/simulate.hpp"

namespace {

/// Compared with times of years microseconds are lost in a double, and ranks
/// then seem to wait forever (Error state).
bool is_of_this_world(const nuice::Machine& m) {
  constexpr double longest_s = 1e6;
  for (const double time_s :
       {m.start_up_s, m.latency_s, m.hop_s, m.handshake_s, m.send_overhead_s, m.receive_overhead_s,
        m.post_receive_s, m.async_send_s, m.phase_s, m.idle_phase_s, m.barrier_s, m.barrier_level_s,
        m.timeout_s, m.am_send_s, m.am_latency_s, m.am_handler_s, m.am_retry_s, 1e6 * m.byte_s,
        1e6 * m.copy_byte_s})
    if (time_s > longest_s) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  const std::vector<Message> messages{{0, 1, 1000}, {0, 2, 1}, {1, 2, 70000}, {2, 0, 3}};
  static const CommMatrix matrix = CommMatrix::from_messages(3, messages);
  // Files that name files are for the target `network`.
  const std::string text(fuzz::text_of(data, size));
  if (text.find("file:") != std::string::npos) return 0;
  return fuzz::expect_errors_only([&] {
    const Machine machine = parse_machine(text, "fuzz");
    fuzz::require(machine_text(parse_machine(machine_text(machine), "fuzz")) == machine_text(machine),
                  "not the same machine again");
    if (machine.topology->num_ranks() < 3 || machine.topology->num_links() > 10'000) return;
    if (!is_of_this_world(machine)) return;
    simulate(matrix, make_schedule(matrix, "lp"), machine);
    simulate_drs_n(matrix, machine);
  });
}
