// SPDX-License-Identifier: BSD-3-Clause
// nuice/mpi/agree.hpp for the library's own communicators, which may watch for deaths and timeouts
// (collective.hpp).
#pragma once

#include <string>
#include <utility>

#include "mpi/communicator.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::mpi {

void agree(const Communicator& comm, const Outcome& mine);

template <typename Step>
void all_or_none(const Communicator& comm, Step&& step) {
  agree(comm, attempt(comm.rank(), std::forward<Step>(step)));
}

std::string text_of_rank_0(const Communicator& comm, std::string text);

}  // namespace nuice::mpi
