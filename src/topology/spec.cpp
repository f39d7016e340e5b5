// SPDX-License-Identifier: BSD-3-Clause
#include "topology/spec.hpp"

#include "core/text/file_io.hpp"
#include "nuice/core/error.hpp"

namespace nuice::topo {

void Spec::fail(const std::string& what) const {
  throw Error(ErrorCode::invalid_argument, "topology \"" + text + "\": " + what + "; expected " + syntax);
}

void Spec::check_size(std::int64_t num_vertices, std::int64_t num_links) const {
  if (num_vertices > max_vertices) {
    throw Error(ErrorCode::limit, "topology \"" + text + "\": more than " + std::to_string(max_vertices) +
                                      " ranks and switches");
  }
  if (num_links > std::numeric_limits<LinkId>::max()) {
    throw Error(ErrorCode::limit, "topology \"" + text + "\": more than 2^31 - 1 links");
  }
}

std::int64_t Spec::parse_count(std::string_view word, std::int64_t least) const {
  std::int64_t count = 0;
  if (!core::parse_number(word, count) || count < least || count > max_vertices) {
    fail("\"" + std::string(word) + "\" is not a whole number from " + std::to_string(least) + " to " +
         std::to_string(max_vertices));
  }
  return count;
}

std::vector<std::int64_t> Spec::parse_counts(std::string_view words, std::int64_t least) const {
  std::vector<std::int64_t> counts;
  for (const std::string_view word : split_at(words, 'x')) counts.push_back(parse_count(word, least));
  return counts;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace nuice::topo
