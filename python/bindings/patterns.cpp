// SPDX-License-Identifier: BSD-3-Clause
// Generators of communication matrices.
#include "nuice/core/patterns.hpp"

#include "bindings.hpp"

namespace nuice::python {

void register_patterns(nb::module_& module) {
  module.def(
      "random_regular",
      [](Rank num_ranks, Rank degree, Bytes unit_bytes, Bytes max_units, std::uint64_t seed) {
        return random_regular(num_ranks, degree, {unit_bytes, max_units}, seed);
      },
      nb::arg("num_ranks"), nb::arg("degree"), nb::arg("unit_bytes") = 1024, nb::arg("max_units") = 1,
      nb::arg("seed") = 0, without_gil(),
      "Makes a matrix in which every rank sends `degree` messages and receives `degree` messages, none to\n"
      "itself (003 fig. 7). A size is unit_bytes times a whole number that is drawn from 1..max_units.");
  module.def(
      "random_density",
      [](Rank num_ranks, double density, Bytes unit_bytes, Bytes max_units, std::uint64_t seed) {
        return random_density(num_ranks, density, {unit_bytes, max_units}, seed);
      },
      nb::arg("num_ranks"), nb::arg("density"), nb::arg("unit_bytes") = 1024, nb::arg("max_units") = 1,
      nb::arg("seed") = 0, without_gil(),
      "Makes a matrix in which every ordered pair of different ranks has a message with probability "
      "`density`.");
}

}  // namespace nuice::python
