// SPDX-License-Identifier: BSD-3-Clause
// Text formats: Matrix Market for matrices, and a line-oriented format of NUICE for schedules.
//
// Matrix Market: "coordinate" or "array"; "integer" ("unsigned-integer"), "real" (whole numbers; numbers with
// a point or an exponent must be below 2^53) or "pattern" (one byte per entry); "general" or "symmetric". The
// row is the sender and the column the receiver, both counted from 1; the value is the number of bytes. Files
// packed by gzip are unpacked, and a byte order mark is skipped.
//
// Schedule, version 1: a header of "key value" lines, then one line per transfer. docs/reference/formats.md
// describes it.
//   nuice-schedule 1
//   scheduler rs_n
//   seed 7
//   guarantees direct one_port link_free
//   topology hypercube:2                only with the guarantee link_free: the network on which it holds
//   ranks 4
//   matrix 8a0c15b1d3f2e907
//   phases 2
//   phase 0 transfers 2
//   0 1 0>1:0+1024          src dst, then pieces: message source > message destination : offset + bytes
//   2 3 @1 2>3:0+512        the same, over path 1 of the topology
//   phase 1 transfers 1
//   ...
//   end
//
// Every function that reads throws Error with code `io`, or with code `parse` and the text "name:line: the
// fault". Every file is first written under another name and then renamed, so a failed write leaves no
// incomplete file, and an older file stays.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice {

/// Reads a matrix. `name` names the stream in error texts. Throws Error with code `limit` for more than 2^24
/// ranks.
CommMatrix read_matrix_market(std::istream& in, const std::string& name);
void write_matrix_market(std::ostream& out, const CommMatrix& matrix, const std::string& comment = "");
CommMatrix load_matrix_market(const std::string& path);
void save_matrix_market(const std::string& path, const CommMatrix& matrix, const std::string& comment = "");

/// A sparse matrix of real numbers, as listed in a file, for numerical programs.
struct RealMatrix {
  struct Entry {
    std::int64_t row;  ///< The row, counted from 0; `column` is counted from 0 too.
    std::int64_t column;
    double value;
  };
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  /// The entries in the order of the file, with both halves of a symmetric matrix. A position may occur
  /// twice.
  std::vector<Entry> entries;
};

/// Reads the same formats as read_matrix_market(), with finite real values; the values of a pattern are 1.
/// Memory grows with the entries of the file, not with the sizes in its header. Throws Error with code `io`
/// or `parse`; `limit` for more than 2^31 - 1 rows or columns.
RealMatrix read_real_matrix(std::istream& in, const std::string& name);
RealMatrix load_real_matrix(const std::string& path);

/// A schedule, together with the other contents of its file.
struct ScheduleRecord {
  std::string scheduler;  ///< The name of the scheduler; any word if the schedule does not come from NUICE.
  std::uint64_t seed = 0;
  unsigned guarantees = 0;               ///< The flags of the guarantees that the file claims.
  std::uint64_t matrix_fingerprint = 0;  ///< The CommMatrix::fingerprint() of the matrix.
  Schedule schedule;
  /// The Topology::name() of the network on which link_free holds; empty without link_free.
  std::string topology = {};
};

/// Reads a schedule for the given matrix. Throws Error with code `mismatch` if the file is for another
/// matrix. The functions that write throw Error with code `invalid_argument` for a scheduler that is not one
/// word, for link_free without a topology, and for a topology without link_free.
ScheduleRecord read_schedule(std::istream& in, const std::string& name, const CommMatrix& matrix);
void write_schedule(std::ostream& out, const ScheduleRecord& record, const CommMatrix& matrix);
ScheduleRecord load_schedule(const std::string& path, const CommMatrix& matrix);
void save_schedule(const std::string& path, const ScheduleRecord& record, const CommMatrix& matrix);

}  // namespace nuice
