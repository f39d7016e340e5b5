// SPDX-License-Identifier: BSD-3-Clause
// The header by a C++ compiler, without MPI if so defined.
#include <type_traits>

#include "nuice/nuice.h"

static_assert(std::is_same_v<decltype(&nuice_error_text), const char* (*)()>);

/// Linked by name, so what the header declares is what the library exports.
int main() {
  const char* name = nullptr;
  return nuice_table_row("schedulers", 0, &name, nullptr) == NUICE_OK && name != nullptr ? 0 : 1;
}
