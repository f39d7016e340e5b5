// SPDX-License-Identifier: BSD-3-Clause
#include "core/text/unpacked_file.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "nuice/core/error.hpp"

namespace nuice::core {
namespace {

gzFile handle(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void UnpackedFile::Buffer::Close::operator()(void* file) const { gzclose_r(handle(file)); }

UnpackedFile::Buffer::Buffer(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw Error(ErrorCode::io, path + ": is a directory");
  errno = 0;
  file_.reset(gzopen(path.c_str(), "rb"));  // reads a file that is not packed as it is
  if (!file_)
    throw Error(ErrorCode::io, path + ": " + (errno != 0 ? std::strerror(errno) : "not enough memory"));
}

std::streambuf::int_type UnpackedFile::Buffer::underflow() {
  const int count = gzread(handle(file_.get()), content_.data(), static_cast<unsigned>(content_.size()));
  int status = Z_OK;
  gzerror(handle(file_.get()), &status);
  // The stream turns it into bad(). A packed file that is cut off gives what there is first.
  if (count < 0 || (count == 0 && status != Z_OK && status != Z_STREAM_END))
    throw std::runtime_error("cannot be unpacked");
  if (count <= 0) return traits_type::eof();
  setg(content_.data(), content_.data(), content_.data() + count);
  return traits_type::to_int_type(*gptr());
}

UnpackedFile::UnpackedFile(const std::string& path) : std::istream(nullptr), buffer_(path) {
  rdbuf(&buffer_);
}

}  // namespace nuice::core
