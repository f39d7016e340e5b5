// SPDX-License-Identifier: BSD-3-Clause
// file:NAME, a network of any shape from a text file, whose format docs/reference/networks.md describes.
//
//   nuice-network 1
//   rank n[0-3]            # ranks 0 .. 3, in the order of the lines
//   switch left right
//   cable n[0-1] left      # both directions; joins every n with left; capacity 1
//   cable n[2-3] right
//   cable left right 2.5
//   link n0 right 0.5      # one direction
#include <map>
#include <span>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/graph.hpp"
#include "topology/host_list.hpp"
#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

constexpr std::size_t most_links = std::size_t{1} << 24;

class GraphFileReader {
 public:
  GraphFileReader(std::istream& in, const std::string& name) : lines_(in, name) {}

  GraphBuilder read() {
    if (!next() || words_.size() != 2 || words_[0] != "nuice-network" || words_[1] != "1") {
      lines_.fail("expected \"nuice-network 1\"");
    }
    while (next()) {
      const std::string_view what = words_[0];
      if (what == "rank" || what == "switch") {
        declare(what == "rank");
      } else if (what == "cable" || what == "link") {
        connect(what == "cable");
      } else {
        lines_.fail("\"" + std::string(what) + "\" is not one of rank, switch, cable, link");
      }
    }
    return std::move(graph_);
  }

 private:
  /// Reads the words of the next line that is not empty. Text after a # is a comment.
  bool next() {
    while (lines_.next(line_)) {
      words_ = core::split_words(std::string_view(line_).substr(0, line_.find('#')));
      if (!words_.empty()) return true;
    }
    words_.clear();
    return false;
  }

  std::vector<std::string> names_in(std::string_view word) const {
    std::vector<std::string> names;
    if (const std::string reason = expand_host_list(word, names); !reason.empty()) lines_.fail(reason);
    if (names.empty()) lines_.fail("a name is missing");
    return names;
  }

  void declare(bool is_rank) {
    if (words_.size() < 2) lines_.fail("expected \"" + std::string(words_[0]) + " NAME...\"");
    for (const std::string_view word : std::span(words_).subspan(1)) {
      const std::vector<std::string> names = names_in(word);
      if (static_cast<std::int64_t>(graph_.num_vertices() + names.size()) > max_vertices)
        lines_.fail(ErrorCode::limit, "more than " + std::to_string(max_vertices) + " ranks and switches");
      for (const std::string& name : names) {
        if (!vertices_.try_emplace(name, graph_.add(is_rank, name)).second)
          lines_.fail("\"" + name + "\" is declared twice");
      }
    }
  }

  void connect(bool both_ways) {
    if (words_.size() != 3 && words_.size() != 4) {
      lines_.fail("expected \"" + std::string(words_[0]) + " A B [CAPACITY]\"");
    }
    double capacity = 1;
    const bool good =
        words_.size() == 3 || (core::parse_number(words_[3], capacity) && capacity > 0 && capacity < 1e18);
    if (!good) {
      lines_.fail("\"" + std::string(words_[3]) + "\" is not a capacity above 0");
    }
    const std::vector<std::string> to = names_in(words_[2]);
    for (const std::string& a : names_in(words_[1])) {
      for (const std::string& b : to) connect(a, b, capacity, both_ways);
    }
  }

  void connect(const std::string& a, const std::string& b, double capacity, bool both_ways) {
    if (a == b) lines_.fail("\"" + a + "\" cannot be connected with itself");
    if (graph_.num_links() >= most_links) {
      lines_.fail(ErrorCode::limit, "more than " + std::to_string(most_links) + " links");
    }
    if (both_ways) {
      graph_.add_cable(find(a), find(b), capacity);
    } else {
      graph_.add_link(find(a), find(b), capacity);
    }
  }

  GraphBuilder::Vertex find(const std::string& name) const {
    const auto found = vertices_.find(name);
    if (found == vertices_.end()) lines_.fail("no rank or switch is called \"" + name + "\"");
    return found->second;
  }

  core::LineReader lines_;
  std::string line_;
  std::vector<std::string_view> words_;
  std::map<std::string, GraphBuilder::Vertex> vertices_;
  GraphBuilder graph_;
};

}  // namespace

Made make_from_file(const Spec& spec) {
  if (spec.arguments.empty()) spec.fail("the name of the file is missing");
  core::UnpackedFile in(spec.arguments);
  return GraphFileReader(in, spec.arguments).read().build(spec, spec.arguments);
}

}  // namespace nuice::topo
