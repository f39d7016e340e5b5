// SPDX-License-Identifier: BSD-3-Clause
// What InfiniBand's tools print of a fabric: the file of cables and the file of tables, one behind the other.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "driver/target.hpp"
#include "nuice/core/networks.hpp"

namespace {

/// Goes with the process.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nuice_fuzz_ib_XXXXXX").string();
    nuice::fuzz::require(mkdtemp(pattern.data()) != nullptr, "mkdtemp failed");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  void write(const char* name, std::string_view text) const {
    std::ofstream out(path_ / name, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    nuice::fuzz::require(out.flush().good(), "the file cannot be written");
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static const Folder folder;
  constexpr std::string_view between = "=== tables\n";
  const std::string_view text = fuzz::text_of(data, size);
  const std::size_t end = std::min(text.find(between), text.size());
  folder.write("ibnetdiscover", text.substr(0, end));
  folder.write("dump_fts", text.substr(std::min(end + between.size(), text.size())));
  return fuzz::expect_errors_only([&] {
    const auto topology = make_topology("ib:" + folder.path());
    std::vector<LinkId> route;
    const Rank last = topology->num_ranks() - 1;
    for (std::int64_t path = 0; path < topology->num_paths(0, last); ++path)
      topology->append_path(0, last, path, route);
    topology->append_route(last, 0, route);
    for (const LinkId link : route)
      fuzz::require(link >= 0 && link < topology->num_links(), "a link that is not there");
  });
}
