// SPDX-License-Identifier: BSD-3-Clause
//   Switch  8 "S-0000000000200003"   # "leaf3" base port 0 lid 6 lmc 0            ibnetdiscover
//   [1]     "H-0000000000100018"[1](100019)   # "host12" lid 21 4xHDR
//   Ca      1 "H-0000000000100018"   # "host12"
//   [1](100019)  "S-0000000000200003"[1]   # lid 21 lmc 0 "leaf3" lid 6 4xHDR
//
//   Unicast lids [0x0-0x18] of switch ... guid 0x0000000000200003 (leaf3):        dump_fts, opensm-lfts.dump
//   0x0001 005 : (Channel Adapter portguid 0x0000000000100001: 'host0')
#include "topology/ib_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"

namespace nuice::topo {
namespace {

constexpr int most_lids = 0xC000;  // LIDs from here on are multicast
constexpr std::uint8_t no_way = 255;

/// Returns the first of these files that exists.
std::string find_file(const std::string& folder, std::initializer_list<const char*> names) {
  std::string tried;
  for (const std::string name : names) {
    for (const std::string end : {"", ".txt", ".gz", ".txt.gz"}) {
      const std::filesystem::path path = std::filesystem::path(folder) / (name + end);
      std::error_code error;
      if (std::filesystem::is_regular_file(path, error)) return path.string();
    }
    tried += (tried.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorCode::io, folder + ": none of " + tried + " (.txt, .gz) is there");
}

/// Returns the text between the first two quotes at or after `from`. Moves `from` to the place after them.
std::optional<std::string_view> quoted(std::string_view line, std::size_t& from) {
  const std::size_t begin = line.find('"', from);
  const std::size_t end = begin == std::string_view::npos ? begin : line.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  from = end + 1;
  return line.substr(begin + 1, end - begin - 1);
}

/// Returns the number in the brackets at `from`. Moves `from` to the place after them.
std::optional<int> bracketed(std::string_view line, std::size_t& from) {
  if (from >= line.size() || line[from] != '[') return std::nullopt;
  const std::size_t end = line.find(']', from);
  int number = 0;
  if (end == std::string_view::npos || !core::parse_number(line.substr(from + 1, end - from - 1), number))
    return std::nullopt;
  from = end + 1;
  return number;
}

/// Returns the speed of a word such as "4xHDR" in Gbit/s: the number of lanes times the speed of a lane.
/// Returns 0 for other words.
double speed_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, double>, 9> lanes{{{"SDR", 2.5},
                                                                      {"DDR", 5},
                                                                      {"QDR", 10},
                                                                      {"FDR10", 10.3125},
                                                                      {"FDR", 14.0625},
                                                                      {"EDR", 25},
                                                                      {"HDR", 50},
                                                                      {"NDR", 100},
                                                                      {"XDR", 200}}};
  const std::size_t x = word.find('x');
  int width = 0;
  if (x == std::string_view::npos || !core::parse_number(word.substr(0, x), width)) return 0;
  for (const auto& [name, gbit_s] : lanes)
    if (word.substr(x + 1) == name) return width * gbit_s;
  return 0;
}

class CableReader {
 public:
  CableReader(std::istream& in, const std::string& name, IbFiles& files) : lines_(in, name), files_(files) {}

  void read() {
    while (lines_.next(line_)) {
      if (line_.starts_with("Switch")) {
        begin_switch();
      } else if (line_.starts_with("Ca")) {
        begin_adapter();
      } else if (line_.starts_with("Rt")) {
        switch_ = nullptr;
        adapter_.clear();
      } else if (line_.starts_with('[')) {
        read_port();
      }
    }
    std::ranges::sort(files_.ports, {}, &IbHostPort::lid);
  }

 private:
  std::string id_and_name(std::string& name) {
    std::size_t at = 0;
    const auto id = quoted(line_, at);
    if (!id) lines_.fail("expected a GUID in quotes");
    const std::string result(*id);
    const auto description = quoted(line_, at);
    name = description && !description->empty() ? std::string(*description) : result;
    return result;
  }

  void begin_switch() {
    std::string name;
    const std::string id = id_and_name(name);
    switch_ = &files_.switches[id];
    switch_->name = name;
    adapter_.clear();
  }

  /// Begins an adapter. Switches with SHARP list an adapter without a host. It is skipped.
  void begin_adapter() {
    adapter_ = id_and_name(description_);
    switch_ = nullptr;
    if (description_.find("Aggregation Node") != std::string::npos) adapter_.clear();
  }

  void read_port() {
    if (switch_ == nullptr && adapter_.empty()) return;
    std::size_t at = 0;
    const auto port = bracketed(line_, at);
    const auto peer = quoted(line_, at);
    const auto peer_port = bracketed(line_, at);
    if (!port || !peer || !peer_port) lines_.fail(R"(expected "[PORT] "PEER"[PORT] ...")");
    const double gbit_s = link_speed();
    if (switch_ != nullptr) {
      switch_->cables[*port] = {std::string(*peer), *peer_port, gbit_s};
      return;
    }
    IbHostPort host{
        .adapter = adapter_, .description = description_, .leaf = std::string(*peer), .gbit_s = gbit_s};
    host.lid = number_after("lid", at);
    host.lmc = number_after("lmc", at);
    if (host.lid < 1 || host.lid >= most_lids || host.lmc < 0 || host.lmc > 7)
      lines_.fail("expected \"# lid LID lmc LMC\" of the adapter's port");
    files_.ports.push_back(std::move(host));
  }

  /// Returns the speed of a link, for example from `lid 6 4xHDR` or, with option -f, ` s=32 w=2 v=4`. Reads
  /// only the text after the last quote, because a description may contain any words.
  double link_speed() const {
    double gbit_s = 0;
    for (const std::string_view word :
         core::split_words(std::string_view(line_).substr(line_.rfind('"') + 1)))
      if (gbit_s == 0) gbit_s = speed_of(word);
    return gbit_s;
  }

  int number_after(std::string_view key, std::size_t from) const {
    const auto words = core::split_words(std::string_view(line_).substr(from));
    int number = -1;
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == key && core::parse_number(words[i + 1], number)) return number;
    return -1;
  }

  core::LineReader lines_;
  IbFiles& files_;
  std::string line_;
  IbSwitch* switch_ = nullptr;
  std::string adapter_;
  std::string description_;
};

class TableReader {
 public:
  TableReader(std::istream& in, const std::string& name, IbFiles& files) : lines_(in, name), files_(files) {}

  void read() {
    while (lines_.next(line_)) {
      if (line_.starts_with("Unicast lids")) {
        begin_table();
      } else if (line_.starts_with("0x")) {
        read_entry();
      }
    }
  }

 private:
  void begin_table() {
    const auto words = core::split_words(line_);
    const auto guid = std::ranges::find(words, "guid");
    if (guid == words.end() || guid + 1 == words.end() || !(guid + 1)->starts_with("0x"))
      lines_.fail("expected \"guid 0x...\" of the switch");
    const std::string id = "S-" + std::string((guid + 1)->substr(2));
    const auto found = files_.switches.find(id);
    if (found == files_.switches.end())
      lines_.fail("switch " + id + " is not among those of " + files_.cables_file);
    switch_ = &found->second;
  }

  void read_entry() {
    const auto words = core::split_words(line_);
    int lid = 0;
    int port = 0;
    const bool good = switch_ != nullptr && words.size() >= 2 &&
                      core::parse_number(words[0].substr(2), lid, 16) && core::parse_number(words[1], port) &&
                      lid >= 0 && lid < most_lids && port >= 0 && port <= no_way;
    if (!good) lines_.fail("expected \"0xLID PORT\" below a switch");
    auto& table = switch_->port;
    if (static_cast<std::size_t>(lid) >= table.size())
      table.resize(static_cast<std::size_t>(lid) + 1, no_way);
    table[static_cast<std::size_t>(lid)] = static_cast<std::uint8_t>(port);
  }

  core::LineReader lines_;
  IbFiles& files_;
  std::string line_;
  IbSwitch* switch_ = nullptr;
};

}  // namespace

IbFiles read_ib_files(const std::string& folder) {
  IbFiles files;
  files.cables_file = find_file(folder, {"ibnetdiscover", "ibnet"});
  files.tables_file = find_file(folder, {"dump_fts", "lfts", "opensm-lfts.dump"});
  core::UnpackedFile cables(files.cables_file);
  CableReader(cables, files.cables_file, files).read();
  if (files.ports.empty())
    throw Error(ErrorCode::parse, files.cables_file + ": no host has a port that is up");
  core::UnpackedFile tables(files.tables_file);
  TableReader(tables, files.tables_file, files).read();
  return files;
}

}  // namespace nuice::topo
