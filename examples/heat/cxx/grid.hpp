// SPDX-License-Identifier: BSD-3-Clause
// One rank's block of a 2-D grid, for both programs: the values with a ring of
// ghosts around them, and packed edges.
#pragma once

#include <array>
#include <numeric>
#include <utility>
#include <vector>

inline constexpr int cells = 96;
inline constexpr int steps = 200;

/// What lies between this block and that of another rank: length cells from `first` on, `stride` apart;
/// their ghosts lie `outwards` from them.
struct Edge {
  int rank;
  int first, stride, length, outwards;
};

class Grid {
 public:
  /// dims: blocks along x and y; rank = x * dims[1] + y. Edges are by ascending rank.
  Grid(int rank, std::array<int, 2> dims) {
    const int px = rank / dims[1], py = rank % dims[1];
    const int x0 = cells * px / dims[0], y0 = cells * py / dims[1];
    nx_ = cells * (px + 1) / dims[0] - x0;
    ny_ = cells * (py + 1) / dims[1] - y0;
    const int w = ny_ + 2;
    if (px > 0) edges.push_back({rank - dims[1], w + 1, 1, ny_, -w});
    if (py > 0) edges.push_back({rank - 1, w + 1, w, nx_, -1});
    if (py < dims[1] - 1) edges.push_back({rank + 1, w + ny_, w, nx_, 1});
    if (px < dims[0] - 1) edges.push_back({rank + dims[1], nx_ * w + 1, 1, ny_, w});
    u_.resize(static_cast<std::size_t>((nx_ + 2) * w));
    next_ = u_;
    for (int i = 1; i <= nx_; ++i)
      for (int j = 1; j <= ny_; ++j) u_[at(i * w + j)] = ((x0 + i) * 7 + (y0 + j) * 3) % 11;
    for (const Edge& edge : edges) {
      send.emplace_back(edge.length);
      receive.emplace_back(edge.length);
    }
  }

  void pack() {
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (int k = 0; k < edges[e].length; ++k) send[e][at(k)] = u_[at(edges[e].first + k * edges[e].stride)];
  }
  void unpack() {
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (int k = 0; k < edges[e].length; ++k)
        u_[at(edges[e].first + k * edges[e].stride + edges[e].outwards)] = receive[e][at(k)];
  }
  /// The inner cells need no ghosts; those at the rim do.
  void update(bool rim) {
    const int w = ny_ + 2;
    for (int i = 1; i <= nx_; ++i)
      for (int j = 1; j <= ny_; ++j) {
        const bool is_rim = i == 1 || i == nx_ || j == 1 || j == ny_;
        const double* const u = &u_[at(i * w + j)];
        if (is_rim == rim) next_[at(i * w + j)] = u[0] + 0.1 * (u[-w] + u[w] + u[-1] + u[1] - 4 * u[0]);
      }
  }
  void swap() { std::swap(u_, next_); }
  double sum() const {
    double total = 0;
    for (int i = 1; i <= nx_; ++i)
      for (int j = 1; j <= ny_; ++j) total += u_[at(i * (ny_ + 2) + j)];
    return total;
  }

  std::vector<Edge> edges;
  std::vector<std::vector<double>> send, receive;  // one for each edge

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  int nx_ = 0, ny_ = 0;
  std::vector<double> u_, next_;
};
