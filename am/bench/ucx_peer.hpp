// SPDX-License-Identifier: BSD-3-Clause
// The same patterns with bare UCX: active messages, and tagged messages for blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "bench/harness.hpp"

namespace nuice::am_bench {

class UcxPeer {
 public:
  virtual ~UcxPeer() = default;
  // All functions are collective and return the seconds per operation, like AmSide's functions.
  virtual double ping_pong(std::size_t bytes, int times) = 0;
  virtual double flood(std::size_t bytes, int messages) = 0;
  virtual double block(std::size_t bytes, int times) = 0;
};

/// Collective. Returns null if NUICE was built without UCX. blocks must live as long as the result.
std::unique_ptr<UcxPeer> make_ucx_peer(Blocks& blocks);
/// Returns the version and UCX_TLS; empty without UCX.
std::string ucx_description();

}  // namespace nuice::am_bench
