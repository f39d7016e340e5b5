// SPDX-License-Identifier: BSD-3-Clause
// Import and export by planned exchanges: the class of import_mpi.hpp on nuice::mpi::Halo, which finds the
// messages and plans it. Nothing else of the program changes, and its results are the same bit for bit.
//
// A bound exchange knows its memory and a program passes any vectors, so values go by arrays of the
// halo's own: one copy more of what a rank owns. A program that always exchanges the same vectors
// binds them themselves and saves that.
#pragma once

#include <mpi.h>
#include <nuice/mpi/halo.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "vectors.hpp"

class Import {
 public:
  /// Collective. From the map with one owner to one in which ranks hold each other's
  /// entries. The options come from the
  /// environment: NUICE_OPTIONS="scheduler=coloring executor=async".
  Import(MPI_Comm comm, const Map& source, const Map& target)
      : halo_(comm, nuice::mpi::Ownership::ranges(source.begins), target.indices, {.scheduler = "auto"}) {
    for (const auto index : target.indices)
      entries_.push_back(static_cast<std::size_t>(halo_.local_index(index)));
  }

  /// to[k] = from at the index that k has in the target map (Tpetra: doImport, INSERT).
  void do_import(const MultiVector& from, MultiVector& to) {
    Buffers& b = buffers_for(from.columns);
    std::copy(from.values.begin(), from.values.end(), b.values.begin());
    b.gather->start();
    b.gather->wait();
    for (std::size_t k = 0; k < entries_.size(); ++k)
      std::copy_n(&b.values[entries_[k] * to.columns], to.columns, &to.values[k * to.columns]);
  }

  /// to += what every rank holds for its entries, by ascending rank (Tpetra: doExport, ADD).
  void do_export(const MultiVector& from, MultiVector& to) {
    Buffers& b = buffers_for(from.columns);
    std::copy(to.values.begin(), to.values.end(), b.values.begin());
    std::fill(b.values.begin() + static_cast<std::ptrdiff_t>(to.values.size()), b.values.end(), 0.0);
    for (std::size_t k = 0; k < entries_.size(); ++k)  // own contributions first, and those that travel
      for (std::size_t c = 0; c < to.columns; ++c)
        b.values[entries_[k] * to.columns + c] += from.values[k * to.columns + c];
    b.scatter->start();
    b.scatter->wait();
    std::copy_n(b.values.begin(), to.values.size(), to.values.begin());
  }

 private:
  struct Buffers {
    std::vector<double> values;  // owned entries, then ghosts
    std::optional<nuice::mpi::HaloExchange> gather, scatter;
  };

  /// Bound when vectors of this number of columns come for the first time, which is
  /// collective: all ranks pass the same.
  Buffers& buffers_for(std::size_t columns) {
    Buffers& b = buffers_[columns];
    if (!b.gather) {
      b.values.resize(halo_.num_entries() * columns);
      b.gather = halo_.bind_gather(b.values, static_cast<int>(columns));
      b.scatter = halo_.bind_scatter(b.values, static_cast<int>(columns));
    }
    return b;
  }

  nuice::mpi::Halo halo_;
  std::vector<std::size_t> entries_;  // of the target map, in the halo's order
  std::map<std::size_t, Buffers> buffers_;
};
