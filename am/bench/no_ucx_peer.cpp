// SPDX-License-Identifier: BSD-3-Clause
// Replaces ucx_peer.cpp if NUICE is built without UCX.
#include "bench/ucx_peer.hpp"

namespace nuice::am_bench {

std::unique_ptr<UcxPeer> make_ucx_peer(Blocks& /*blocks*/) { return nullptr; }
std::string ucx_description() { return {}; }

}  // namespace nuice::am_bench
