// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: a damaged file loses what is damaged and gives a warning; nothing else comes of it.
#include "nuice/plan/wisdom.hpp"
#include "driver/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nuice::WisdomFile file = nuice::parse_wisdom(nuice::fuzz::text_of(data, size), "fuzz");
  for (const auto& entry : file.entries) {
    nuice::fuzz::require(!entry.scheduler.empty() && !entry.executor.empty(), "a choice without a name");
    nuice::fuzz::require(file.find(entry.key) != nullptr, "an entry that is not found");
  }
  nuice::fuzz::require(file.warning.find('\n') == std::string::npos, "a warning of several lines");
  return 0;
}
