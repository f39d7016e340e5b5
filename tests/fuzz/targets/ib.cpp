// SPDX-License-Identifier: BSD-3-Clause
// What InfiniBand's tools print of a fabric: the file of cables and the file of tables, back to back.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "driver/input_file.hpp"
#include "nuice/core/networks.hpp"

namespace {

/// A folder of links to files in memory; it goes with the process.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nuice_fuzz_ib_XXXXXX").string();
    nuice::fuzz::require(mkdtemp(pattern.data()) != nullptr, "mkdtemp failed");
    path_ = pattern;
    std::filesystem::create_symlink(cables_.hold(""), path_ / "ibnetdiscover");
    std::filesystem::create_symlink(tables_.hold(""), path_ / "dump_fts");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  std::string hold(std::string_view cables, std::string_view tables) {
    cables_.hold(cables);
    tables_.hold(tables);
    return path_.string();
  }

 private:
  nuice::fuzz::InputFile cables_{"cables"};
  nuice::fuzz::InputFile tables_{"tables"};
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static Folder folder;
  constexpr std::string_view between = "=== tables\n";
  const std::string_view text = fuzz::text_of(data, size);
  const std::size_t end = std::min(text.find(between), text.size());
  const std::string path =
      folder.hold(text.substr(0, end), text.substr(std::min(end + between.size(), text.size())));
  return fuzz::expect_errors_only([&] {
    const auto topology = make_topology("ib:" + path);
    std::vector<LinkId> route;
    const Rank last = topology->num_ranks() - 1;
    for (std::int64_t lid = 0; lid < topology->num_paths(0, last); ++lid)
      topology->append_path(0, last, lid, route);
    topology->append_route(last, 0, route);
    for (const LinkId link : route)
      fuzz::require(link >= 0 && link < topology->num_links(), "a link that is not there");
  });
}
