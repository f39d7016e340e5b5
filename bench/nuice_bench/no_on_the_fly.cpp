// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/on_the_fly.hpp"

namespace nuice::bench {

std::vector<std::string> drs_transports() { return {}; }

/// Never called: without a transport no MethodSpec has such a method.
std::unique_ptr<Method> make_on_the_fly(const MethodSpec& /*spec*/, const Options& /*options*/,
                                        Payload& /*payload*/) {
  return nullptr;
}

std::unique_ptr<AmSources> make_am_sources() { return nullptr; }

}  // namespace nuice::bench
