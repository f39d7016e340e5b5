// SPDX-License-Identifier: BSD-3-Clause
// nuice-fabric-rdma: exchanges on a lossless test network as RDMA would carry them, without MPI and TCP.
//
//   nuice-fabric-rdma --matrix M.mtx --plans a.plan:async,b.plan:depend --topology fattree:4x4/2 --json
//
// nuice-testbed rdma starts it, because that command knows the network. Exit codes: 0 done, 1 a packet was
// lost, 2 bad input.
#include <cstdio>

#include "kit/command_line.hpp"
#include "kit/json.hpp"
#include "lossless/exchange.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/text_io.hpp"

namespace nuice::lossless {
namespace {

struct Options {
  std::string prefix = "nuice-";
  std::string subnet = "10.77.0";
  std::string matrix;
  std::string topology = "crossbar:16";
  std::vector<std::string> plans;
  int reps = 5;
  int window = 32;
  bool arrivals = false;
};

void add_options(kit::App& app, Options& options) {
  kit::add(app, "--prefix", options.prefix, "of the names of the hosts' namespaces");
  kit::add(app, "--subnet", options.subnet, "first three numbers of the hosts' addresses");
  kit::add(app, "--matrix", options.matrix, "Matrix Market; a rank is a host");
  kit::add(app, "--topology", options.topology, "of the network, for depend");
  kit::add(app, "--plans", options.plans, "FILE.plan:EXECUTOR, one after the other, interleaved");
  kit::add(app, "--reps", options.reps, "of each", kit::range(1, 1'000'000));
  kit::add(app, "--window", options.window, "packets of a connection in flight", kit::range(1, 100'000));
  kit::add_flag(app, "--arrivals", options.arrivals, "when each transfer was complete, too");
}

struct Method {
  std::string name;
  Schedule schedule;
  std::string executor;
  std::vector<ExchangeResult> results = {};
};

std::vector<Method> read_methods(const Options& options, const CommMatrix& matrix) {
  std::vector<Method> methods;
  for (const std::string& plan : options.plans) {
    const std::size_t colon = plan.rfind(':');
    if (colon == std::string::npos)
      throw Error(ErrorCode::invalid_argument, "--plans " + plan + ": FILE.plan:EXECUTOR");
    methods.push_back({plan, load_schedule(plan.substr(0, colon), matrix).schedule, plan.substr(colon + 1)});
  }
  return methods;
}

kit::Json json_of(Method& method, bool arrivals) {
  kit::Json json = {{"method", method.name}, {"seconds", kit::Json::array()}};
  std::vector<float> gaps;
  for (ExchangeResult& result : method.results) {
    json["seconds"].push_back(result.seconds);
    gaps.insert(gaps.end(), result.gaps_s.begin(), result.gaps_s.end());
    if (arrivals) json["arrived_s"].push_back(result.arrived_s);
  }
  std::ranges::sort(gaps);
  json["gap_p99_s"] = gaps.empty() ? 0 : gaps[gaps.size() * 99 / 100];
  if (arrivals)
    for (std::size_t id = 0; id < method.schedule.num_transfers(); ++id)
      json["transfers"].push_back({method.schedule.transfer(id).src, method.schedule.transfer(id).dst});
  return json;
}

void measure(const Options& options) {
  const CommMatrix matrix = load_matrix_market(options.matrix);
  const auto topology = make_topology(options.topology);
  if (const std::string reason = why_too_small(*topology, matrix.num_ranks()); !reason.empty())
    throw Error(ErrorCode::mismatch, reason);
  std::vector<Method> methods = read_methods(options, matrix);
  Cards cards(options.prefix, options.subnet, matrix.num_ranks());
  std::vector<Exchange> exchanges;
  for (const Method& method : methods)
    exchanges.emplace_back(cards, method.schedule, *topology, find_executor(method.executor),
                           static_cast<std::uint32_t>(options.window));
  std::uint32_t number = 0;
  for (int rep = 0; rep < options.reps; ++rep)
    for (std::size_t i = 0; i < methods.size(); ++i) methods[i].results.push_back(exchanges[i].run(++number));
  for (Method& method : methods) std::fputs(kit::line(json_of(method, options.arrivals)).c_str(), stdout);
}

}  // namespace
}  // namespace nuice::lossless

int main(int argc, char** argv) {
  using namespace nuice;
  lossless::Options options;
  kit::App app{"Exchanges on a lossless test network as RDMA would carry them.", "nuice-fabric-rdma"};
  lossless::add_options(app, options);
  const auto reply = kit::reply_to(argc, argv, app, [&] {
    app.parse(argc, argv);
    lossless::measure(options);
  });
  if (!reply) return kit::success;
  std::fputs(reply->out.c_str(), stdout);
  std::fputs(reply->err.c_str(), stderr);
  return reply->exit_code;
}
