// SPDX-License-Identifier: BSD-3-Clause
#include "core/text/unpacked_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/text/file_io.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::core {
namespace {

constexpr auto patience = std::chrono::seconds(10);

gzFile handle(void* file) { return static_cast<gzFile>(file); }

/// Waits until a process writes to a pipe. A pipe that was opened without waiting looks empty before that.
/// Returns false if no process writes in time.
bool wait_for_writer(int pipe) {
  const auto end = std::chrono::steady_clock::now() + patience;
  pollfd waiting{pipe, POLLIN, 0};
  while (poll(&waiting, 1, 50) <= 0) {
    check_interrupt();
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

int open_file(const std::string& path) {
  const auto fail = [&](const std::string& reason) { throw Error(ErrorCode::io, path + ": " + reason); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(std::strerror(errno));
  const auto give_up = [&](const std::string& reason) {
    close(file);
    fail(reason);
  };
  struct stat what{};
  if (fstat(file, &what) != 0) give_up(std::strerror(errno));
  if (S_ISDIR(what.st_mode)) give_up("is a directory");
  if (S_ISFIFO(what.st_mode) && !wait_for_writer(file)) give_up("no program writes to this pipe");
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

}  // namespace

void UnpackedFile::Buffer::Close::operator()(void* file) const { gzclose_r(handle(file)); }

UnpackedFile::Buffer::Buffer(const std::string& path) {
  const int file = open_file(path);
  file_.reset(gzdopen(file, "rb"));  // also reads files that are not packed
  if (file_) return;
  close(file);
  throw Error(ErrorCode::io, path + ": not enough memory");
}

std::streambuf::int_type UnpackedFile::Buffer::underflow() {
  gzFile const file = handle(file_.get());
  for (;;) {
    errno = 0;
    const int count = gzread(file, content_.data(), static_cast<unsigned>(content_.size()));
    int status = Z_OK;
    gzerror(file, &status);
    if (count < 0 && status == Z_ERRNO && errno == EINTR) {
      check_interrupt();
      gzclearerr(file);
      continue;
    }
    // If a packed file is cut off, the data that it has is returned first.
    if (count < 0 || (count == 0 && status != Z_OK && status != Z_STREAM_END))
      throw std::ios_base::failure(status == Z_ERRNO ? std::strerror(errno) : "damaged");
    if (count == 0) return traits_type::eof();
    setg(content_.data(), content_.data(), content_.data() + count);
    return traits_type::to_int_type(*gptr());
  }
}

UnpackedFile::UnpackedFile(const std::string& path) : std::istream(nullptr), buffer_(path) {
  rdbuf(&buffer_);
}

std::string read_text(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 26;
  const UnpackedFile in(path);
  std::string text(1 << 16, '\0');
  std::size_t size = 0;
  try {
    while (const std::streamsize count =
               in.rdbuf()->sgetn(text.data() + size, static_cast<std::streamsize>(text.size() - size))) {
      size += static_cast<std::size_t>(count);
      if (size > most_bytes) throw Error(ErrorCode::limit, path + ": more than 64 MiB of text");
      if (size == text.size()) text.resize(2 * size);
    }
  } catch (const std::ios_base::failure& error) {
    throw Error(ErrorCode::io, path + ": cannot be read: " + error.what());
  }
  text.resize(size);
  if (const std::string why = why_no_text(text); !why.empty())
    throw Error(ErrorCode::parse, path + ": " + why);
  return text;
}

}  // namespace nuice::core
