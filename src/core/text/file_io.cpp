// SPDX-License-Identifier: BSD-3-Clause
#include "core/text/file_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <istream>
#include <random>
#include <streambuf>

#include "nuice/core/interrupt.hpp"

namespace nuice::core {

bool LineReader::next(std::string& line) {
  check_interrupt();
  if (!get_line(line)) return false;
  if (++line_number_ == 1) {
    if (const std::string why = why_no_text(line); !why.empty()) fail(why);
    if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

/// Reads a line like std::getline, but a file without line ends (a device, or a huge packed file) cannot fill
/// the memory.
bool LineReader::get_line(std::string& line) {
  constexpr int end_of_file = std::streambuf::traits_type::eof();
  line.clear();
  std::streambuf* const from = in_.rdbuf();
  for (int next = next_character(*from); next != '\n'; next = next_character(*from)) {
    if (next == end_of_file) return !line.empty();
    line.push_back(static_cast<char>(next));
    if (line.size() <= longest_line) continue;
    ++line_number_;
    fail(ErrorCode::limit, "a line of more than " + std::to_string(longest_line) + " characters");
  }
  return true;
}

int LineReader::next_character(std::streambuf& from) const {
  try {
    return from.sbumpc();
  } catch (const std::ios_base::failure& error) {  // a disk error or a damaged packed file
    fail(ErrorCode::io, std::string("cannot be read further: ") + error.what());
  }
}

void LineReader::fail(const std::string& what) const { fail(ErrorCode::parse, what); }

void LineReader::fail(ErrorCode code, const std::string& what) const {
  throw Error(code, name_ + ":" + std::to_string(line_number_) + ": " + what);
}

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

std::string why_no_text(std::string_view begin) {
  struct Kind {
    std::string_view begin;
    std::string_view what;
  };
  using namespace std::string_view_literals;
  constexpr std::array kinds{
      Kind{"BZh"sv, "packed by bzip2: unpack it first (bunzip2)"},
      Kind{"\xFD\x37zXZ"sv, "packed by xz: unpack it first (unxz)"},
      Kind{"\x28\xB5\x2F\xFD"sv, "packed by zstd: unpack it first (unzstd)"},
      Kind{"\x04\x22\x4D\x18"sv, "packed by lz4: unpack it first (unlz4)"},
      Kind{"PK\x03\x04"sv, "a ZIP archive: unpack it first (unzip)"},
      Kind{"\x1F\x9D"sv, "packed by compress: unpack it first (uncompress)"},
      Kind{"\x89HDF"sv, "an HDF5 file, not text"},
      Kind{"\xFF\xFE"sv, "text in UTF-16: write it in UTF-8"},
      Kind{"\xFE\xFF"sv, "text in UTF-16: write it in UTF-8"},
  };
  for (const Kind& kind : kinds)
    if (begin.starts_with(kind.begin)) return "the file is " + std::string(kind.what);
  return {};
}

std::vector<std::string_view> split_words(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
}

namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw Error(ErrorCode::io, path + ": cannot be written: " + reason);
}

/// Returns whether the path is a device, a pipe or a descriptor of this process. Such a file is written to,
/// and not replaced by a new file. For example, /dev/stdout may lead to a regular file that another process
/// has open.
bool is_special_file(const std::string& path) {
  for (const std::string_view special : {"/dev/std", "/dev/fd/", "/proc/"}) {
    if (path.starts_with(special)) return true;
  }
  const auto status = std::filesystem::status(path);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_straight(const std::string& path, const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(path);
  if (out) write(out);
  out.close();
  if (!out) cannot_write(path, std::strerror(errno));
}

/// Follows all symbolic links and returns the file's path; the file need not exist.
std::string behind_links(const std::string& path) {
  constexpr int most_links = 40;  // the limit of the Linux kernel
  std::filesystem::path target = path;
  for (int i = 0; i < most_links && std::filesystem::is_symlink(target); ++i)
    target = target.parent_path() / std::filesystem::read_symlink(target);
  return target.string();
}

/// Makes an empty file next to `target`. If `target` exists, the new file gets its mode and owner. The name
/// is random, so that no other user with access to the folder can have put a link there.
std::string make_temporary(const std::string& target, const std::string& path) {
  struct stat before{};
  const bool replaces = stat(target.c_str(), &before) == 0;
  if (replaces && access(target.c_str(), W_OK) != 0) cannot_write(path, std::strerror(errno));
  std::random_device random;
  for (;;) {
    const std::string name = target + ".tmp." + std::to_string((std::uint64_t{random()} << 32) | random());
    const int file = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, replaces ? 0600 : 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) cannot_write(path, std::strerror(errno));
    if (replaces) {
      // A file of another user keeps its owner only if this process may give files away. Its mode is always
      // kept.
      if (before.st_uid != geteuid() || before.st_gid != getegid()) {
        if (fchown(file, before.st_uid, before.st_gid) != 0) errno = 0;
      }
      fchmod(file, before.st_mode & 0777);
    }
    close(file);
    return name;
  }
}

}  // namespace

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (is_special_file(path)) {
    write_straight(path, write);
    return;
  }
  const std::string target = behind_links(path);
  const std::string temporary = make_temporary(target, path);
  const auto give_up = [&](const std::string& reason) {
    std::remove(temporary.c_str());
    cannot_write(path, reason);
  };
  errno = 0;
  std::ofstream out(temporary);
  if (!out) give_up(std::strerror(errno));
  try {
    write(out);
    out.close();
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  if (!out) give_up(std::strerror(errno));
  if (std::rename(temporary.c_str(), target.c_str()) != 0) give_up(std::strerror(errno));
}

}  // namespace nuice::core
