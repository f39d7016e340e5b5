// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/mpi_settings.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace nuice::bench {
namespace {

constexpr auto usual = std::to_array<const char*>({
    "btl_tcp_rcvbuf",
    "btl_tcp_sndbuf",
    "btl_tcp_eager_limit",
    "btl_tcp_rndv_eager_limit",
    "btl_tcp_max_send_size",
    "MPIR_CVAR_CH4_NETMOD",
    "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD",
});

template <typename T>
std::string read_number(MPI_T_cvar_handle handle) {
  T value{};
  return MPI_T_cvar_read(handle, &value) == MPI_SUCCESS ? std::to_string(value) : "?";
}

std::string read(MPI_T_cvar_handle handle, int count, MPI_Datatype type) {
  if (type == MPI_CHAR) {
    std::string text(static_cast<std::size_t>(std::max(count, 1)) + 1, '\0');
    if (MPI_T_cvar_read(handle, text.data()) != MPI_SUCCESS) return "?";
    return text.substr(0, text.find('\0'));
  }
  if (count != 1) return "?";
  if (type == MPI_INT) return read_number<int>(handle);
  if (type == MPI_UNSIGNED) return read_number<unsigned>(handle);
  if (type == MPI_UNSIGNED_LONG) return read_number<unsigned long>(handle);
  if (type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT) return read_number<unsigned long long>(handle);
  if (type == MPI_DOUBLE) return read_number<double>(handle);
  return "?";
}

MPI_Datatype type_of(int index) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  int name_length = 0;
  int text_length = 0;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &names, nullptr, &text_length,
                      &binding, &scope);
  return type;
}

/// Returns the value of a variable, or nothing if this MPI does not know it.
std::optional<std::string> variable(const char* name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return "?";
  std::string value = read(handle, count, type_of(index));
  MPI_T_cvar_handle_free(&handle);
  return value;
}

/// Returns whether this process has loaded a library whose name contains this text.
bool has_library(std::string_view name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return true;
  return false;
}

void look_at_environment(MpiSettings& settings) {
  const bool has_fabric = has_library("libfabric");
  const bool has_ucx = has_library("libucp");
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool of_open_mpi = name.starts_with("OMPI_MCA_");
    if (of_open_mpi || name.starts_with("MPIR_CVAR_")) {
      const std::string known = of_open_mpi ? name.substr(9) : name;
      if (auto value = variable(known.c_str())) {
        settings.variables[known] = *value;
      } else {
        settings.unknown.push_back(name);
      }
    } else if (name.starts_with("FI_") || name.starts_with("UCX_")) {
      if (name.starts_with("FI_") ? has_fabric : has_ucx) {
        settings.environment[name] = text.substr(std::min(name.size() + 1, text.size()));
      } else {
        settings.unknown.push_back(name);
      }
    }
  }
}

/// Returns whether the connection leads to another host.
bool leads_elsewhere(const sockaddr_storage& here, const sockaddr_storage& there) {
  if (here.ss_family == AF_INET)
    return reinterpret_cast<const sockaddr_in&>(here).sin_addr.s_addr !=
           reinterpret_cast<const sockaddr_in&>(there).sin_addr.s_addr;
  if (here.ss_family != AF_INET6) return false;
  const in6_addr& mine = reinterpret_cast<const sockaddr_in6&>(here).sin6_addr;
  const in6_addr& theirs = reinterpret_cast<const sockaddr_in6&>(there).sin6_addr;
  return !std::equal(std::begin(mine.s6_addr), std::end(mine.s6_addr), std::begin(theirs.s6_addr));
}

void look_at_socket(int fd, MpiSettings& settings) {
  sockaddr_storage here{};
  sockaddr_storage there{};
  socklen_t size = sizeof here;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0) return;
  size = sizeof there;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size) != 0 || !leads_elsewhere(here, there))
    return;
  int buffer = 0;
  size = sizeof buffer;
  if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, &size) != 0) return;
  const bool is_first = settings.connections++ == 0;
  settings.least_buffer = is_first ? buffer : std::min(settings.least_buffer, buffer);
  settings.largest_buffer = std::max(settings.largest_buffer, buffer);
}

}  // namespace

MpiSettings mpi_settings() {
  MpiSettings settings;
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS) {
    for (const char* name : usual)
      if (auto value = variable(name)) settings.variables[name] = *value;
    look_at_environment(settings);
    MPI_T_finalize();
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none))
    look_at_socket(std::stoi(entry.path().filename().string()), settings);
  return settings;
}

std::string sentence(const MpiSettings& settings) {
  std::vector<std::string> words;
  for (const char* name : usual)
    if (const auto found = settings.variables.find(name); found != settings.variables.end())
      words.push_back(fmt::format("{}={}", found->first, found->second));
  for (const auto& [name, value] : settings.environment) words.push_back(fmt::format("{}={}", name, value));
  const std::string text =
      fmt::format("MPI settings found: {}\n",
                  words.empty() ? "none that are known here" : fmt::format("{}", fmt::join(words, " ")));
  if (settings.connections == 0) return text + "Rank 0 has no TCP connection to another host.\n";
  const std::string bytes = settings.least_buffer == settings.largest_buffer
                                ? std::to_string(settings.least_buffer)
                                : fmt::format("{} to {}", settings.least_buffer, settings.largest_buffer);
  return text + fmt::format("TCP of rank 0: {} connections to other hosts, receive buffers of {} bytes\n",
                            settings.connections, bytes);
}

kit::Json to_json(const MpiSettings& settings) {
  return {{"variables", settings.variables},
          {"environment", settings.environment},
          {"unknown", settings.unknown},
          {"connections", settings.connections},
          {"receive_buffer_bytes", {settings.least_buffer, settings.largest_buffer}}};
}

}  // namespace nuice::bench
