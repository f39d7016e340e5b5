// SPDX-License-Identifier: BSD-3-Clause
// nuice-wolff: Wolff's cluster algorithm for the Ising model, in every message-passing scheme of 002.
//
//   mpiexec -n 2 nuice-wolff                    64 x 64 at beta_c, tested against exact values
//   mpiexec -n 2 nuice-wolff --size 1024 --widths 1,4,16,64 --samples 0 --no-check --json
//
// Exit code, the same on all ranks: 0 right; 1 not; 2 bad command line.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "kit/files.hpp"
#include "kit/json.hpp"
#include "kit/program.hpp"
#include "kit/statistics.hpp"
#include "nuice/mpi/agree.hpp"
#include "wolff/flood.hpp"
#include "wolff/options.hpp"
#include "wolff/report.hpp"
#include "wolff/small.hpp"

namespace nuice::wolff {
namespace {

constexpr double thermalising_sweeps = 10;
constexpr double sweeps_between_samples = 0.25;

/// A lattice, and the number of the next cluster.
struct State {
  std::vector<Spin> spins;
  std::uint64_t cluster = 0;
  double mean_cluster = 0;  // while thermalising
};

/// The effect of clusters [first, first + clusters) on a state.
struct Outcome {
  std::int64_t flipped = 0;
  std::uint64_t fingerprint = 0;
  double seconds = 0;
};

class Program {
 public:
  explicit Program(Options& options)
      : options_(options),
        cases_(interpret(options, mpi::world_size())),
        bonds_{options.seed, threshold(options.beta)} {
    report_.size = options.size;
    report_.beta = options.beta;
    report_.num_ranks = mpi::world_size();
    report_.clusters = options.clusters;
  }

  Report run() {
    thermalise();
    if (options_.samples > 0) sample();
    if (options_.check) {
      mpi::on_rank_0(MPI_COMM_WORLD, [&] { add(test_small_lattices(options_.beta, options_.seed)); });
    }
    if (options_.reps > 0) {
      time_all();
      if (options_.item_costs) time_items();
    }
    if (!options_.picture.empty()) draw();
    share_verdict();
    return report_;
  }

 private:
  irregular::Stripes stripes(std::int64_t width) const { return {options_.size, width, mpi::world_size()}; }
  double num_sites() const { return static_cast<double>(options_.size) * static_cast<double>(options_.size); }

  void add(std::vector<Finding> findings) {
    std::ranges::move(findings, std::back_inserter(report_.findings));
  }

  // Thermalises from equal spins on rank 0; every rank gets the result.
  void thermalise() {
    start_.spins.assign(static_cast<std::size_t>(num_sites()), 1);
    mpi::on_rank_0(MPI_COMM_WORLD, [&] {
      Lattice lattice(irregular::Stripes(options_.size, options_.size, 1), 0, {});
      Sequential sequential(lattice, bonds_);
      const auto enough = static_cast<std::uint64_t>(options_.thermalise);
      double flipped = 0;
      while (start_.cluster < enough || (enough > 0 && flipped < thermalising_sweeps * num_sites()))
        flipped += static_cast<double>(sequential.flip(start_.cluster++));
      start_.mean_cluster = flipped / static_cast<double>(std::max<std::uint64_t>(1, start_.cluster));
      lattice.store(start_.spins);
    });
    MPI_Bcast(start_.spins.data(), static_cast<int>(start_.spins.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&start_.cluster, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(&start_.mean_cluster, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }

  // Samples energy, magnetisation and clusters with the last case on all ranks.
  void sample() {
    const Case& way = cases_.back();
    const irregular::Stripes stripes = this->stripes(way.width);
    const auto between = static_cast<std::int64_t>(
        std::max(1.0, std::round(sweeps_between_samples * num_sites() / std::max(1.0, start_.mean_cluster))));
    std::vector<double> energies, magnetisations, clusters, differences;
    std::uint64_t cluster = start_.cluster;
    std::uint64_t fingerprint = 0;
    with_engine(MPI_COMM_WORLD, way.way, stripes, bonds_, [&](Engine& engine) {
      engine.lattice().load(start_.spins);
      for (std::int64_t i = 0; i < options_.samples; ++i) {
        const Observed observed = observe(MPI_COMM_WORLD, engine, stripes);
        std::int64_t flipped = 0;
        for (std::int64_t k = 0; k < between; ++k) flipped += engine.flip(cluster++);
        MPI_Allreduce(MPI_IN_PLACE, &flipped, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        const auto m = static_cast<double>(observed.magnetisation);
        energies.push_back(-static_cast<double>(observed.bonds) / num_sites());
        magnetisations.push_back(std::abs(m) / num_sites());
        clusters.push_back(static_cast<double>(flipped) / static_cast<double>(between));
        differences.push_back(clusters.back() - m * m / num_sites());
      }
      fingerprint = wolff::fingerprint(MPI_COMM_WORLD, engine.lattice());
    });
    const Physics physics{options_.samples, between, estimate(energies), estimate(magnetisations),
                          estimate(clusters)};
    report_.physics = physics;
    mpi::on_rank_0(MPI_COMM_WORLD, [&] {
      const double energy = exact_energy(options_.size, options_.beta);
      const Estimate identity = estimate(differences);
      add({{"energy / site", physics.energy.mean, physics.energy.error, energy, pull(physics.energy, energy)},
           {"mean cluster, against <M^2> / sites", physics.cluster.mean, identity.error,
            physics.cluster.mean - identity.mean, pull(identity, 0)}});
      const bool same = alone(cluster - start_.cluster, false).fingerprint == fingerprint;
      add({{"spins after the samples, as sequential", same ? 1.0 : 0.0, 0, 1, same ? 0 : INFINITY}});
    });
  }

  // Runs the sequential program on this rank.
  Outcome alone(std::uint64_t clusters, bool warm) {
    Lattice lattice(irregular::Stripes(options_.size, options_.size, 1), 0, {});
    Sequential sequential(lattice, bonds_);
    lattice.load(start_.spins);
    if (warm) {
      sequential.flip(start_.cluster);
      lattice.load(start_.spins);
    }
    Outcome outcome;
    const double begin = MPI_Wtime();
    for (std::uint64_t k = 0; k < clusters; ++k) outcome.flipped += sequential.flip(start_.cluster + k);
    outcome.seconds = MPI_Wtime() - begin;
    std::vector<Spin> whole(start_.spins.size());
    lattice.store(whole);
    outcome.fingerprint = fingerprint(whole);
    return outcome;
  }

  // Runs one case on the ranks of comm. result: filled in addition to the time; may be null.
  Outcome together(MPI_Comm comm, const Case& way, const irregular::Stripes& stripes, Result* result) {
    Outcome outcome;
    with_engine(comm, way.way, stripes, bonds_, [&](Engine& engine) {
      engine.lattice().load(start_.spins);
      engine.flip(start_.cluster);  // touches memory
      engine.lattice().load(start_.spins);
      const irregular::Traffic before = engine.traffic();
      MPI_Barrier(comm);
      const double begin = MPI_Wtime();
      for (std::int64_t k = 0; k < options_.clusters; ++k)
        outcome.flipped += engine.flip(start_.cluster + static_cast<std::uint64_t>(k));
      outcome.seconds = MPI_Wtime() - begin;
      MPI_Allreduce(MPI_IN_PLACE, &outcome.flipped, 1, MPI_INT64_T, MPI_SUM, comm);
      MPI_Allreduce(MPI_IN_PLACE, &outcome.seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
      outcome.fingerprint = fingerprint(comm, engine.lattice());
      if (result != nullptr) count(comm, engine, before, *result);
    });
    return outcome;
  }

  void count(MPI_Comm comm, const Engine& engine, const irregular::Traffic& before, Result& result) const {
    const irregular::Traffic after = engine.traffic();
    int rank = 0;
    int num_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &num_ranks);
    const auto cycles = static_cast<double>(after.levels - before.levels);
    const auto to = [&](int distance) {
      const auto slot = std::ranges::find(engine.neighbours(), (rank + distance + num_ranks) % num_ranks);
      if (slot == engine.neighbours().end()) return 0.0;
      const auto i = static_cast<std::size_t>(slot - engine.neighbours().begin());
      // With two ranks, the other rank is both before and after this one.
      return static_cast<double>(after.items[i] - before.items[i]) / cycles / (num_ranks == 2 ? 2 : 1);
    };
    std::array<double, 4> largest = {to(-1), to(1),
                                     static_cast<double>(after.messages - before.messages) / cycles, cycles};
    MPI_Allreduce(MPI_IN_PLACE, largest.data(), 4, MPI_DOUBLE, MPI_MAX, comm);
    const auto clusters = static_cast<double>(options_.clusters);
    result.items_left = largest[0];
    result.items_right = largest[1];
    result.messages = largest[2];
    result.cycles = largest[3] / clusters;
    result.checks = static_cast<double>(after.checks - before.checks) / clusters;
    result.transport = engine.transport();
  }

  // Times all cases once per repetition, so that noise affects all alike. Each case also runs once on one
  // rank.
  void time_all() {
    const auto clusters = static_cast<std::uint64_t>(options_.clusters);
    std::vector<double> sequential;
    std::vector<std::vector<double>> seconds(cases_.size());
    using Key = std::tuple<std::string, irregular::Sync>;
    std::map<Key, std::vector<double>> own;
    for (const Case& way : cases_) report_.results.push_back(describe(way));
    for (int rep = 0; rep < options_.reps; ++rep) {
      Outcome expected;
      mpi::on_rank_0(MPI_COMM_WORLD, [&] { expected = alone(clusters, true); });
      MPI_Bcast(&expected, sizeof expected, MPI_BYTE, 0, MPI_COMM_WORLD);
      sequential.push_back(expected.seconds);
      report_.mean_cluster = static_cast<double>(expected.flipped) / static_cast<double>(clusters);
      for (std::size_t c = 0; c < cases_.size(); ++c) {
        const Case& way = cases_[c];
        const Outcome outcome = together(MPI_COMM_WORLD, way, stripes(way.width), &report_.results[c]);
        seconds[c].push_back(outcome.seconds);
        report_.results[c].same &=
            outcome.fingerprint == expected.fingerprint && outcome.flipped == expected.flipped;
        std::vector<double>& of_one = own[Key(way.way.word, way.way.scheme.sync)];
        if (of_one.size() == static_cast<std::size_t>(rep) + 1) continue;
        double one = outcome.seconds;
        if (mpi::world_size() > 1)
          mpi::on_rank_0(MPI_COMM_WORLD, [&] {
            const irregular::Stripes all(options_.size, options_.size, 1);
            one = together(MPI_COMM_SELF, way, all, nullptr).seconds;
          });
        of_one.push_back(one);
      }
    }
    report_.sequential_seconds = kit::median(sequential) / static_cast<double>(clusters);
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      report_.results[c].seconds = kit::median(seconds[c]) / static_cast<double>(clusters);
      report_.results[c].alone_seconds =
          kit::median(own[Key(cases_[c].way.word, cases_[c].way.scheme.sync)]) /
          static_cast<double>(clusters);
    }
  }

  static Result describe(const Case& way) {
    Result result;
    result.scheme = way.way.word;
    if (irregular::find_scheme(way.way.word).active_messages)
      result.sync = irregular::name_of(way.way.scheme.sync);
    result.width = way.width;
    result.delta = way.way.delta;
    result.grain = way.way.grain;
    return result;
  }

  void time_items() {
    if (mpi::world_size() == 1) return;
    const std::vector<Rank> neighbours = stripes(1).neighbours(mpi::world_rank(), true);
    for (const std::string& scheme : options_.schemes) {
      if (!scheme.starts_with("AM-") && !scheme.starts_with("ST-")) continue;
      irregular::SchemeOptions options = options_.scheme;
      options.name = scheme;
      options.sync = irregular::Sync::local;
      report_.item_costs.emplace_back(scheme,
                                      mpi::max_over_ranks(item_seconds(MPI_COMM_WORLD, options, neighbours)));
    }
  }

  // Prints a line of digits per row: 1 for spin up, plus 2 if the site was in the last cluster.
  void draw() {
    mpi::on_rank_0(MPI_COMM_WORLD, [&] {
      Lattice lattice(irregular::Stripes(options_.size, options_.size, 1), 0, {});
      Sequential sequential(lattice, bonds_);
      lattice.load(start_.spins);
      std::uint64_t cluster = start_.cluster;  // a cluster that is large enough to be seen
      std::vector<Spin> before = start_.spins;
      std::vector<Spin> after = before;
      const double large = std::min(0.1 * num_sites(), start_.mean_cluster);
      for (std::int64_t flipped = 0; static_cast<double>(flipped) < large;) {
        std::swap(before, after);
        flipped = sequential.flip(cluster++);
        lattice.store(after);
      }
      const auto n = static_cast<std::size_t>(options_.size);
      std::vector<std::string> rows(n, std::string(n, '0'));
      for (std::size_t site = 0; site < after.size(); ++site)
        rows[site % n][site / n] =
            static_cast<char>('0' + (after[site] & 1) + (after[site] != before[site] ? 2 : 0));
      kit::write_file(
          options_.picture,
          kit::line({{"picture", "nuice-wolff"}, {"size", n}, {"beta", options_.beta}, {"rows", rows}}));
    });
  }

  // Only rank 0 has the findings, but all ranks exit with the same code.
  void share_verdict() {
    int right = report_.right() ? 1 : 0;
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (mpi::world_rank() != 0) {
      report_.findings.clear();
      if (right == 0) report_.findings.push_back({"rank 0", 0, 0, 0, INFINITY});
    }
  }

  Options& options_;
  std::vector<Case> cases_;
  Bonds bonds_;
  State start_;
  Report report_;
};

}  // namespace
}  // namespace nuice::wolff

int main(int argc, char** argv) {
  nuice::wolff::Options options;
  nuice::kit::App app{
      "Grows Wolff clusters on a periodic Ising lattice that is dealt to the ranks in stripes of columns. "
      "Every scheme\n"
      "flips exactly the sites that the sequential program flips.",
      "nuice-wolff"};
  nuice::wolff::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] {
    const nuice::wolff::Report report = nuice::wolff::Program(options).run();
    nuice::kit::print(options.json ? to_json(report) : to_text(report));
    return report.right() ? nuice::kit::success : nuice::kit::failure;
  });
}
