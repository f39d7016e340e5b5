// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string>

#include "core/support/table.hpp"
#include "machine/catalogue.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

std::span<const ShippedMachine> shipped_machines() { return machine::catalogue(); }

bool names_machine_file(std::string_view name) {
  return name.ends_with(".toml") || name.find('/') != std::string_view::npos;
}

Machine find_machine(std::string_view name) {
  if (names_machine_file(name)) return load_machine(std::string(name));
  const ShippedMachine& row =
      core::require_row(shipped_machines(), "machine", name, ", or a file (NAME.toml, ./NAME)");
  return parse_machine(row.text, std::string(name));
}

std::string calibrated_machine_path(bool one_host) {
  const auto environment = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string config = environment("XDG_CONFIG_HOME");
  if (config.empty()) {
    const std::string home = environment("HOME");
    if (home.empty()) return {};
    config = home + "/.config";
  }
  return config + "/nuice/" + (one_host ? "shared-memory.toml" : "machine.toml");
}

}  // namespace nuice
