// SPDX-License-Identifier: BSD-3-Clause
//   - topology: small                         - topology: large
//     tree:                                     block:
//       switches:                                 blocks:
//         - {switch: top, children: leaf[0-1]}      - {block: b1, nodes: "n[0-3]"}
//         - {switch: leaf0, nodes: n[0-3]}
//
// Unknown keys are ignored, as by Slurm, because later versions may have more keys.
#include <yaml.h>

#include <cstring>
#include <memory>
#include <optional>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/host_list.hpp"
#include "topology/slurm_files.hpp"

namespace nuice::topo {
namespace {

/// The single document of a file. Nodes are numbered, so that an alias takes no memory. The nodes that are
/// read contain no cycles.
class Yaml {
 public:
  explicit Yaml(const std::string& path) : path_(path), text_(core::read_text(path)) {
    require_few_levels();
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()),
                                 text_.size());
    if (!load(document_)) fail_parser();
    yaml_document_t second;
    const bool is_good = load(second);
    const bool is_last = is_good && yaml_document_get_root_node(&second) == nullptr;
    if (is_good) yaml_document_delete(&second);
    if (is_good && is_last) return;
    const std::string what = is_good ? path_ + ": more than one document" : parser_error();
    close();
    throw Error(ErrorCode::parse, what);
  }
  ~Yaml() { close(); }
  Yaml(const Yaml&) = delete;
  Yaml& operator=(const Yaml&) = delete;

  const yaml_node_t* root() { return yaml_document_get_root_node(&document_); }

  std::string where(const yaml_node_t& node) const {
    return path_ + ":" + std::to_string(node.start_mark.line + 1);
  }
  [[noreturn]] void fail(const yaml_node_t& node, const std::string& what) const {
    throw Error(ErrorCode::parse, where(node) + ": " + what);
  }

  /// Returns the value of a key; null if the node is not a mapping or has no such key.
  const yaml_node_t* find(const yaml_node_t& node, const char* key) {
    if (node.type != YAML_MAPPING_NODE) return nullptr;
    for (const auto* pair = node.data.mapping.pairs.start; pair < node.data.mapping.pairs.top; ++pair) {
      const yaml_node_t* const name = yaml_document_get_node(&document_, pair->key);
      if (name != nullptr && text_of(*name) == key) return yaml_document_get_node(&document_, pair->value);
    }
    return nullptr;
  }

  /// Returns the text of a scalar; nothing for other nodes.
  static std::optional<std::string> text_of(const yaml_node_t& node) {
    if (node.type != YAML_SCALAR_NODE) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(node.data.scalar.value), node.data.scalar.length);
  }

  /// Returns the entries of a list. A mapping counts as a list of one entry, as in Slurm.
  std::vector<const yaml_node_t*> entries(const yaml_node_t& node) {
    if (node.type == YAML_MAPPING_NODE) return {&node};
    if (node.type != YAML_SEQUENCE_NODE) fail(node, "expected a list");
    std::vector<const yaml_node_t*> all;
    for (const auto* item = node.data.sequence.items.start; item < node.data.sequence.items.top; ++item)
      all.push_back(yaml_document_get_node(&document_, *item));
    return all;
  }

 private:
  /// Throws if lists are nested too deeply, because libyaml's time grows with the square of the depth.
  /// Brackets in names are counted too, but there are few of them.
  void require_few_levels() const {
    constexpr int most_nested = 1000;
    int level = 0;
    for (const char c : text_) {
      if (c == '[' || c == '{') ++level;
      if (c == ']' || c == '}') --level;
      if (level > most_nested)
        throw Error(ErrorCode::limit, path_ + ": more than " + std::to_string(most_nested) + " nested lists");
    }
  }

  bool load(yaml_document_t& document) { return yaml_parser_load(&parser_, &document) != 0; }

  std::string parser_error() const {
    const char* const problem = parser_.problem == nullptr ? "not enough memory" : parser_.problem;
    return path_ + ":" + std::to_string(parser_.problem_mark.line + 1) + ": " + problem;
  }
  [[noreturn]] void fail_parser() {
    const std::string what = parser_error();
    yaml_parser_delete(&parser_);
    throw Error(ErrorCode::parse, what);
  }
  void close() {
    yaml_document_delete(&document_);
    yaml_parser_delete(&parser_);
  }

  std::string path_;
  std::string text_;
  yaml_parser_t parser_;
  yaml_document_t document_;
};

struct Named {
  std::string name;
  const yaml_node_t* node;
};

class Topologies {
 public:
  Topologies(Yaml& yaml, const std::string& path) : yaml_(yaml), path_(path) {
    const yaml_node_t* const root = yaml.root();
    if (root == nullptr) throw Error(ErrorCode::parse, path + ": expected a list of topologies");
    for (const yaml_node_t* const node : yaml.entries(*root))
      all_.push_back({text_at(*node, "topology"), node});
    if (all_.empty()) yaml.fail(*root, "expected a list of topologies");
  }

  SlurmFile read(const std::string& wanted) {
    const Named& chosen = choose(wanted);
    SlurmFile file;
    if (const yaml_node_t* const tree = yaml_.find(*chosen.node, "tree")) {
      for (const yaml_node_t* const entry : yaml_.entries(at(*tree, "switches")))
        file.switches.push_back(entry_of(*entry, "switch"));
    }
    if (const yaml_node_t* const block = yaml_.find(*chosen.node, "block")) {
      for (const yaml_node_t* const entry : yaml_.entries(at(*block, "blocks")))
        file.blocks.push_back(entry_of(*entry, "block"));
    }
    if (file.switches.empty() && file.blocks.empty())
      throw Error(ErrorCode::not_applicable, yaml_.where(*chosen.node) + ": topology \"" + chosen.name +
                                                 "\" has neither tree nor block" + others());
    return file;
  }

 private:
  const Named& choose(const std::string& wanted) {
    for (const Named& one : all_) {
      const yaml_node_t* const flag = yaml_.find(*one.node, "cluster_default");
      if (wanted.empty() ? flag != nullptr && is_true(*flag) : one.name == wanted) return one;
    }
    if (wanted.empty()) return all_.front();
    throw Error(ErrorCode::not_applicable, path_ + ": no topology \"" + wanted + "\"" + others());
  }

  static bool is_true(const yaml_node_t& node) {
    const std::string word = core::lower(Yaml::text_of(node).value_or(""));
    return word == "true" || word == "yes" || word == "on" || word == "1";
  }

  std::string others() const {
    std::string names;
    for (const Named& one : all_) names += (names.empty() ? "" : ", ") + one.name;
    return "; name= is one of " + names;
  }

  const yaml_node_t& at(const yaml_node_t& node, const char* key) {
    const yaml_node_t* const value = yaml_.find(node, key);
    if (value == nullptr) yaml_.fail(node, "\"" + std::string(key) + ":\" is missing");
    return *value;
  }

  std::string text_at(const yaml_node_t& node, const char* key) {
    const yaml_node_t& value = at(node, key);
    const auto text = Yaml::text_of(value);
    if (!text || text->empty()) yaml_.fail(value, "\"" + std::string(key) + ":\" is not text");
    return *text;
  }

  SlurmSwitch entry_of(const yaml_node_t& node, const char* kind) {
    SlurmSwitch entry{.name = text_at(node, kind), .hosts = {}, .children = {}, .where = yaml_.where(node)};
    expand(node, "nodes", entry.hosts);
    expand(node, "children", entry.children);
    return entry;
  }

  /// Appends the names of "n[0-3]", or of a list of such texts.
  void expand(const yaml_node_t& node, const char* key, std::vector<std::string>& names) {
    const yaml_node_t* const value = yaml_.find(node, key);
    if (value == nullptr) return;
    const bool is_one = value->type == YAML_SCALAR_NODE;
    for (const yaml_node_t* const item :
         is_one ? std::vector<const yaml_node_t*>{value} : yaml_.entries(*value)) {
      const auto text = Yaml::text_of(*item);
      if (!text) yaml_.fail(*item, "\"" + std::string(key) + ":\" is not text");
      if (*text == "~" || *text == "null") continue;
      if (const std::string reason = expand_host_list(*text, names); !reason.empty())
        yaml_.fail(*item, reason);
    }
  }

  Yaml& yaml_;
  std::string path_;
  std::vector<Named> all_;
};

}  // namespace

SlurmFile read_slurm_yaml(const std::string& path, const std::string& topology) {
  Yaml yaml(path);
  return Topologies(yaml, path).read(topology);
}

}  // namespace nuice::topo
