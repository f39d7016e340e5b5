// SPDX-License-Identifier: BSD-3-Clause
// Groups of methods that are compared with each other.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/am_side.hpp"
#include "bench/harness.hpp"
#include "bench/mpi_peers.hpp"
#include "bench/options.hpp"
#include "bench/tables.hpp"
#include "bench/ucx_peer.hpp"

namespace nuice::am_bench {

/// Everything that is measured; made once.
class Workshop {
 public:
  /// Collective.
  explicit Workshop(const Options& options);

  /// Returns the groups of one name of Options::groups.
  std::vector<Group> groups(const std::string& name);

 private:
  /// Adds a method for each transport.
  void add_am(Group& group, const std::string& suffix, const std::function<double(AmSide&)>& run);
  int operations(double usual) const;
  std::vector<std::size_t> sizes(const std::vector<std::size_t>& quick,
                                 const std::vector<std::size_t>& all) const;
  std::vector<Group> small_messages(const std::string& name);
  std::vector<Group> coalesced();
  std::vector<Group> blocks();
  std::vector<Group> shifts();
  std::vector<Group> polling();
  std::vector<Group> computing();
  std::vector<Group> fan_in();
  std::vector<Group> tables(bool gathers);
  Group alone(const std::string& pattern, std::size_t bytes, const std::string& detail, double usual,
              double (AmSide::*run)(int));

  Options options_;
  Blocks blocks_;
  MpiPeers mpi_;
  std::unique_ptr<UcxPeer> ucx_;
  std::map<std::string, std::unique_ptr<AmSide>> am_;
  std::vector<std::unique_ptr<AmSide>> by_poll_every_;  // the first transport, with other values of F
  std::vector<int> poll_every_;
  std::map<std::string, std::unique_ptr<AmTables>> tables_;        // by method
  std::map<std::size_t, std::unique_ptr<TableCase>> table_cases_;  // by updates
  std::map<std::size_t, std::unique_ptr<MpiTables>> mpi_tables_;   // by updates
};

}  // namespace nuice::am_bench
