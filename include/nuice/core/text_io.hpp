// SPDX-License-Identifier: BSD-3-Clause
// Text formats: Matrix Market for matrices, and a line-oriented format of our own for schedules.
//
// Matrix Market: "coordinate" or "array", "integer" ("unsigned-integer"), "real" (whole numbers only, below 2^53 where
// they have a point or an exponent) or "pattern" (one byte each), "general" or "symmetric"; row = sender, column =
// receiver, both from 1; value = bytes. Files packed by gzip are unpacked, a byte order mark is skipped.
//
// Schedule, version 1: a header of "key value" lines, then one line per transfer. docs/reference/formats.md describes
// it.
//   nuice-schedule 1
//   scheduler rs_n
//   seed 7
//   guarantees direct one_port link_free
//   topology hypercube:2                only where link_free is among the guarantees: the network it holds on
//   ranks 4
//   matrix 8a0c15b1d3f2e907
//   phases 2
//   phase 0 transfers 2
//   0 1 0>1:0+1024          src dst, then pieces: message source > message destination : offset + bytes
//   2 3 @1 2>3:0+512        over path 1 of the topology
//   phase 1 transfers 1
//   ...
//   end
//
// Every reader throws Error parse with "name:line: what is wrong", or io. Files are written under another
// name first and then renamed, so that a failed write leaves nothing behind and loses nothing.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice {

/// `name` names the stream in error texts. Throws Error limit for more than 2^24 ranks.
CommMatrix read_matrix_market(std::istream& in, const std::string& name);
void write_matrix_market(std::ostream& out, const CommMatrix& matrix, const std::string& comment = "");
CommMatrix load_matrix_market(const std::string& path);
void save_matrix_market(const std::string& path, const CommMatrix& matrix, const std::string& comment = "");

/// A sparse matrix of real numbers, as a file lists it, for numerical programs.
struct RealMatrix {
  struct Entry {
    std::int64_t row;  ///< Counts from 0, as `column` does.
    std::int64_t column;
    double value;
  };
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  std::vector<Entry>
      entries;  ///< In the file's order, with both halves of a symmetric matrix; a place may occur twice.
};

/// Reads the same formats, with finite values; the values of a pattern are 1. Memory grows with the entries
/// of the file, not with the sizes in its header. Throws Error parse as above; limit above 2^31 - 1 rows or
/// columns.
RealMatrix read_real_matrix(std::istream& in, const std::string& name);
RealMatrix load_real_matrix(const std::string& path);

/// A schedule with the facts that a later reader needs.
struct ScheduleRecord {
  std::string scheduler;  ///< Name of its scheduler; any word for others.
  std::uint64_t seed = 0;
  unsigned guarantees = 0;               ///< The guarantees that it claims, as flags.
  std::uint64_t matrix_fingerprint = 0;  ///< CommMatrix::fingerprint() of its matrix.
  Schedule schedule;
  std::string topology =
      {};  ///< Topology::name() of the network that link_free holds on; empty without link_free.
};

/// Reading needs the schedule's matrix, and throws Error mismatch for another one. Writing throws Error
/// invalid_argument for a scheduler that is not one word, for link_free without a topology, and for a
/// topology without link_free.
ScheduleRecord read_schedule(std::istream& in, const std::string& name, const CommMatrix& matrix);
void write_schedule(std::ostream& out, const ScheduleRecord& record, const CommMatrix& matrix);
ScheduleRecord load_schedule(const std::string& path, const CommMatrix& matrix);
void save_schedule(const std::string& path, const ScheduleRecord& record, const CommMatrix& matrix);

}  // namespace nuice
