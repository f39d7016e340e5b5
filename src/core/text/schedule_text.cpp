// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the schedule format, version 1: text_io.hpp has an example and docs/reference/formats.md
// the rules.
#include <ostream>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/text_io.hpp"

namespace nuice {
namespace {

using core::LineReader;
using Words = std::vector<std::string_view>;

constexpr int format_version = 1;

std::string hex(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

class ScheduleReader {
 public:
  ScheduleReader(std::istream& in, const std::string& name, const CommMatrix& matrix)
      : lines_(in, name), matrix_(matrix) {}

  ScheduleRecord read() {
    read_version();
    ScheduleRecord record;
    record.scheduler = std::string(word_after("scheduler"));
    record.seed = number_after<std::uint64_t>("seed");
    record.guarantees = read_guarantees();
    if ((record.guarantees & link_free) != 0) record.topology = text_after("topology");
    const Rank num_ranks = number_after<Rank>("ranks");
    record.matrix_fingerprint = number_after<std::uint64_t>("matrix", 16);
    check_same_matrix(num_ranks, record.matrix_fingerprint);
    record.schedule = Schedule(num_ranks);
    const auto num_phases = number_after<PhaseId>("phases");
    for (PhaseId phase = 0; phase < num_phases; ++phase) read_phase(phase, record.schedule);
    next("end");
    if (words_.size() != 1 || words_[0] != "end") lines_.fail("expected \"end\"");
    if (lines_.next(line_)) lines_.fail("text after \"end\"");
    return record;
  }

 private:
  void next(std::string_view expected) {
    if (!lines_.next(line_))
      lines_.fail("the file ends where \"" + std::string(expected) + "\" was expected");
    words_ = core::split_words(line_);
  }

  void read_version() {
    next("nuice-schedule 1");
    int version = 0;
    if (words_.size() != 2 || words_[0] != "nuice-schedule" || !core::parse_number(words_[1], version)) {
      lines_.fail("expected \"nuice-schedule 1\"");
    }
    if (version != format_version) {
      lines_.fail("version " + std::to_string(version) + " of the format; this program reads version " +
                  std::to_string(format_version));
    }
  }

  std::string_view word_after(std::string_view key) {
    next(key);
    if (words_.size() != 2 || words_[0] != key) lines_.fail("expected \"" + std::string(key) + " VALUE\"");
    return words_[1];
  }

  /// Returns everything after the key, including blanks.
  std::string text_after(std::string_view key) {
    next(std::string(key) + " TEXT");
    if (words_.size() < 2 || words_[0] != key) lines_.fail("expected \"" + std::string(key) + " TEXT\"");
    const auto begin = static_cast<std::size_t>(words_[1].data() - line_.data());
    return line_.substr(begin);
  }

  template <typename T>
  T number_after(std::string_view key, int base = 10) {
    const std::string_view word = word_after(key);
    T value{};
    if (!core::parse_number(word, value, base) || std::cmp_less(value, 0)) {
      lines_.fail("\"" + std::string(word) + "\" is not a number for \"" + std::string(key) + "\"");
    }
    return value;
  }

  unsigned read_guarantees() {
    next("guarantees");
    if (words_.empty() || words_[0] != "guarantees") lines_.fail("expected \"guarantees NAMES...\"");
    unsigned guarantees = 0;
    for (const std::string_view name : std::span(words_).subspan(1)) {
      try {
        guarantees |= find_guarantee(name);
      } catch (const Error& error) {
        lines_.fail(error.what());
      }
    }
    return guarantees;
  }

  void check_same_matrix(Rank num_ranks, std::uint64_t fingerprint) const {
    if (num_ranks == matrix_.num_ranks() && fingerprint == matrix_.fingerprint()) return;
    lines_.fail(ErrorCode::mismatch, "the plan is for another matrix (" + std::to_string(num_ranks) +
                                         " ranks, fingerprint " + hex(fingerprint) +
                                         "; this one: " + std::to_string(matrix_.num_ranks()) + " ranks, " +
                                         hex(matrix_.fingerprint()) + ")");
  }

  void read_phase(PhaseId phase, Schedule& schedule) {
    next("phase " + std::to_string(phase));
    PhaseId number = 0;
    std::uint64_t num_transfers = 0;
    const bool good = words_.size() == 4 && words_[0] == "phase" && core::parse_number(words_[1], number) &&
                      number == phase && words_[2] == "transfers" &&
                      core::parse_number(words_[3], num_transfers) && num_transfers > 0;
    if (!good) lines_.fail("expected \"phase " + std::to_string(phase) + " transfers COUNT\" with COUNT > 0");
    schedule.begin_phase();
    for (std::uint64_t i = 0; i < num_transfers; ++i) read_transfer(schedule);
  }

  void read_transfer(Schedule& schedule) {
    next("SRC DST PIECES");
    Rank src = 0;
    Rank dst = 0;
    if (words_.size() < 3 || !core::parse_number(words_[0], src) || !core::parse_number(words_[1], dst)) {
      lines_.fail("expected \"SRC DST [@PATH] MSG_SRC>MSG_DST:OFFSET+BYTES ...\"");
    }
    auto words = std::span(words_).subspan(2);
    std::int64_t path = no_path;
    if (words[0].starts_with('@')) {
      if (!core::parse_number(words[0].substr(1), path) || path < 0)
        lines_.fail("\"" + std::string(words[0]) + "\" is not a path @NUMBER");
      words = words.subspan(1);
      if (words.empty()) lines_.fail("a transfer without pieces");
    }
    pieces_.clear();
    for (const std::string_view word : words) pieces_.push_back(parse_piece(word));
    schedule.add(src, dst, pieces_, path);
  }

  /// Parses a piece such as "0>1:0+1024".
  Piece parse_piece(std::string_view word) {
    const std::size_t arrow = word.find('>');
    const std::size_t colon = word.find(':');
    const std::size_t plus = word.find('+');
    Message message{};
    Bytes offset = 0;
    const bool good = arrow < colon && colon < plus && plus < word.size() &&
                      core::parse_number(word.substr(0, arrow), message.src) &&
                      core::parse_number(word.substr(arrow + 1, colon - arrow - 1), message.dst) &&
                      core::parse_number(word.substr(colon + 1, plus - colon - 1), offset) &&
                      core::parse_number(word.substr(plus + 1), message.bytes);
    if (!good) lines_.fail("\"" + std::string(word) + "\" is not a piece MSG_SRC>MSG_DST:OFFSET+BYTES");
    const auto id = matrix_.find(message.src, message.dst);
    if (!id) {
      lines_.fail(ErrorCode::mismatch, "the matrix has no message from rank " + std::to_string(message.src) +
                                           " to rank " + std::to_string(message.dst));
    }
    return {*id, offset, message.bytes};
  }

  LineReader lines_;
  const CommMatrix& matrix_;
  std::string line_;
  Words words_;
  std::vector<Piece> pieces_;
};

}  // namespace

ScheduleRecord read_schedule(std::istream& in, const std::string& name, const CommMatrix& matrix) {
  return ScheduleReader(in, name, matrix).read();
}

void write_schedule(std::ostream& out, const ScheduleRecord& record, const CommMatrix& matrix) {
  if (core::split_words(record.scheduler).size() != 1) {
    throw Error(ErrorCode::invalid_argument,
                "\"" + record.scheduler + "\" is not a name for a scheduler: one word");
  }
  const bool names_topology = !record.topology.empty();
  if (names_topology != ((record.guarantees & link_free) != 0)) {
    throw Error(ErrorCode::invalid_argument,
                names_topology ? "a topology is written only for schedules that are link_free"
                               : "a schedule that is link_free must name its topology");
  }
  if (record.topology.find_first_of("\r\n") != std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "the name of a topology is one line");
  }
  const Schedule& schedule = record.schedule;
  const std::string guarantees = guarantee_names(record.guarantees);
  out << "nuice-schedule " << format_version << "\nscheduler " << record.scheduler << "\nseed " << record.seed
      << "\nguarantees" << (guarantees.empty() ? "" : " ") << guarantees
      << (names_topology ? "\ntopology " : "") << record.topology << "\nranks " << schedule.num_ranks()
      << "\nmatrix " << hex(record.matrix_fingerprint) << "\nphases " << schedule.num_phases() << '\n';
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    const auto transfers = schedule.transfers(phase);
    out << "phase " << phase << " transfers " << transfers.size() << '\n';
    for (const Transfer& transfer : transfers) {
      out << transfer.src << ' ' << transfer.dst;
      if (transfer.path != no_path) out << " @" << transfer.path;
      for (const Piece& piece : transfer.pieces) {
        out << ' ' << matrix.src(piece.message) << '>' << matrix.dst(piece.message) << ':' << piece.offset
            << '+' << piece.bytes;
      }
      out << '\n';
    }
  }
  out << "end\n";
}

ScheduleRecord load_schedule(const std::string& path, const CommMatrix& matrix) {
  core::UnpackedFile in(path);
  return read_schedule(in, path, matrix);
}

void save_schedule(const std::string& path, const ScheduleRecord& record, const CommMatrix& matrix) {
  core::write_atomically(path, [&](std::ostream& out) { write_schedule(out, record, matrix); });
}

}  // namespace nuice
