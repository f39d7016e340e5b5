// SPDX-License-Identifier: BSD-3-Clause
// Machines from TOML: the reader. What it accepts, it accepts by being in keys.hpp.
#include <cmath>
#include <optional>

#include "core/text/unpacked_file.hpp"
#include "machine/keys.hpp"
#include "machine/quantity.hpp"
#include "machine/valid.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/plan/machine.hpp"

// toml++ asserts what does not hold for every text ("[,port]"), and with NDEBUG lets the compiler assume it. Without both
// it goes on to its own error.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace nuice {
namespace {

using machine::Dimension;
using machine::parse_quantity;
using namespace machine::key_kinds;
using machine::Key;
using machine::keys;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : file_(file) {
    try {
      root_ = toml::parse(text, file);
    } catch (const toml::parse_error& error) {
      fail(error.source(), std::string(error.description()));
    }
  }

  Machine read() {
    for (const auto& [key, node] : root_) read_top(std::string(key.str()), key.source(), node);
    if (!machine_.topology) fail(root_.source(), "the key 'topology' is missing");
    if (!has_bandwidth_) fail(root_.source(), "the key 'bandwidth' of [port] is missing");
    require_valid();
    return machine_;
  }

 private:
  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    throw Error(ErrorCode::parse, file_ + ":" + std::to_string(std::max(1U, where.begin.line)) + ": " + what);
  }

  /// The errors of `set` get the node's place in the file.
  template <typename Set>
  void in_file(const toml::node& node, Set set) const {
    try {
      set();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::parse) throw;
      fail(node.source(), error.what());
    }
  }

  void read_top(const std::string& key, const toml::source_region& where, const toml::node& node) {
    if (key == "summary") {
      machine_.summary = text_of(key, node);
    } else if (key == "topology") {
      in_file(node, [&] { machine_.topology = make_topology(text_of(key, node)); });
    } else if (const toml::table* section = node.as_table()) {
      for (const auto& [name, value] : *section) {
        read_key(find_key(key, std::string(name.str()), name.source()), value);
      }
    } else {
      fail(where, "no key is called '" + key + "'; known here: summary, topology, and sections");
    }
  }

  const Key& find_key(const std::string& section, const std::string& name, const toml::source_region& where) {
    std::string sections;
    std::string known;
    for (const Key& key : keys) {
      if (key.section != section) {
        if (sections.find("[" + std::string(key.section) + "]") == std::string::npos) {
          sections += " [" + std::string(key.section) + "]";
        }
        continue;
      }
      if (key.name == name) return key;
      known += (known.empty() ? "" : ", ") + std::string(key.name);
    }
    if (known.empty()) fail(where, "no section is called [" + section + "]; known:" + sections);
    fail(where, "no key of [" + section + "] is called '" + name + "'; known: " + known);
  }

  std::string text_of(std::string_view key, const toml::node& node) const {
    if (const auto text = node.value_exact<std::string>()) return *text;
    fail(node.source(), std::string(key) + " is text in quotes");
  }

  void read_key(const Key& key, const toml::node& node) {
    if (key.name == "bandwidth") has_bandwidth_ = true;
    std::visit([&](const auto& what) { set(what, key, node); }, key.what);
  }

  double quantity(const Key& key, const toml::node& node, Dimension dimension,
                  std::string_view example) const {
    if (node.is_number())
      fail(node.source(), std::string(key.name) + " has no unit: write it as " + std::string(example));
    double value = 0;
    std::string why;
    if (!parse_quantity(text_of(key.name, node), dimension, value, why)) {
      fail(node.source(), std::string(key.name) + ": " + why);
    }
    return value;
  }

  void set(const Seconds& what, const Key& key, const toml::node& node) {
    machine_.*what.member = quantity(key, node, Dimension::time, "\"88 us\"");
  }
  void set(const PerByte& what, const Key& key, const toml::node& node) {
    const double value = quantity(key, node, Dimension::time_per_byte, R"("4 MB/s" or "0.25 us/B")");
    if (what.above_zero && value <= 0) fail(node.source(), std::string(key.name) + " must be above 0");
    machine_.*what.member = value;
  }
  void set(const Size& what, const Key& key, const toml::node& node) {
    const double value = quantity(key, node, Dimension::size, "\"16 KiB\"");
    if (value != std::floor(value))
      fail(node.source(), std::string(key.name) + " is no whole number of bytes");
    if (value > static_cast<double>(max_bytes))
      fail(node.source(), std::string(key.name) + " is above 2^62 bytes");
    machine_.*what.member = static_cast<Bytes>(value);
  }
  void set(const Count& what, const Key& key, const toml::node& node) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value) fail(node.source(), std::string(key.name) + " is a whole number");
    if (*value < 0 || *value > 1'000'000)
      fail(node.source(), std::string(key.name) + " is not in 0..1000000");
    machine_.*what.member = static_cast<int>(*value);
  }
  void set(const Number& what, const Key& key, const toml::node& node) {
    if (!node.is_number()) fail(node.source(), std::string(key.name) + " is a plain number");
    const double value = *node.value<double>();
    if (std::isnan(value) || value < what.least || value > 1e9) {
      fail(node.source(), std::string(key.name) + " is not in " + (what.least == 0 ? "0" : "1") + "..1e9");
    }
    machine_.*what.member = value;
  }
  void set(const Flag& what, const Key& key, const toml::node& node) {
    const auto value = node.value_exact<bool>();
    if (!value) fail(node.source(), std::string(key.name) + " is true or false");
    machine_.*what.member = *value;
  }
  void set(const OneOfDuplex&, const Key& key, const toml::node& node) {
    in_file(node, [&] { machine_.duplex = find_duplex(text_of(key.name, node)); });
  }
  void set(const OneOfSwitching&, const Key& key, const toml::node& node) {
    in_file(node, [&] { machine_.switching = find_switching(text_of(key.name, node)); });
  }

  /// What a single key cannot show; the error names the line of the key that is to blame.
  void require_valid() const {
    if (const machine::Fault fault = machine::find_fault(machine_); !fault.why.empty()) {
      const toml::node* node = root_[fault.section][fault.key].node();
      fail(node == nullptr ? root_.source() : node->source(), fault.why);
    }
  }

  std::string file_;
  toml::table root_;
  Machine machine_;
  bool has_bandwidth_ = false;
};

}  // namespace

Machine parse_machine(std::string_view text, const std::string& name) {
  Machine machine = Reader(text, name).read();
  machine.name = name;
  return machine;
}

Machine load_machine(const std::string& path) { return parse_machine(core::read_text(path), path); }

}  // namespace nuice
