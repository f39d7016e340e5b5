// SPDX-License-Identifier: BSD-3-Clause
// Turns the name of a scheme into its type.
#pragma once

#include "irregular/active_messages.hpp"
#include "irregular/put.hpp"
#include "irregular/scheme.hpp"
#include "irregular/send_receive.hpp"

namespace nuice::irregular {

/// Collective. Makes the scheme for the client and returns use(scheme). neighbours: the other ranks, each
/// once, with which this rank exchanges items. If a lists b, then b must list a. Slot i of emit() is
/// neighbours[i]. Throws the same Error on all ranks: `invalid_argument` for an unknown name, and the errors
/// of connect() for a transport.
template <typename Client, typename Use>
decltype(auto) with_scheme(MPI_Comm comm, SchemeOptions options, const std::vector<Rank>& neighbours,
                           Client& client, Use&& use) {
  const std::string_view name = find_scheme(options.name).name;
  const auto made = [&]<typename Scheme>(std::type_identity<Scheme>) -> decltype(auto) {
    Scheme scheme(comm, options, neighbours, client);
    return use(scheme);
  };
  if (name == "SSR-C-NO") return made(std::type_identity<SendReceive<Client, false>>{});
  if (name == "ASR-C-O") return made(std::type_identity<SendReceive<Client, true>>{});
  if (name == "AMP-C-NO") return made(std::type_identity<PutIntoPorts<Client>>{});
  if (name == "AM-C-O") return made(std::type_identity<ActiveMessages<Client, true>>{});
  if (name == "ST-NC-O") options.transport = options.second;
  return made(std::type_identity<ActiveMessages<Client, false>>{});
}

}  // namespace nuice::irregular
