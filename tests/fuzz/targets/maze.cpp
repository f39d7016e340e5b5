// SPDX-License-Identifier: BSD-3-Clause
// Mazes of nuice-lee: every net has its ends on free cells of its maze.
#include "lee/maze.hpp"
#include "driver/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static fuzz::InputFile file("maze");
  const std::string& path = file.hold(fuzz::text_of(data, size));
  return fuzz::expect_errors_only([&] {
    for (const lee::Maze& maze : lee::read_mazes(path)) {
      fuzz::require(
          maze.walls.size() == static_cast<std::size_t>(maze.rows) * static_cast<std::size_t>(maze.columns),
          "walls of another maze");
      for (const lee::Net& net : maze.nets) {
        fuzz::require(!maze.wall(net.source), "a source inside a wall");
        fuzz::require(!net.has_target() || !maze.wall(net.target), "a target inside a wall");
      }
    }
  });
}
