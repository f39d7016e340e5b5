// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: choices that have been measured, kept in a file from run to run.
//
//   const WisdomKey key = wisdom_key(matrix, machine, reuse, "executor auto");
//   if (const WisdomEntry* known = read_wisdom(path).find(key)) ...    // known->scheduler, known->executor
//   std::string trouble = add_wisdom(path, {&entry, 1});               // empty if it was written
//
// A wisdom file is never trusted: what is not whole, not of this version, not in the table of schedulers or out of range
// is passed over, and WisdomFile::warning says so in one sentence. Nothing here fails because of a bad file. Several
// processes may read and write one file at once: a writer takes a lock, reads what others have written meanwhile, and
// replaces the old file by the new one in a single step. docs/how-to/calibrate.md has the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

/// What a choice was made for. Two problems with the same key are taken for the same.
struct WisdomKey {
  std::uint64_t matrix = 0;  ///< CommMatrix::fingerprint(): the sizes of all messages.
  Rank num_ranks = 0;
  MessageId num_messages = 0;
  Bytes total_bytes = 0;
  std::uint64_t machine = 0;  ///< fingerprint(machine).
  int reuse_bits = 0;  ///< How many binary digits the number of reuses has: R = 64 and R = 127 are alike.
  std::uint64_t setting = 0;  ///< Of a text that says what else was fixed when the choice was made.

  friend bool operator==(const WisdomKey&, const WisdomKey&) = default;
};

/// A choice, and the evidence for it.
struct WisdomEntry {
  WisdomKey key;
  std::string scheduler;   ///< A name of schedulers().
  std::string executor;    ///< One that runs on MPI.
  double predicted_s = 0;  ///< The exchange time that was expected; 0: none was.
  double measured_s = 0;   ///< Median of the repetitions' maxima over the ranks.
  int repetitions = 0;
};

/// What a file holds for this version of nuice.
struct WisdomFile {
  std::vector<WisdomEntry> entries;
  std::string warning;  ///< What was passed over and why, one sentence; empty if nothing was.

  /// nullptr if there is none. Valid as long as `entries` is not changed.
  const WisdomEntry* find(const WisdomKey& key) const;
};

/// The same on every platform; another number or another topology gives another one, a name or a comment does not.
std::uint64_t fingerprint(const Machine& machine);

WisdomKey wisdom_key(const CommMatrix& matrix, const Machine& machine, std::uint64_t reuse,
                     std::string_view setting);

/// What a file with this text says; `name` stands in the warning.
WisdomFile parse_wisdom(std::string_view text, const std::string& name);

/// What the file says. One that does not exist is an empty one.
/// At most 4 MiB, 4096 entries and 1 KiB a line are read.
WisdomFile read_wisdom(const std::string& path);

/// Adds the entries to the file, replaces those with the same keys, and makes the file and its folders if they
/// are missing. Lines of other versions stay; damaged ones go; above 4096 the oldest go.
/// Returns why nothing was written, in one sentence, or an empty text: a file that cannot be written, one that is no
/// wisdom, a lock that somebody holds for more than 5 s.
std::string add_wisdom(const std::string& path, std::span<const WisdomEntry> entries);

/// $NUICE_WISDOM; without it $XDG_CACHE_HOME/nuice/wisdom; without that ~/.cache/nuice/wisdom. Empty if NUICE_WISDOM is
/// set and empty or `none`, or there is no home: no wisdom.
std::string default_wisdom_path();

}  // namespace nuice
