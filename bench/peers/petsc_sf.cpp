// SPDX-License-Identifier: BSD-3-Clause
// PetscSF on the pattern of a communication matrix, for bench/run.py peers and bench/run.py petsc_sf. Every
// message is a sequence of roots that become leaves at its receiver, by PetscSFBcast.
//
//   mpiexec -n N petsc_sf PATTERN REPS [TYPE ...]
//
// PATTERN has one line "src dst words" per message, sorted by src and dst; a word has 8 bytes. TYPE: types of
// PetscSF, basic if none is named. All types are timed alternately in REPS rounds; each timed exchange
// follows an untimed one of the same type. Short exchanges get more rounds, because the machine's load would
// hide their differences. Prints one JSON object per type: the median and 95th percentile of the seconds of
// an exchange, the median of its ratios to the first type's in the same round, and the additional time of
// setting up.
#include <petscsf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kit/timing.hpp"
#include "nuice/mpi/agree.hpp"
#include "petsc.hpp"

namespace {

constexpr int num_first = 4;  // exchanges that may include set-up
// Further exchanges. They suffice for windows to be set, and for type nuice to choose if the choice is clear.
constexpr int num_warm = 36;
constexpr int num_to_be_sure = 64;  // further exchanges if it is not, unless they take max_s
constexpr double max_s = 10;
constexpr int num_turns_short = 500;  // likewise

/// Returns the value of a word of a message, which identifies sender and position.
double word(int src, PetscInt at) { return 1e7 * src + static_cast<double>(at); }

struct Graph {
  PetscInt num_roots = 0;  // words that this rank sends, by destination
  std::vector<PetscSFNode> leaves;

  explicit Graph(const char* path) {
    std::ifstream in(path);
    const int rank = nuice::mpi::world_rank();
    int src, dst, last = -1;
    PetscInt words, at = 0;
    while (in >> src >> dst >> words) {
      if (src != last) at = 0;
      last = src;
      for (PetscInt i = 0; dst == rank && i < words; ++i) leaves.push_back({src, at + i});
      at += words;
      if (src == rank) num_roots = at;
    }
  }
};

class Forest {
 public:
  Forest(const Graph& graph, const std::string& type) : type_(type), graph_(graph) {
    const double begin_s = MPI_Wtime();
    must(PetscSFCreate(PETSC_COMM_WORLD, &forest_));
    must(PetscSFSetFromOptions(forest_));
    must(PetscSFSetType(forest_, type.c_str()));
    must(PetscSFSetGraph(forest_, graph.num_roots, static_cast<PetscInt>(graph.leaves.size()), nullptr,
                         PETSC_COPY_VALUES, const_cast<PetscSFNode*>(graph.leaves.data()),
                         PETSC_COPY_VALUES));
    must(PetscSFSetUp(forest_));
    for (PetscInt i = 0; i < graph.num_roots; ++i) roots_.push_back(word(nuice::mpi::world_rank(), i));
    leaves_.assign(graph.leaves.size(), -1);
    for (int i = 0; i < num_first; ++i) exchange();
    set_up_s_ = nuice::mpi::max_over_ranks(MPI_Wtime() - begin_s);
    const double warm_s = nuice::kit::time_batch([this] { exchange(); }, num_warm);
    for (int i = 0; i < num_to_be_sure && num_to_be_sure * warm_s < max_s; ++i) exchange();
  }
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;
  ~Forest() { must(PetscSFDestroy(&forest_)); }

  void exchange() {
    must(PetscSFBcastBegin(forest_, MPI_DOUBLE, roots_.data(), leaves_.data(), MPI_REPLACE));
    must(PetscSFBcastEnd(forest_, MPI_DOUBLE, roots_.data(), leaves_.data(), MPI_REPLACE));
  }

  /// Times this many exchanges, and stores their mean on the slowest rank.
  void time(int batch) {
    exchange();
    seconds_.push_back(nuice::kit::time_batch([this] { exchange(); }, batch));
  }

  /// Returns the number of exchanges that take about a millisecond. Several short exchanges are timed
  /// together, because a single one would mainly show the machine's load.
  int batch() {
    const double one_s = nuice::kit::time_batch([this] { exchange(); }, 5);
    return one_s > 30e-3 ? 1 : std::clamp(static_cast<int>(1e-3 / one_s), 4, 1000);
  }

  void print(const Forest& first) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < seconds_.size(); ++i) ratios.push_back(seconds_[i] / first.seconds_[i]);
    const double median_s = nuice::kit::median(seconds_);
    bool right = true;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      right = right && leaves_[i] == word(static_cast<int>(graph_.leaves[i].rank), graph_.leaves[i].index);
    const bool all_right = nuice::mpi::max_over_ranks(right ? 0 : 1) == 0;
    must(PetscPrintf(PETSC_COMM_WORLD,
                     "{\"type\": \"%s\", \"exchange_seconds_median\": %.9g, \"exchange_seconds_p95\": %.9g, "
                     "\"ratio_to_first\": %.9g, \"set_up_seconds\": %.9g, \"verified\": %s}\n",
                     type_.c_str(), median_s, nuice::kit::percentile(seconds_, 95),
                     nuice::kit::median(ratios), std::max(0.0, set_up_s_ - num_first * median_s),
                     all_right ? "true" : "false"));
  }

 private:
  std::string type_;
  const Graph& graph_;
  PetscSF forest_ = nullptr;
  std::vector<double> roots_, leaves_, seconds_;
  double set_up_s_ = 0;
};

/// Sends a message between all ranks. MPI connects ranks at their first message, and connecting is not part
/// of a type's set-up.
void connect() {
  const auto size = static_cast<std::size_t>(nuice::mpi::world_size());
  std::vector<double> from(size * 1024), to(size * 1024);
  MPI_Alltoall(from.data(), 1024, MPI_DOUBLE, to.data(), 1024, MPI_DOUBLE, MPI_COMM_WORLD);
}

void run(int argc, char** argv) {
  const Graph graph(argv[1]);
  const int reps = std::atoi(argv[2]);
  std::vector<std::string> types(argv + 3, argv + argc);
  if (types.empty()) types = {"basic"};
  for (int i = 0; i < 2; ++i) connect();
  std::vector<std::unique_ptr<Forest>> forests;
  for (const std::string& type : types) forests.push_back(std::make_unique<Forest>(graph, type));
  int batch = 1;  // the same for all types
  for (const auto& forest : forests) batch = std::max(batch, forest->batch());
  const auto turn = [&](int, std::size_t i) { forests[i]->time(batch); };
  const double begin_s = MPI_Wtime();
  nuice::kit::in_turns(reps, forests.size(), turn);
  const double turn_s = nuice::mpi::max_over_ranks(MPI_Wtime() - begin_s) / reps;
  const int more = std::min(num_turns_short, static_cast<int>(max_s / turn_s)) - reps;
  nuice::kit::in_turns(more, forests.size(), turn);
  for (const auto& forest : forests) forest->print(*forests.front());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  PetscCall(PetscInitializeNoArguments());
  run(argc, argv);
  PetscCall(PetscFinalize());
  MPI_Finalize();
  return 0;
}
