// SPDX-License-Identifier: BSD-3-Clause
// The file of one rank: FOLDER/rank-NNNNN.json.
#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

#include "run/recorder.hpp"

namespace nuice::run {
namespace {

/// Returns "program+0x12a4 (exchange_halo)", for the call itself, not for its return address.
std::string name_of(void* return_address) {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) return "unknown";
  const std::string file(info.dli_fname);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", address - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  std::string name = file.substr(file.rfind('/') + 1) + offset;
  if (info.dli_sname == nullptr) return name;
  int status = 0;
  char* const plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  name += " (" + std::string(plain != nullptr ? plain : info.dli_sname) + ")";
  std::free(plain);
  return name;
}

/// Returns runs of equal values: 3, 3, 3, 5 becomes [[3, 3], [5, 1]].
nlohmann::json runs_of(const std::vector<std::int32_t>& values) {
  nlohmann::json runs = nlohmann::json::array();
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    runs.push_back({values[i], end - i});
    i = end;
  }
  return runs;
}

/// Converts to microseconds, rounded to a tenth.
std::vector<double> microseconds(const std::vector<float>& seconds) {
  std::vector<double> us;
  us.reserve(seconds.size());
  for (const float s : seconds) us.push_back(std::round(1e7 * static_cast<double>(s)) / 10);
  return us;
}

/// Calls the function here instead of passing its address: an address is looked up when the library is
/// loaded, which happens in programs without MPI too.
std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  return text.c_str();  // NOLINT(readability-redundant-string-cstr): some MPIs count the final zero
}

}  // namespace

void Recorder::write() const {
  using nlohmann::json;
  const double now_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  json file = {{"format", 1}, {"rank", rank_}, {"ranks", num_ranks_}, {"seconds", now_s - begin_s_}};
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  file["host"] = host;
  file["mpi"] = library_version();
  for (const Group& group : groups_) file["communicators"].push_back(group.ranks);
  file["sites"] = json::array();
  for (const Site& site : sites_) {
    json& names = file["sites"].emplace_back(json::array());
    for (void* const frame : site)
      if (frame != nullptr) names.push_back(name_of(frame));
  }
  std::vector<json> rows(patterns_.size());
  for (const auto& [row, number] : patterns_) rows[static_cast<std::size_t>(number)] = row;
  file["rows"] = rows;
  file["series"] = json::array();
  for (const Series& series : series_)
    file["series"].push_back({{"call", series.call},
                              {"communicator", series.comm},
                              {"site", series.site},
                              {"calls", series.num_calls},
                              {"seconds", series.total_s},
                              {"bytes", series.total_bytes},
                              {"row_runs", runs_of(series.patterns)},
                              {"call_us", microseconds(series.seconds)}});
  if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST)
    throw std::system_error(errno, std::generic_category(), folder_);
  char name[32];
  std::snprintf(name, sizeof name, "/rank-%05d.json", rank_);
  const std::string path = folder_ + name;
  std::ofstream out(path + ".part");
  out << file.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  out.close();
  if (!out || std::rename((path + ".part").c_str(), path.c_str()) != 0)
    throw std::system_error(errno, std::generic_category(), path);
}

}  // namespace nuice::run
