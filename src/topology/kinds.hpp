// SPDX-License-Identifier: BSD-3-Clause
// Declares the maker of every kind of network. networks.cpp lists the kinds.
#pragma once

#include <memory>

#include "topology/spec.hpp"

namespace nuice::topo {

using Made = std::unique_ptr<const Topology>;

Made make_crossbar(const Spec& spec);
Made make_hypercube(const Spec& spec);
Made make_mesh(const Spec& spec);
Made make_torus(const Spec& spec);
Made make_fat_tree(const Spec& spec);
Made make_tree(const Spec& spec);
Made make_cm5(const Spec& spec);
Made make_dragonfly(const Spec& spec);
Made make_from_file(const Spec& spec);
Made make_from_ib(const Spec& spec);

}  // namespace nuice::topo
