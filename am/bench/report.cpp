// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report.hpp"

#include <fmt/format.h>

#include "kit/json.hpp"
#include "kit/table.hpp"

namespace nuice::am_bench {
namespace {

/// Returns the fastest method of other libraries; null if there is none.
const Row* best_peer(const std::vector<Row>& rows) {
  const Row* best = nullptr;
  for (const Row& row : rows)
    if (!row.method.starts_with("am:") && row.method.find(':') != std::string::npos &&
        (best == nullptr || row.median_s < best->median_s))
      best = &row;
  return best;
}

}  // namespace

std::string heading(const Setting& setting) {
  return fmt::format("{} ranks, medians of {} interleaved repetitions\n{}{}\n", setting.num_ranks,
                     setting.reps, setting.mpi_library, setting.ucx.empty() ? "" : "\n" + setting.ucx);
}

std::string table(const std::vector<Row>& rows) {
  if (rows.empty()) return {};
  const Row* const peer = best_peer(rows);
  const Row& first = rows.front();
  kit::Table table("method|us each|95 % of medians|best us|M/s");
  for (const Row& row : rows) {
    table.row("{}|{:.4f}|{:.4f} - {:.4f}|{:.4f}|{:.2f}", row.method, row.median_s * 1e6, row.low_s * 1e6,
              row.high_s * 1e6, row.best_s * 1e6, row.median_s > 0 ? 1e-6 / row.median_s : 0);
    if (peer != nullptr)
      table.append(fmt::format("{:.2f} x {}", row.median_s / peer->median_s, peer->method));
  }
  return fmt::format("\n{}{}{}\n", first.pattern,
                     first.bytes != 0 ? fmt::format(", {} bytes", first.bytes) : "",
                     first.detail.empty() ? "" : ", " + first.detail) +
         table.text("  ");
}

std::string json_lines(const Setting& setting, const std::vector<Row>& rows) {
  using kit::Json;
  const Row* const peer = best_peer(rows);
  std::string lines;
  for (const Row& row : rows)
    lines +=
        kit::line({{"pattern", row.pattern},
                   {"bytes", row.bytes},
                   {"detail", row.detail},
                   {"method", row.method},
                   {"ranks", setting.num_ranks},
                   {"reps", setting.reps},
                   {"seconds_median", row.median_s},
                   {"seconds_best", row.best_s},
                   {"seconds_low", row.low_s},
                   {"seconds_high", row.high_s},
                   {"best_peer", peer != nullptr ? Json(peer->method) : Json()},
                   {"ratio_to_best_peer", peer != nullptr ? Json(row.median_s / peer->median_s) : Json()},
                   {"mpi_library", setting.mpi_library},
                   {"ucx", kit::or_null(setting.ucx)}});
  return lines;
}

}  // namespace nuice::am_bench
