// SPDX-License-Identifier: BSD-3-Clause
// The ranks tell each other of failures before any of them acts on one.
#pragma once

#include <exception>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice::bench {

int world_rank();
int world_size();

/// Collective. The text of the lowest rank that has one, on all ranks; empty if none has.
std::string first_text(const std::string& mine);

/// Collective. Runs the step on every rank; if it throws on one of them, throws Error limit with that text on
/// all. The step must not communicate. For what one rank may be unable to do: hold its buffers, count in int.
template <typename Step>
void possible_on_all_ranks(Step&& step) {
  std::string mine;
  try {
    step();
  } catch (const std::bad_alloc&) {
    mine = "rank " + std::to_string(world_rank()) + " is out of memory";
  } catch (const std::exception& error) {
    mine = error.what();
  }
  if (const std::string text = first_text(mine); !text.empty()) throw Error(ErrorCode::limit, text);
}

}  // namespace nuice::bench
