// SPDX-License-Identifier: BSD-3-Clause
#include "topology/slurm_files.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/host_list.hpp"

namespace nuice::topo {
namespace {

constexpr int most_includes = 10;  // maximum depth
constexpr std::string_view blanks = " \t";

struct Pair {
  std::string key;  // in lower case
  std::string value;
};

class SlurmReader {
 public:
  SlurmReader(std::istream& in, std::string path, int depth, SlurmFile& file)
      : lines_(in, path), path_(std::move(path)), depth_(depth), file_(file) {}

  void read() {
    for (std::string text; next(text);) {
      const std::vector<std::string_view> words = core::split_words(text);
      if (words.empty()) continue;
      if (words.size() == 2 && core::lower(words[0]) == "include") {
        include(words[1]);
      } else {
        add(pairs_of(text));
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::parse, where_ + ": " + what);
  }

  /// Reads a line without its comment. While a line ends with a backslash, appends the next line.
  bool next(std::string& text) {
    text.clear();
    std::string line;
    bool any = false;
    for (bool more = true; more && lines_.next(line);) {
      if (!any) where_ = path_ + ":" + std::to_string(lines_.line_number());
      any = true;
      line.erase(std::min(line.find('#'), line.size()));
      const std::size_t last = line.find_last_not_of(blanks);
      more = last != std::string::npos && line[last] == '\\';
      if (more) line.erase(last);
      text += line;
      if (text.size() > core::LineReader::longest_line)
        lines_.fail(ErrorCode::limit, "too many lines joined");
    }
    return any;
  }

  /// Returns the pairs of a text of the form KEY = VALUE ... A value in quotes may contain blanks.
  std::vector<Pair> pairs_of(std::string_view text) const {
    std::vector<Pair> pairs;
    for (;;) {
      text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
      if (text.empty()) return pairs;
      const std::size_t equals = text.find('=');
      std::string_view key = text.substr(0, equals);
      key = key.substr(0, key.find_last_not_of(blanks) + 1);
      const bool is_key = !key.empty() && key.find_first_of(" \t\"") == std::string_view::npos;
      if (equals == std::string_view::npos || !is_key)
        fail("\"" + std::string(text.substr(0, text.find_first_of(blanks))) + "\" is not KEY=VALUE");
      text.remove_prefix(equals + 1);
      text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
      pairs.push_back({core::lower(key), std::string(take_value(text))});
    }
  }

  std::string_view take_value(std::string_view& text) const {
    const bool is_quoted = text.starts_with('"');
    const std::size_t end = is_quoted ? text.find('"', 1) : std::min(text.find_first_of(blanks), text.size());
    if (end == std::string_view::npos) fail(std::string(text) + " has no second quote");
    const std::string_view value = is_quoted ? text.substr(1, end - 1) : text.substr(0, end);
    if (!is_quoted && value.find('=') != std::string_view::npos) return {};  // an empty value: KEY1= KEY2=...
    text.remove_prefix(is_quoted ? end + 1 : end);
    return value;
  }

  void add(const std::vector<Pair>& pairs) const {
    SlurmSwitch entry{.name = {}, .hosts = {}, .children = {}, .where = where_};
    bool is_block = false;
    bool has_sizes = false;
    for (const auto& [key, value] : pairs) {
      if (key == "switchname" || key == "blockname") {
        entry.name = value;
        is_block = key == "blockname";
      } else if (key == "nodes") {
        expand(value, entry.hosts);
      } else if (key == "switches") {
        expand(value, entry.children);
      } else if (key == "blocksizes") {  // sizes of jobs, which say nothing about cables
        has_sizes = true;
      } else if (key == "ringname") {
        throw Error(ErrorCode::not_applicable,
                    where_ + ": topology/ring has no switches; a ring of N hosts is the network torus:N");
      } else if (key != "linkspeed") {  // Slurm reads LinkSpeed but does not use it
        fail("\"" + key +
             "=\" is not one of SwitchName=, Switches=, LinkSpeed=, BlockName=, Nodes=, BlockSizes=");
      }
    }
    if (has_sizes && pairs.size() == 1) return;
    if (entry.name.empty()) fail("SwitchName= or BlockName= is missing");
    (is_block ? file_.blocks : file_.switches).push_back(std::move(entry));
  }

  void expand(std::string_view value, std::vector<std::string>& names) const {
    if (const std::string reason = expand_host_list(value, names); !reason.empty()) fail(reason);
  }

  void include(std::string_view name) const {
    if (depth_ == most_includes) fail("more than " + std::to_string(most_includes) + " nested files");
    const auto path = std::filesystem::path(path_).parent_path() / name;  // Slurm: the folder of slurm.conf
    core::UnpackedFile in(path.string());
    SlurmReader(in, path.string(), depth_ + 1, file_).read();
  }

  core::LineReader lines_;
  std::string path_;
  int depth_;
  SlurmFile& file_;
  std::string where_;  // the beginning of the current entry
};

}  // namespace

SlurmFile read_slurm_file(const std::string& path, const std::string& topology) {
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return read_slurm_yaml(path, topology);
  if (!topology.empty())
    throw Error(ErrorCode::invalid_argument, path + ": only a topology.yaml has topologies with names");
  SlurmFile file;
  core::UnpackedFile in(path);
  SlurmReader(in, path, 0, file).read();
  return file;
}

}  // namespace nuice::topo
