// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include "machine/catalogue.hpp"
#include "nuice/error.hpp"
#include "nuice/machine.hpp"

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

}  // namespace nuice
