// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <sstream>

#include "euler/mesh.hpp"
#include "kit/files.hpp"

namespace nuice::euler {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path) {}

  Mesh read() {
    if (next() != "nuice-mesh 1") fail(R"(not a mesh: the first line must be "nuice-mesh 1")");
    Mesh mesh;
    for (std::int64_t left = count("points"); left > 0; --left) {
      const auto [x, y] = numbers<double, 2>("x y");
      if (!std::isfinite(x) || !std::isfinite(y)) fail("a coordinate is not finite");
      mesh.points.push_back({x, y});
    }
    for (std::int64_t left = count("triangles"); left > 0; --left)
      mesh.triangles.push_back(numbers<std::int32_t, 3>("three points"));
    for (std::int64_t left = count("boundary"); left > 0; --left) mesh.boundary.push_back(boundary_edge());
    if (next() != "end") fail(R"(expected "end", found ")" + in_.line() + "\"");
    require_valid(mesh, path_);
    return mesh;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { in_.fail(what); }
  const std::string& next() {
    if (!in_.next()) fail("the file ends too early");
    return in_.line();
  }

  std::int64_t count(const std::string& word) {
    std::istringstream fields(next());
    std::string found;
    std::string rest;
    std::int64_t value = -1;
    constexpr std::int64_t max_count = 100'000'000;
    if (!(fields >> found >> value) || found != word || value < 0 || value > max_count || fields >> rest)
      fail("expected \"" + word + " COUNT\", found \"" + in_.line() + "\"");
    return value;
  }

  template <typename Number, std::size_t Count>
  std::array<Number, Count> numbers(const std::string& what) {
    std::istringstream fields(next());
    std::array<Number, Count> values{};
    std::string rest;
    for (Number& value : values)
      if (!(fields >> value)) fail("expected " + what + ", found \"" + in_.line() + "\"");
    if (fields >> rest) fail("expected " + what + ", found \"" + in_.line() + "\"");
    return values;
  }

  BoundaryEdge boundary_edge() {
    std::istringstream fields(next());
    BoundaryEdge edge{};
    std::string kind;
    std::string rest;
    if (!(fields >> edge.a >> edge.b >> kind) || (kind != "wall" && kind != "far") || fields >> rest)
      fail("expected two points and wall or far, found \"" + in_.line() + "\"");
    edge.kind = kind == "wall" ? Boundary::wall : Boundary::far;
    return edge;
  }

  std::string path_;
  kit::LineReader in_;
};

}  // namespace

Mesh load_mesh(const std::string& path) { return Reader(path).read(); }

}  // namespace nuice::euler
