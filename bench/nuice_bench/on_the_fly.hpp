// SPDX-License-Identifier: BSD-3-Clause
// Active messages in nuice-bench: DRS_N as a method, and methods of learning the sources. A build without
// active messages (NUICE_BUILD_AM=OFF) has neither, and uses no_on_the_fly.cpp instead of on_the_fly.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice_bench/methods.hpp"

namespace nuice::bench {

/// Collective. Makes DRS_N, for make_method().
std::unique_ptr<Method> make_on_the_fly(const MethodSpec& spec, const Options& options, Payload& payload);

/// The methods of mpi::discovery_ways() whose names begin with am_.
class AmSources {
 public:
  virtual ~AmSources() = default;
  virtual std::vector<Partner> sources(std::span<const Partner> destinations, std::string_view way) = 0;
  virtual std::string transport_name() const = 0;
};

/// Collective. Returns null if nuice-bench was built without active messages.
std::unique_ptr<AmSources> make_am_sources();

}  // namespace nuice::bench
