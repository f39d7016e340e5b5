// SPDX-License-Identifier: BSD-3-Clause
// Schedules: what is read can be checked, sliced and written, and a right one is carried out.
#include <sstream>

#include "driver/target.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/text_io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  const std::vector<Message> messages{{0, 1, 10}, {0, 2, 1}, {1, 2, 7}, {2, 2, 3}, {3, 0, max_bytes / 2}};
  static const CommMatrix matrix = CommMatrix::from_messages(4, messages);
  return fuzz::expect_errors_only([&] {
    std::istringstream in{std::string(fuzz::text_of(data, size))};
    const ScheduleRecord record = read_schedule(in, "fuzz", matrix);
    const bool right = !check(matrix, record.schedule, record.guarantees & ~static_cast<unsigned>(link_free));
    std::stringstream again;
    write_schedule(again, record, matrix);
    fuzz::require(read_schedule(again, "again", matrix).schedule == record.schedule, "not the same again");
    if (right) slice_all(matrix, record.schedule);
  });
}
