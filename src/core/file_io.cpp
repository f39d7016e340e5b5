// SPDX-License-Identifier: BSD-3-Clause
#include "core/file_io.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <istream>

namespace nuice::core {

bool LineReader::next(std::string& line) {
  if (!std::getline(in_, line)) {
    if (in_.bad()) fail(ErrorCode::io, "cannot be read further");
    return false;
  }
  ++line_number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

void LineReader::fail(const std::string& what) const { fail(ErrorCode::parse, what); }

void LineReader::fail(ErrorCode code, const std::string& what) const {
  throw Error(code, name_ + ":" + std::to_string(line_number_) + ": " + what);
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

std::ifstream open_for_reading(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw Error(ErrorCode::io, path + ": is a directory");
  errno = 0;
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::io, path + ": " + std::strerror(errno));
  return in;
}

namespace {

/// A device or pipe such as /dev/stdout is written to and never replaced.
bool is_special_file(const std::string& path) {
  const auto status = std::filesystem::status(path);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_straight(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::ofstream out(path);
  if (out) write(out);
  out.close();
  if (!out) throw Error(ErrorCode::io, path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (is_special_file(path)) {
    write_straight(path, write);
    return;
  }
  const std::string temporary = path + ".tmp." + std::to_string(getpid());
  const auto give_up = [&](const std::string& reason) {
    std::remove(temporary.c_str());
    throw Error(ErrorCode::io, path + ": cannot be written: " + reason);
  };
  errno = 0;
  std::ofstream out(temporary);
  if (!out) throw Error(ErrorCode::io, path + ": cannot be written: " + std::strerror(errno));
  try {
    write(out);
    out.close();
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  if (!out) give_up(std::strerror(errno));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) give_up(std::strerror(errno));
}

}  // namespace nuice::core
