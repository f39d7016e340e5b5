// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <string>

#include "machine/catalogue.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

std::span<const ShippedMachine> shipped_machines() { return machine::catalogue(); }

Machine find_machine(std::string_view name) {
  std::string known;
  for (const ShippedMachine& machine : shipped_machines()) {
    if (machine.name == name) return parse_machine(machine.text, std::string(name));
    known += (known.empty() ? "" : ", ") + std::string(machine.name);
  }
  if (name.ends_with(".toml")) return load_machine(std::string(name));
  throw Error(ErrorCode::invalid_argument,
              "no machine is called '" + std::string(name) + "'; known: " + known + ", or a file NAME.toml");
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
