// SPDX-License-Identifier: BSD-3-Clause
// Options as text, as NUICE_OPTIONS and PlanOptions::parse() take them: what was read
// is written and read again as the same.
#include <array>
#include <climits>

#include "core/support/option_table.hpp"
#include "driver/target.hpp"

namespace {

using namespace nuice;
using namespace nuice::options;

enum class Where { here, there };

/// One option of every kind.
struct Some {
  std::string scheduler = "rs_n";
  bool check = true;
  int senders = 4;
  std::uint64_t seed = 0;
  Bytes window = 28672;
  double watchdog = 0;
  Where where = Where::here;
};

constexpr std::array<std::string_view, 2> places = {"here", "there"};
using Kind = std::variant<Text<Some>, Flag<Some>, Whole<Some, int>, Whole<Some, std::uint64_t>, Size<Some>,
                          Seconds<Some>, OneOf<Some, Where>>;
const std::array rows{
    Option<Kind>{"scheduler", "", Text<Some>{[](Some& o) -> auto& { return o.scheduler; }}},
    Option<Kind>{"check", "", Flag<Some>{[](Some& o) -> auto& { return o.check; }}},
    Option<Kind>{"async.max_sends", "",
                 Whole<Some, int>{[](Some& o) -> auto& { return o.senders; }, 1, INT_MAX}},
    Option<Kind>{"seed", "",
                 Whole<Some, std::uint64_t>{[](Some& o) -> auto& { return o.seed; }, 0, ~std::uint64_t{0}}},
    Option<Kind>{"device.chunk", "", Size<Some>{[](Some& o) -> auto& { return o.window; }, 1, max_bytes}},
    Option<Kind>{"watchdog", "", Seconds<Some>{[](Some& o) -> auto& { return o.watchdog; }}},
    Option<Kind>{"planning", "", OneOf<Some, Where>{[](Some& o) -> auto& { return o.where; }, places}},
};
const std::span<const Option<Kind>> table = rows;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  return fuzz::expect_errors_only([&] {
    Some read;
    parse_options(text, table, read);
    for (const Option<Kind>& row : rows) (void)why_not_option(row, read);
    const std::string written = options_text(table, read, Some{});
    Some again;
    parse_options(written, table, again);
    fuzz::require(options_text(table, again, Some{}) == written, "options that are read back otherwise");
  });
}
