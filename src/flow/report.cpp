// SPDX-License-Identifier: BSD-3-Clause
#include "flow/report.hpp"

#include <unistd.h>

#include <array>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace nuice::flow {
namespace {

std::string host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string bytes_or_null(std::int64_t bytes) {
  return bytes == Window::unlimited ? "null" : std::to_string(bytes);
}

void say(const PortState& port) {
  if (port.share_bytes == Window::unlimited) {
    std::fprintf(stderr,
                 "nuice: %s: %d connections, %" PRId64 " segments, %" PRId64 " out of order, no window set\n",
                 port.address.c_str(), port.num_connections, port.segments, port.lost_segments);
  } else {
    std::fprintf(stderr,
                 "nuice: %s: %d connections, %" PRId64 " segments, %" PRId64 " out of order, window %" PRId64
                 " B, %" PRId64 " B a sender, set for %.1f s\n",
                 port.address.c_str(), port.num_connections, port.segments, port.lost_segments,
                 port.window_bytes, port.share_bytes, port.seconds_limited);
  }
}

void write(const std::string& folder, const std::vector<PortState>& ports) {
  const std::string path = folder + "/flow-" + host() + "-" + std::to_string(getpid()) + ".json";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return std::perror(("nuice: " + path).c_str());
  std::fprintf(file, R"({"host": "%s", "pid": %d, "ports": [)", host().c_str(), static_cast<int>(getpid()));
  const char* separator = "";
  for (const PortState& port : ports) {
    std::fprintf(file,
                 "%s{\"address\": \"%s\", \"connections\": %d, \"segments\": %" PRId64
                 ", \"out_of_order\": %" PRId64
                 ", \"window_bytes\": %s, \"share_bytes\": %s, \"seconds_limited\": %.3f}",
                 separator, port.address.c_str(), port.num_connections, port.segments, port.lost_segments,
                 bytes_or_null(port.window_bytes).c_str(), bytes_or_null(port.share_bytes).c_str(),
                 port.seconds_limited);
    separator = ", ";
  }
  std::fputs("]}\n", file);
  if (std::fclose(file) != 0) std::perror(("nuice: " + path).c_str());
}

}  // namespace

void report(Governor& governor) {
  const char* const verbose = std::getenv("NUICE_VERBOSE");
  const char* const folder = std::getenv("NUICE_FLOW_REPORT");
  const bool speaks = verbose != nullptr && std::string_view(verbose) == "1";
  if (!speaks && folder == nullptr) return;
  const auto ports = governor.ports();
  if (speaks)
    for (const PortState& port : ports) say(port);
  if (folder != nullptr && !ports.empty()) write(folder, ports);
}

}  // namespace nuice::flow
