// SPDX-License-Identifier: BSD-3-Clause
// Slurm's topology.yaml, which is told by the end of its name.
#include <filesystem>

#include "driver/input_file.hpp"
#include "nuice/core/networks.hpp"

namespace {

/// A name for a file in memory, as long as the program runs.
struct Named {
  explicit Named(const std::string& target)
      : path(std::filesystem::temp_directory_path() / ("nuice_fuzz_" + std::to_string(getpid()) + ".yaml")) {
    std::filesystem::remove(path);
    std::filesystem::create_symlink(target, path);
  }
  ~Named() { std::filesystem::remove(path); }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  std::filesystem::path path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static fuzz::InputFile file("network");
  static const Named named(file.hold(""));
  file.hold(fuzz::text_of(data, size));
  return fuzz::expect_errors_only([&] {
    const auto topology = make_topology("slurm:" + named.path.string());
    std::vector<LinkId> route;
    topology->append_route(0, topology->num_ranks() - 1, route);
    for (const LinkId link : route)
      fuzz::require(link >= 0 && link < topology->num_links(), "a link that is not there");
  });
}
