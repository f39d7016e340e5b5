// SPDX-License-Identifier: BSD-3-Clause
// The extension module nuice._core: its table of contents. One file per topic, in the order of the C++
// headers.
#include "bindings.hpp"
#include "nuice/plan/scheduler.hpp"

NB_MODULE(_core, module) {
  using namespace nuice::python;
  module.doc() = "The C++ library nuice: communication matrices, schedules, their checker and their files.";
  module.attr("MAX_BYTES") = nuice::max_bytes;
  module.attr("DEFAULT_PHASE_COST_BYTES") = nuice::default_phase_cost_bytes;
  module.attr("NO_RANK") = nuice::no_rank;
  module.attr("NO_LINK") = nuice::no_link;
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // a matrix in a global variable lives until the interpreter ends: no error
#endif
  register_error(module);
  register_matrix(module);
  register_schedule(module);
  register_phase_table(module);
  register_networks(module);
  register_check(module);
  register_schedulers(module);
  register_patterns(module);
  register_files(module);
  register_exchange(module);
  register_machine(module);
  register_packets(module);
  register_broadcast(module);
  register_advise(module);
}
