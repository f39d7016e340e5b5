// SPDX-License-Identifier: BSD-3-Clause
// nuice/mpi/agree.hpp on the library's own communicators.
#pragma once

#include <string>
#include <utility>

#include "mpi/communicator.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::mpi {

inline void agree(const Communicator& comm, const Outcome& mine) { agree(comm.get(), mine); }

template <typename Step>
void all_or_none(const Communicator& comm, Step&& step) {
  agree(comm.get(), attempt(comm.rank(), std::forward<Step>(step)));
}

inline std::string text_of_rank_0(const Communicator& comm, std::string text) {
  return text_of_rank_0(comm.get(), std::move(text));
}

}  // namespace nuice::mpi
