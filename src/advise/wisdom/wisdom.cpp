// SPDX-License-Identifier: BSD-3-Clause
// Keys of wisdom: fingerprints that are the same on every platform. The file itself is in wisdom_file.cpp.
// Cost: O(messages) for a matrix, O(1) for a machine.
#include "nuice/plan/wisdom.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "advise/text_hash.hpp"

namespace nuice {
namespace {

using advice::hash_of_text;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::uint64_t fingerprint(const Machine& machine) {
  Machine nameless = machine;
  nameless.summary.clear();
  return hash_of_text(machine_text(nameless));
}

WisdomKey wisdom_key(const CommMatrix& matrix, const Machine& machine, std::uint64_t reuse,
                     std::string_view setting) {
  Bytes total = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    total = matrix.bytes(id) > max_bytes - total ? max_bytes : total + matrix.bytes(id);
  return {.matrix = matrix.fingerprint(),
          .num_ranks = matrix.num_ranks(),
          .num_messages = matrix.num_messages(),
          .total_bytes = total,
          .machine = fingerprint(machine),
          .reuse_bits = static_cast<int>(std::bit_width(reuse)),
          .setting = hash_of_text(setting)};
}

const WisdomEntry* WisdomFile::find(const WisdomKey& key) const {
  const auto found = std::ranges::find(entries, key, &WisdomEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

std::string default_wisdom_path() {
  if (std::getenv("NUICE_WISDOM") != nullptr) {
    const std::string path = environment("NUICE_WISDOM");
    return path == "none" ? std::string() : path;
  }
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/nuice/wisdom";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/nuice/wisdom";
  return {};
}

}  // namespace nuice
