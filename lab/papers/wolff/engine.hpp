// SPDX-License-Identifier: BSD-3-Clause
// A scheme with a lattice, its type hidden: what flips clusters on the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "irregular/scheme.hpp"
#include "wolff/cluster.hpp"
#include "wolff/lattice.hpp"

namespace nuice::wolff {

/// A way to grow clusters. word names it: SCHEME or SCHEME:SYNC.
struct Way {
  std::string word;
  irregular::SchemeOptions scheme;
  std::int64_t delta = 1;
  std::int64_t grain = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Collective. Flips cluster number `cluster`; how many sites this rank flipped.
  virtual std::int64_t flip(std::uint64_t cluster) = 0;
  virtual irregular::Traffic traffic() const = 0;
  virtual std::string transport() const = 0;
  virtual Lattice& lattice() = 0;
  /// Other ranks, by slot.
  virtual const std::vector<Rank>& neighbours() const = 0;
};

/// Collective. All spins are 1 at first. Throws what with_scheme() and Lattice throw.
void with_engine(MPI_Comm comm, const Way& way, const irregular::Stripes& stripes, Bonds bonds,
                 const std::function<void(Engine&)>& use);

/// Collective over the engine's communicator: sums over all ranks, columns that lie beside another rank's exchanged.
struct Observed {
  std::int64_t bonds = 0;  ///< Energy = -bonds.
  std::int64_t magnetisation = 0;
};
Observed observe(MPI_Comm comm, Engine& engine, const irregular::Stripes& stripes);

/// Collective. The whole lattice, on all ranks.
std::vector<Spin> gather(MPI_Comm comm, const Lattice& lattice);

/// Of a whole lattice; collective: of one whose parts the ranks have. Different lattices have different ones.
std::uint64_t fingerprint(std::span<const Spin> whole);
std::uint64_t fingerprint(MPI_Comm comm, const Lattice& lattice);

}  // namespace nuice::wolff
