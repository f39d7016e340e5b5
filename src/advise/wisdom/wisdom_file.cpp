// SPDX-License-Identifier: BSD-3-Clause
// The wisdom file: JSON lines, a heading and an entry a line, so that one bad line costs one entry.
//
//   {"nuice_wisdom":1}
//   {"nuice":"0.2.0","matrix":"<16 hex digits>","ranks":8, ... ,"scheduler":"rs_n", ... ,"check":"<16 hex digits>"}
//
// Reading believes nothing: length and number of lines are capped before anything is parsed, every value has its type and
// range, and a scheduler must be in the table. Writing holds a lock on FILE.lock (flock), reads FILE again, and renames a
// new file over it; FILE itself is not locked, as it is another file after every rename.
// Cost: O(size of the file); a writer waits at most 5 s for the lock.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "advise/text_hash.hpp"
#include "core/support/table.hpp"
#include "core/text/file_io.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/plan/scheduler.hpp"
#include "nuice/plan/wisdom.hpp"

namespace nuice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t file_limit = 4U << 20;
constexpr std::size_t line_limit = 1024;
constexpr std::size_t entry_limit = 4096;
constexpr int format = 1;
constexpr std::string_view version = NUICE_VERSION;
constexpr double most_seconds = 1e6;
constexpr int most_repetitions = 1'000'000;
constexpr auto lock_patience = std::chrono::seconds(5);

std::string heading() { return Json{{"nuice_wisdom", format}}.dump(); }

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const std::string text(digits.data(), end.ptr);
  return std::string(16 - text.size(), '0') + text;
}

Json to_json(const WisdomEntry& entry) {
  const WisdomKey& key = entry.key;
  return {{"nuice", version},
          {"matrix", hex(key.matrix)},
          {"ranks", key.num_ranks},
          {"messages", key.num_messages},
          {"bytes", key.total_bytes},
          {"machine", hex(key.machine)},
          {"reuse_bits", key.reuse_bits},
          {"setting", hex(key.setting)},
          {"scheduler", entry.scheduler},
          {"executor", entry.executor},
          {"predicted_s", entry.predicted_s},
          {"measured_s", entry.measured_s},
          {"repetitions", entry.repetitions}};
}

/// Tells damage: of a line as this version writes it, but for this number itself. A text that is no UTF-8 has one too.
std::uint64_t check_of(const WisdomEntry& entry) {
  return advice::hash_of_text(to_json(entry).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string to_line(const WisdomEntry& entry) {
  Json line = to_json(entry);
  line["check"] = hex(check_of(entry));
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Takes values out of a line's object. After the first that is missing or wrong, `good` is false.
class Fields {
 public:
  explicit Fields(const Json& line) : line_(line) {}

  std::uint64_t hash(const char* name) {
    const std::string text = this->text(name);
    std::uint64_t value = 0;
    const bool parsed = text.size() == 16 && core::parse_number(text, value, 16);
    good = good && parsed;
    return value;
  }
  std::string text(const char* name) {
    const Json* const value = find(name);
    good = good && value != nullptr && value->is_string();
    return good ? value->get<std::string>() : "";
  }
  std::int64_t whole(const char* name, std::int64_t least, std::int64_t most) {
    const Json* const value = find(name);
    // An unsigned number above 2^63 would come out negative.
    const bool fits = value != nullptr && value->is_number_integer() &&
                      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{1} << 62);
    good = good && fits && value->get<std::int64_t>() >= least && value->get<std::int64_t>() <= most;
    return good ? value->get<std::int64_t>() : 0;
  }
  double seconds(const char* name) {
    const Json* const value = find(name);
    const double number = value != nullptr && value->is_number() ? value->get<double>() : -1;
    good = good && number >= 0 && number <= most_seconds;  // false for NaN
    return good ? number : 0;
  }

  bool good = true;

 private:
  const Json* find(const char* name) const {
    const auto found = line_.find(name);
    return found == line_.end() ? nullptr : &*found;
  }
  const Json& line_;
};

bool is_known(const WisdomEntry& entry) {
  const Executor* const executor = core::row_named(executors(), entry.executor);
  return core::row_named(schedulers(), entry.scheduler) != nullptr && executor != nullptr && executor->on_mpi;
}

std::optional<WisdomEntry> to_entry(const Json& line) {
  Fields fields(line);
  WisdomEntry entry;
  entry.key = {.matrix = fields.hash("matrix"),
               .num_ranks = static_cast<Rank>(fields.whole("ranks", 1, std::numeric_limits<Rank>::max())),
               .num_messages =
                   static_cast<MessageId>(fields.whole("messages", 0, std::numeric_limits<MessageId>::max())),
               .total_bytes = fields.whole("bytes", 0, max_bytes),
               .machine = fields.hash("machine"),
               .reuse_bits = static_cast<int>(fields.whole("reuse_bits", 1, 64)),
               .setting = fields.hash("setting")};
  entry.scheduler = fields.text("scheduler");
  entry.executor = fields.text("executor");
  entry.predicted_s = fields.seconds("predicted_s");
  entry.measured_s = fields.seconds("measured_s");
  entry.repetitions = static_cast<int>(fields.whole("repetitions", 1, most_repetitions));
  const bool is_measured = entry.measured_s > 0;
  const bool is_whole = fields.hash("check") == check_of(entry);
  if (!fields.good || !is_measured || !is_whole || !is_known(entry)) return std::nullopt;
  return entry;
}

/// What a file holds, line by line.
struct Contents {
  std::vector<WisdomEntry> entries;
  std::vector<std::string> of_other_versions;  // lines, as they are
  std::size_t damaged = 0;                     // lines
  bool is_cut = false;                         // longer than the limits
  std::string unusable;                        // why none of it can be used and none of it may be overwritten
};

void read_line(const std::string& line, Contents& contents) {
  const bool is_too_long = line.size() > line_limit;
  const Json object = is_too_long ? Json() : Json::parse(line, nullptr, false);
  if (!object.is_object()) {
    ++contents.damaged;
    return;
  }
  const auto written_by = object.find("nuice");
  const bool names_version = written_by != object.end() && written_by->is_string();
  if (names_version && written_by->get<std::string>() != version) {
    contents.of_other_versions.push_back(line);
  } else if (auto entry = names_version ? to_entry(object) : std::nullopt) {
    contents.entries.push_back(std::move(*entry));
  } else {
    ++contents.damaged;
  }
}

Contents read_lines(std::istream& in) {
  Contents contents;
  std::string line;
  if (!std::getline(in, line)) return contents;  // empty: as good as none
  if (line != heading()) {
    contents.unusable = "is no wisdom of this format";
    return contents;
  }
  while (std::getline(in, line)) {
    contents.is_cut = contents.entries.size() + contents.of_other_versions.size() >= entry_limit;
    if (contents.is_cut) break;
    read_line(line, contents);
  }
  return contents;
}

Contents read_contents(const std::string& path) {
  const auto unusable = [](std::string why) {
    Contents contents;
    contents.unusable = std::move(why);
    return contents;
  };
  std::error_code trouble;
  const auto status = std::filesystem::status(path, trouble);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (trouble) return unusable("cannot be read: " + trouble.message());
  if (!std::filesystem::is_regular_file(status)) return unusable("is no ordinary file");
  if (std::filesystem::file_size(path, trouble) > file_limit || trouble) return unusable("is above 4 MiB");
  std::ifstream in(path);
  if (!in) return unusable(std::string("cannot be read: ") + std::strerror(errno));
  return read_lines(in);
}

/// Holds FILE.lock as long as it lives. Two objects of one process exclude each other too.
class Lock {
 public:
  explicit Lock(const std::string& path) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw Error(ErrorCode::io, path + ": " + std::strerror(errno));
    const auto give_up = std::chrono::steady_clock::now() + lock_patience;
    while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const bool is_held = errno == EWOULDBLOCK || errno == EINTR;
      if (!is_held || std::chrono::steady_clock::now() > give_up) {
        const std::string why = is_held ? "somebody has held this lock for 5 s" : std::strerror(errno);
        ::close(file_);
        throw Error(ErrorCode::io, path + ": " + why);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { ::close(file_); }  // gives the lock back

 private:
  int file_ = -1;
};

/// The newest last; one entry for each key.
void merge(Contents& contents, std::span<const WisdomEntry> news) {
  for (const WisdomEntry& entry : news) {
    std::erase_if(contents.entries, [&](const WisdomEntry& old) { return old.key == entry.key; });
    contents.entries.push_back(entry);
  }
  const auto drop_oldest = [](auto& list, std::size_t limit) {
    if (list.size() > limit) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(limit));
  };
  drop_oldest(contents.of_other_versions, entry_limit / 2);
  drop_oldest(contents.entries, entry_limit - contents.of_other_versions.size());
}

void add_under_lock(const std::string& path, std::span<const WisdomEntry> entries) {
  const Lock lock(path + ".lock");
  Contents contents = read_contents(path);
  if (!contents.unusable.empty()) throw Error(ErrorCode::io, path + ": " + contents.unusable);
  merge(contents, entries);
  core::write_atomically(path, [&](std::ostream& out) {
    out << heading() << '\n';
    for (const std::string& line : contents.of_other_versions) out << line << '\n';
    for (const WisdomEntry& entry : contents.entries) out << to_line(entry) << '\n';
  });
}

WisdomFile to_file(Contents contents, const std::string& path) {
  WisdomFile file{.entries = std::move(contents.entries), .warning = {}};
  if (!contents.unusable.empty()) {
    file.warning = "wisdom " + path + " is not used: it " + contents.unusable;
  } else if (contents.damaged > 0 || contents.is_cut) {
    file.warning = "wisdom " + path + ": " + std::to_string(contents.damaged) +
                   " lines are damaged and not used" + (contents.is_cut ? ", nor are those after 4096" : "");
  } else if (file.entries.empty() && !contents.of_other_versions.empty()) {
    file.warning =
        "wisdom " + path + " is of another version of nuice than " + std::string(version) + " and not used";
  }
  return file;
}

}  // namespace

WisdomFile parse_wisdom(std::string_view text, const std::string& name) {
  std::istringstream in{std::string(text)};
  return to_file(read_lines(in), name);
}

WisdomFile read_wisdom(const std::string& path) { return to_file(read_contents(path), path); }

std::string add_wisdom(const std::string& path, std::span<const WisdomEntry> entries) {
  try {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    add_under_lock(path, entries);
    return {};
  } catch (const std::exception& error) {
    return std::string("wisdom was not written: ") + error.what();
  }
}

}  // namespace nuice
