// SPDX-License-Identifier: BSD-3-Clause
// Import and export by MPI alone, as Tpetra's Distributor does it: every message by Irecv and Isend, all at
// once. import_nuice.hpp is the same class by planned exchanges.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "vectors.hpp"

class Import {
 public:
  /// Collective. From the map with one owner to one in which ranks hold each other's entries.
  Import(MPI_Comm comm, const Map& source, const Map& target) : comm_(comm) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::map<int, std::vector<std::int64_t>> asked;  // the rank, and the indices requested from it
    for (std::size_t k = 0; k < target.indices.size(); ++k) {
      const auto next = std::upper_bound(source.begins.begin(), source.begins.end(), target.indices[k]);
      const int owner = static_cast<int>(next - source.begins.begin()) - 1;
      if (owner == rank) {
        local_.emplace_back(static_cast<std::size_t>(target.indices[k] - source.begins[rank]), k);
      } else {
        asked[owner].push_back(target.indices[k]);
        remote_[owner].push_back(k);
      }
    }
    std::vector<int> to_ask(size), to_answer(size);
    for (const auto& [owner, indices] : asked) to_ask[owner] = static_cast<int>(indices.size());
    MPI_Alltoall(to_ask.data(), 1, MPI_INT, to_answer.data(), 1, MPI_INT, comm);
    std::vector<MPI_Request> requests;
    std::map<int, std::vector<std::int64_t>> questions;
    for (int r = 0; r < size; ++r) {
      if (to_answer[r] == 0) continue;
      questions[r].resize(to_answer[r]);
      MPI_Irecv(questions[r].data(), to_answer[r], MPI_INT64_T, r, 0, comm, &requests.emplace_back());
    }
    for (const auto& [owner, indices] : asked)
      MPI_Isend(indices.data(), to_ask[owner], MPI_INT64_T, owner, 0, comm, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& [r, indices] : questions)
      for (const std::int64_t index : indices)
        sent_[r].push_back(static_cast<std::size_t>(index - source.begins[rank]));
  }

  /// to[k] = from at the index that k has in the target map (Tpetra: doImport, INSERT).
  void do_import(const MultiVector& from, MultiVector& to) {
    const auto received = carry(sent_, from, remote_);
    for (const auto& [entry, k] : local_) copy(&from.values[entry * from.columns], to, k);
    for (const auto& [rank, places] : remote_)
      for (std::size_t i = 0; i < places.size(); ++i)
        copy(&received.at(rank)[i * from.columns], to, places[i]);
  }

  /// to += what every rank holds for its entries, by ascending rank (Tpetra: doExport, ADD).
  void do_export(const MultiVector& from, MultiVector& to) {
    const auto received = carry(remote_, from, sent_);
    for (const auto& [entry, k] : local_) add(&from.values[k * from.columns], to, entry);
    for (const auto& [rank, places] : sent_)
      for (std::size_t i = 0; i < places.size(); ++i)
        add(&received.at(rank)[i * from.columns], to, places[i]);
  }

 private:
  using Places =
      std::map<int, std::vector<std::size_t>>;  // by rank, entries in the order in which they travel
  using Messages = std::map<int, std::vector<double>>;

  static void copy(const double* value, MultiVector& to, std::size_t entry) {
    std::copy_n(value, to.columns, &to.values[entry * to.columns]);
  }
  static void add(const double* value, MultiVector& to, std::size_t entry) {
    for (std::size_t c = 0; c < to.columns; ++c) to.values[entry * to.columns + c] += value[c];
  }

  Messages carry(const Places& outgoing, const MultiVector& from, const Places& incoming) const {
    std::vector<MPI_Request> requests;
    Messages sent, received;
    for (const auto& [rank, places] : incoming) {
      auto& message = received[rank];
      message.resize(places.size() * from.columns);
      MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, rank, 1, comm_,
                &requests.emplace_back());
    }
    for (const auto& [rank, places] : outgoing) {
      auto& message = sent[rank];
      for (const std::size_t place : places) {
        const double* const value = &from.values[place * from.columns];
        message.insert(message.end(), value, value + from.columns);
      }
      MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, rank, 1, comm_,
                &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return received;
  }

  MPI_Comm comm_;
  std::vector<std::pair<std::size_t, std::size_t>> local_;  // entry of the source map, of the target map
  Places remote_;  // entries of the target map that another rank owns, by owner
  Places sent_;    // entries of the source map that other ranks hold too, by rank
};
