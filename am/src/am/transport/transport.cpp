// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/am/transport.hpp"

#include <sched.h>

#include "nuice/core/error.hpp"

namespace nuice::am {
namespace {

[[noreturn]] void no_bulk() { throw Error(ErrorCode::state, "this transport moves no bulk data"); }

}  // namespace

void Transport::yield() { sched_yield(); }

std::uint64_t Transport::start_bulk_send(Rank /*dst*/, std::span<const std::byte> /*data*/) { no_bulk(); }
bool Transport::bulk_sent(std::uint64_t /*key*/) { no_bulk(); }
void Transport::start_bulk_receive(Rank /*src*/, std::uint64_t /*key*/, std::span<std::byte> /*data*/,
                                   std::uint64_t /*cookie*/) {
  no_bulk();
}

}  // namespace nuice::am
