// SPDX-License-Identifier: BSD-3-Clause
#include "bench/groups.hpp"
#include "nuice/mpi/agree.hpp"

#include <algorithm>

namespace nuice::am_bench {
namespace {

/// A message of this size holds a put of a small block, and the largest coalescing buffer.
constexpr std::size_t max_message_bytes = 32768;
constexpr std::size_t largest_in_packets = 16384;

std::vector<std::size_t> powers_of_two(std::size_t from, std::size_t to) {
  std::vector<std::size_t> all;
  for (; from <= to; from *= 2) all.push_back(from);
  return all;
}

}  // namespace

Workshop::Workshop(const Options& options) : options_(options), mpi_(blocks_), ucx_(make_ucx_peer(blocks_)) {
  for (const std::string& transport : options.transports)
    am_[transport] = std::make_unique<AmSide>(
        am::mpi::Options{.transport = transport, .max_message_bytes = max_message_bytes}, blocks_);
  poll_every_ = {1, 5, 10, 0};
  const std::string first = am_.contains("shm") ? "shm" : options.transports.front();
  if (std::ranges::find(options.groups, "polling") != options.groups.end())
    for (const int poll_every : poll_every_)
      by_poll_every_.push_back(std::make_unique<AmSide>(
          am::mpi::Options{.transport = first, .max_message_bytes = max_message_bytes}, blocks_, poll_every));
}

int Workshop::operations(double usual) const { return std::max(1, static_cast<int>(usual * options_.work)); }

std::vector<std::size_t> Workshop::sizes(const std::vector<std::size_t>& quick,
                                         const std::vector<std::size_t>& all) const {
  return options_.full ? all : quick;
}

void Workshop::add_am(Group& group, const std::string& suffix, const std::function<double(AmSide&)>& run) {
  for (auto& [name, side] : am_)
    group.methods.push_back({"am:" + name + suffix, [side = side.get(), run] { return run(*side); }});
}

std::vector<Group> Workshop::small_messages(const std::string& name) {
  std::vector<Group> groups;
  for (const std::size_t bytes : sizes({8, 1024}, powers_of_two(8, 8192))) {
    Group& group = groups.emplace_back(Group{name, bytes, "", {}});
    const int n = operations(name == "pingpong" ? 1000 : 20000 / (1 + static_cast<double>(bytes) / 1024));
    const std::size_t on_wire = bytes + 8;  // the bytes that active messages send
    const auto peer = [&](const char* title, const std::function<double()>& run) {
      group.methods.push_back({title, run});
    };
    if (name == "pingpong") {
      add_am(group, "", [=](AmSide& s) { return s.ping_pong(bytes, n); });
      peer("mpi:send", [=, this] { return mpi_.ping_pong(Style::blocking, on_wire, n); });
      peer("mpi:ring", [=, this] { return mpi_.ping_pong(Style::ring, on_wire, n); });
      if (ucx_) peer("ucx:am", [=, this] { return ucx_->ping_pong(bytes, n); });
    } else if (name == "flood") {
      add_am(group, "", [=](AmSide& s) { return s.flood(bytes, n); });
      peer("mpi:ring", [=, this] { return mpi_.flood(Style::ring, on_wire, n); });
      peer("mpi:isend", [=, this] { return mpi_.flood(Style::isend, on_wire, n); });
      if (ucx_) peer("ucx:am", [=, this] { return ucx_->flood(bytes, n); });
    } else if (name == "roundtrip") {
      add_am(group, "", [=](AmSide& s) { return s.round_trip_flood(bytes, n); });
      peer("mpi:ring", [=, this] { return mpi_.round_trip_flood(on_wire, n); });
    } else {
      add_am(group, "", [=](AmSide& s) { return s.two_way_flood(bytes, n); });
      peer("mpi:ring", [=, this] { return mpi_.two_way_flood(on_wire, n); });
    }
  }
  return groups;
}

std::vector<Group> Workshop::coalesced() {
  std::vector<Group> groups;
  const int n = operations(1e6);
  for (const std::size_t buffer : {2048U, 4096U, 8192U, 32768U})
    for (const bool both : {false, true}) {
      Group& group = groups.emplace_back(Group{
          "coalesced", 8, "buffer " + std::to_string(buffer) + (both ? ", both ways" : ", one way"), {}});
      for (const bool piece : {false, true})
        add_am(group, piece ? " in one piece" : "",
               [=](AmSide& s) { return s.coalesced(buffer, n, both, piece); });
    }
  return groups;
}

std::vector<Group> Workshop::blocks() {
  using Block = MpiPeers::Block;
  std::vector<Group> groups;
  for (const std::size_t bytes : sizes({4, 64, 1024, 16384, 262144, 1048576}, powers_of_two(4, 1048576))) {
    const int n = operations(std::max(5.0, 500 / (1 + static_cast<double>(bytes) / 8192)));
    Group& group = groups.emplace_back(Group{"block", bytes, "", {}, true});
    if (bytes <= largest_in_packets)
      add_am(group, " packets", [=](AmSide& s) { return s.packets(bytes, n); });
    add_am(group, " put", [=](AmSide& s) { return s.put(bytes, n); });
    const std::vector<std::pair<const char*, Block>> peers = {{"mpi:synchronous", Block::synchronous},
                                                              {"mpi:asynchronous", Block::asynchronous},
                                                              {"mpi:send", Block::send},
                                                              {"mpi:put", Block::put}};
    for (const auto& [name, kind] : peers)
      group.methods.push_back({name, [this, kind = kind, bytes, n] { return mpi_.block(kind, bytes, n); }});
    if (ucx_) group.methods.push_back({"ucx:tag", [=, this] { return ucx_->block(bytes, n); }});
  }
  return groups;
}

std::vector<Group> Workshop::shifts() {
  std::vector<Group> groups;
  for (const std::size_t bytes : sizes({16, 256, 4096, 65536}, powers_of_two(16, 262144))) {
    const int n = operations(std::max(5.0, 300 / (1 + static_cast<double>(bytes) / 4096)));
    Group& group = groups.emplace_back(Group{"shift", bytes, "", {}, true});
    if (bytes <= largest_in_packets)
      add_am(group, " packets", [=](AmSide& s) { return s.packet_shift(bytes, n); });
    add_am(group, " put", [=](AmSide& s) { return s.put_shift(bytes, n); });
    group.methods.push_back({"mpi:synchronous", [=, this] { return mpi_.shift(true, bytes, n); }});
    group.methods.push_back({"mpi:asynchronous", [=, this] { return mpi_.shift(false, bytes, n); }});
  }
  return groups;
}

// The number F of sends between polls; with M, a rank polls only when all messages are sent.
std::vector<Group> Workshop::polling() {
  std::vector<Group> groups;
  for (const std::size_t bytes : sizes({256, 4096}, powers_of_two(16, 65536))) {
    const int n = operations(std::max(5.0, 100 / (1 + static_cast<double>(bytes) / 4096)));
    Group& group = groups.emplace_back(
        Group{"polling",
              bytes,
              "circular shift of packets, " + by_poll_every_[0]->endpoint().transport_name(),
              {}});
    for (std::size_t i = 0; i < poll_every_.size(); ++i)
      group.methods.push_back(
          {poll_every_[i] == 0 ? "F=M" : "F=" + std::to_string(poll_every_[i]),
           [s = by_poll_every_[i].get(), bytes, n] { return s->packet_shift(bytes, n); }});
  }
  return groups;
}

// Measures the cost for the sender (a round trip) and for the computing rank (one unit of its work).
std::vector<Group> Workshop::computing() {
  if (!am_.contains("shm")) return {};
  AmSide* const side = am_["shm"].get();
  Group round_trip{"computing", 8, "round trip to a rank that computes", {}};
  Group work{"computing", 8, "unit of work of that rank", {}};
  const std::vector<std::pair<const char*, Progress>> kinds = {{"polling every unit", Progress::polling},
                                                               {"interrupts", Progress::interrupts},
                                                               {"thread", Progress::thread}};
  for (const auto& [name, progress] : kinds) {
    if (progress == Progress::thread && !AmSide::allows_threads()) continue;
    const int n = operations(progress == Progress::thread ? 20 : 100);
    const auto run = [side, progress = progress, n](bool of_work) {
      double work_per_s = 0;
      const double seconds = side->ping_computing(progress, n, work_per_s);
      if (!of_work) return seconds;
      return work_per_s > 0 ? 1 / work_per_s : 0;
    };
    round_trip.methods.push_back({name, [run] { return run(false); }});
    work.methods.push_back({name, [run] { return run(true); }});
  }
  return {round_trip, work};
}

std::vector<Group> Workshop::fan_in() {
  std::vector<Group> groups;
  const int n = operations(50);
  for (const std::size_t bytes : {256U, 4096U})
    for (int senders = 1; senders < mpi::world_size(); senders *= 2) {
      Group& group = groups.emplace_back(Group{"fanin", bytes, "d=" + std::to_string(senders), {}});
      for (const bool send : {false, true}) {
        const std::string end = send ? "send" : "recv";
        add_am(group, " " + end, [=](AmSide& s) { return s.fan_in(bytes, senders, n, send); });
        group.methods.push_back({"mpi:" + end, [=, this] { return mpi_.fan_in(bytes, senders, n, send); }});
      }
    }
  return groups;
}

// NUICE has buffers of 8 KiB. The peer that exchanges in rounds uses bale's default length (1,024 items).
std::vector<Group> Workshop::tables(bool gathers) {
  constexpr std::size_t places = 1000;
  constexpr std::size_t buffer = 8192;
  const Hosts hosts = hosts_of_world();
  if (tables_.empty())
    for (const std::string& transport : options_.transports) {
      const am::mpi::Options connect{.transport = transport, .max_message_bytes = max_message_bytes};
      tables_["am:" + transport] = std::make_unique<AmTables>(connect, buffer, false);
      if (hosts.any_shared() && hosts.num_hosts() > 1)
        tables_["am:" + transport + " two hops"] = std::make_unique<AmTables>(connect, buffer, true);
    }
  std::vector<Group> groups;
  for (const std::size_t usual : {1000U, 10000U, 100000U}) {
    const auto updates = static_cast<std::size_t>(operations(static_cast<double>(usual)));
    std::unique_ptr<TableCase>& data = table_cases_[updates];
    if (!data) data = std::make_unique<TableCase>(places, updates);
    std::unique_ptr<MpiTables>& peer = mpi_tables_[updates];
    if (!peer) peer = std::make_unique<MpiTables>(*data);
    Group& group = groups.emplace_back(
        Group{gathers ? "index-gather" : "histogram", 4, std::to_string(updates) + " of each rank", {}});
    for (auto& [name, side] : tables_)
      group.methods.push_back({name, [side = side.get(), data = data.get(), gathers] {
                                 return gathers ? side->index_gather(*data) : side->histogram(*data);
                               }});
    for (const bool rounds : {false, true})
      group.methods.push_back({rounds ? "mpi:rounds" : "mpi:alltoallv", [peer = peer.get(), gathers, rounds] {
                                 const std::size_t bytes = rounds ? std::size_t{4096} : SIZE_MAX;
                                 return gathers ? peer->index_gather_in_rounds(bytes)
                                                : peer->histogram_in_rounds(bytes);
                               }});
  }
  return groups;
}

/// Makes a group of active messages only, without peers.
Group Workshop::alone(const std::string& pattern, std::size_t bytes, const std::string& detail, double usual,
                      double (AmSide::*run)(int)) {
  Group group{pattern, bytes, detail, {}};
  add_am(group, "", [run, n = operations(usual)](AmSide& s) { return (s.*run)(n); });
  return group;
}

std::vector<Group> Workshop::groups(const std::string& name) {
  if (name == "coalesced") return coalesced();
  if (name == "block") return blocks();
  if (name == "shift") return shifts();
  if (name == "polling") return polling();
  if (name == "computing") return computing();
  if (name == "fanin") return fan_in();
  if (name == "histogram" || name == "index-gather") return tables(name == "index-gather");
  if (name == "collective")
    return {alone(name, 0, "quiesce", 500, &AmSide::quiesce),
            alone(name, 0, "finish_level", 500, &AmSide::level),
            alone(name, 0, "empty poll", 10000, &AmSide::empty_poll)};
  if (name == "alltoall") return {alone(name, 8, "every rank to every rank", 20000, &AmSide::all_to_all)};
  return small_messages(name);
}

}  // namespace nuice::am_bench
