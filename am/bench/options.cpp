// SPDX-License-Identifier: BSD-3-Clause
#include "bench/options.hpp"

#include "nuice/mpi/am.hpp"

namespace nuice::am_bench {

void add_options(kit::App& app, Options& options) {
  options.groups = {"pingpong",   "flood",    "roundtrip", "twoway",      "coalesced",
                    "block",      "shift",    "polling",   "computing",   "fanin",
                    "collective", "alltoall", "histogram", "index-gather"};
  options.transports = am::mpi::transports();
  kit::add(
      app, "--groups", options.groups,
      "what to measure, separated by commas; by default everything:\n"
      "pingpong, flood (one way), roundtrip (flood with replies), twoway (flood), coalesced (8-byte items),\n"
      "block (002 fig. 14 and puts), shift (figs 17, 18), polling (fig. 16: F), computing (fig. 15),\n"
      "fanin (004 table 2), collective (quiesce, level, empty poll), alltoall (flood of all ranks),\n"
      "histogram, index-gather (bale: 4-byte updates and reads of a table on all ranks, coalesced)",
      kit::one_of(options.groups));
  kit::add(app, "--transports", options.transports, "transports of NUICE, separated by commas",
           kit::one_of(options.transports));
  kit::add(app, "--methods", options.methods,
           "only methods whose names begin so (am:mpi, mpi), separated by commas");
  kit::add(app, "--bytes", options.bytes, "size of messages, items or blocks in bytes; 0: all sizes");
  kit::add(app, "--reps", options.reps, "timed repetitions", kit::range(1, 100'000));
  kit::add(app, "--warmup", options.warmup, "repetitions before that", kit::range(0, 1000));
  kit::add(app, "--work", options.work, "factor for the operations in each repetition",
           kit::range(0.001, 1000.0));
  kit::add_flag(app, "--full", options.full, "all sizes of the papers' figures instead of a few");
  kit::add_flag(
      app, "--threads", options.threads,
      "use MPI_THREAD_MULTIPLE, which slows every MPI call, and in group computing the progress thread");
  kit::add_json(app, options.json);
}

}  // namespace nuice::am_bench
