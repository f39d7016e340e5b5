// SPDX-License-Identifier: BSD-3-Clause
// Writes machines as TOML. Every number is written so that reading gives exactly the same number
// (quantity_text()). The default values of Machine{} are left out, because a reader uses them.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <variant>

#include "core/support/quantity.hpp"
#include "core/text/file_io.hpp"
#include "machine/keys.hpp"
#include "nuice/core/topology.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {
namespace {

using core::Dimension;
using core::quantity_text;
using machine::Key;
using machine::keys;
using namespace machine::key_kinds;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (c == '"' || c == '\\') result += '\\';
    result += is_control ? ' ' : c;
  }
  return result + "\"";
}

/// Replaces control characters by blanks, because a comment line must not be broken.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

/// Returns the text of a value; nothing if the value is the default.
class ValueText {
 public:
  explicit ValueText(const Machine& machine) : machine_(machine) {}

  std::optional<std::string> operator()(const Seconds& what) const {
    return quantity(what.member, Dimension::time);
  }
  std::optional<std::string> operator()(const PerByte& what) const {
    if (what.above_zero) return quoted(quantity_text(machine_.*what.member, Dimension::time_per_byte));
    return quantity(what.member, Dimension::time_per_byte);
  }
  std::optional<std::string> operator()(const Size& what) const {
    if (is_default(what.member)) return {};
    const Bytes bytes = machine_.*what.member;
    constexpr std::array<std::pair<Bytes, std::string_view>, 3> units = {
        {{Bytes{1} << 30, " GiB"}, {Bytes{1} << 20, " MiB"}, {Bytes{1} << 10, " KiB"}}};
    for (const auto& [factor, name] : units)
      if (bytes > 0 && bytes % factor == 0) return quoted(std::to_string(bytes / factor) + std::string(name));
    return quoted(std::to_string(bytes) + " B");
  }
  std::optional<std::string> operator()(const Count& what) const {
    if (is_default(what.member)) return {};
    return std::to_string(machine_.*what.member);
  }
  std::optional<std::string> operator()(const Number& what) const {
    if (is_default(what.member)) return {};
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), machine_.*what.member);
    std::string text(digits.data(), end.ptr);
    return text;
  }
  std::optional<std::string> operator()(const Flag& what) const {
    if (is_default(what.member)) return {};
    return machine_.*what.member ? "true" : "false";
  }
  std::optional<std::string> operator()(const Name& what) const {
    const std::string_view name = what.get(machine_);
    if (name == what.get(Machine{})) return {};
    return quoted(name);
  }

 private:
  template <typename T>
  bool is_default(T Machine::* member) const {
    return machine_.*member == Machine{}.*member;
  }
  std::optional<std::string> quantity(double Machine::* member, Dimension dimension) const {
    if (is_default(member)) return {};
    return quoted(quantity_text(machine_.*member, dimension));
  }

  const Machine& machine_;
};

std::string note_on(const Key& key, std::span<const MachineNote> notes) {
  for (const MachineNote& note : notes)
    if (note.section == key.section && note.key == key.name) return on_one_line(note.text);
  return {};
}

/// Appends a comment, at a common column if the value is not too long.
std::string with_note(std::string line, const std::string& note) {
  constexpr std::size_t column = 32;
  if (note.empty()) return line + "\n";
  line.resize(std::max(line.size() + 2, column), ' ');
  return line + "# " + note + "\n";
}

}  // namespace

std::string machine_text(const Machine& machine, std::span<const MachineNote> notes) {
  require_valid(machine);
  std::string text;
  for (const MachineNote& note : notes)
    if (note.section.empty()) text += "# " + on_one_line(note.text) + "\n";
  if (!machine.summary.empty()) text += "summary = " + quoted(machine.summary) + "\n";
  text += "topology = " + quoted(machine.topology->name()) + "\n";
  if (machine.grows) text += "grows = true\n";
  const ValueText value_text(machine);
  std::string_view section;
  for (const Key& key : keys) {
    const auto value = std::visit(value_text, key.what);
    const std::string note = note_on(key, notes);
    if (!value && note.empty()) continue;
    if (section != key.section) text += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    text += value ? with_note(std::string(key.name) + " = " + *value, note)
                  : "# " + std::string(key.name) + ": " + note + "\n";
  }
  return text;
}

void save_machine(const Machine& machine, const std::string& path, std::span<const MachineNote> notes) {
  const std::string text = machine_text(machine, notes);
  core::write_atomically(path, [&](std::ostream& out) { out << text; });
}

}  // namespace nuice
