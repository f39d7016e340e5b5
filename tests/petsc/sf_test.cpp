// SPDX-License-Identifier: BSD-3-Clause
// The PetscSF type nuice compared with basic, bit for bit, on random graphs: every unit and operation, both
// ways, several active, duplicates, what is left to basic, and what is wrong. tests/petsc/test_petsc.py
// starts it with all kinds of options.
//
//   mpiexec -n N petsc_sf_test -dll_append PATH/libnuice_petsc.so [-sf_nuice_scheduler coloring ...]
//     [-seeds 3] [-rank_1_late SECONDS] [-trials 160] [-slow_basic SECONDS]
//
// -trials: only forests that are used so often, 40 times for trials that are clear, 160 until basic stands in
// the table of functions.
// -slow_basic: basic takes so much longer.
// Prints one line for each case that failed, "all right" otherwise; the exit code is
// the number of failed cases, up to 99.
#include <petsc/private/sfimpl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "forests.hpp"

namespace {

/// Every unit, operation and direction, twice each.
PetscErrorCode compare_all(PetscSF ours, PetscSF basic, const Graph& graph, const std::string& name) {
  PetscFunctionBegin;
  for (const Unit& unit : units())
    for (const Operation& operation : unit.operations)
      for (const bool reduces : {false, true})
        for (unsigned round = 0; round < 2; ++round) {
          Data mine(graph, unit, round), theirs(graph, unit, round);
          PetscCall(begin(ours, unit, mine, operation.op, reduces));
          PetscCall(end(ours, unit, mine, operation.op, reduces));
          PetscCall(begin(basic, unit, theirs, operation.op, reduces));
          PetscCall(end(basic, unit, theirs, operation.op, reduces));
          PetscCall(expect(mine == theirs, name + ", " + unit.name + ", " + operation.name +
                                               (reduces ? ", reduce" : ", bcast")));
        }
  PetscFunctionReturn(0);
}

/// Three broadcasts and two reductions at once, with different units, ended in another order than begun.
PetscErrorCode compare_several(PetscSF ours, PetscSF basic, const Graph& graph, const std::string& name) {
  PetscFunctionBegin;
  const std::vector<Unit> all = units();
  struct One {
    const Unit* unit;
    bool reduces;
  };
  const std::vector<One> several = {
      {&all[0], false}, {&all[0], true}, {&all[4], false}, {&all[0], false}, {&all[1], true}};
  for (unsigned round = 0; round < 3; ++round) {
    std::vector<Data> mine, theirs;
    for (const One& one : several) mine.emplace_back(graph, *one.unit, round), theirs.push_back(mine.back());
    for (auto [sf, data] : {std::pair{ours, &mine}, std::pair{basic, &theirs}}) {
      for (std::size_t i = 0; i < several.size(); ++i)
        PetscCall(begin(sf, *several[i].unit, (*data)[i], MPI_SUM, several[i].reduces));
      for (const std::size_t i : {2U, 0U, 4U, 1U, 3U})
        PetscCall(end(sf, *several[i].unit, (*data)[i], MPI_SUM, several[i].reduces));
    }
    PetscCall(expect(mine == theirs, name + ", several active"));
  }
  PetscFunctionReturn(0);
}

/// Fetch-and-op, gather and scatter, degrees, embedded forests: basic does them, on the same forest.
PetscErrorCode compare_others(PetscSF ours, PetscSF basic, const Graph& graph, const std::string& name) {
  const PetscInt *mine = nullptr, *theirs = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(ours, &mine));
  PetscCall(PetscSFComputeDegreeEnd(ours, &mine));
  PetscCall(PetscSFComputeDegreeBegin(basic, &theirs));
  PetscCall(PetscSFComputeDegreeEnd(basic, &theirs));
  PetscCall(expect(std::equal(mine, mine + graph.num_roots, theirs), name + ", degrees"));
  PetscInt total = 0;
  for (PetscInt i = 0; i < graph.num_roots; ++i) total += mine[i];

  std::vector<PetscInt> counters[2], updates[2], gathered[2], fetched[2], embedded[2];
  std::vector<PetscInt> ones(static_cast<std::size_t>(graph.num_entries), 1), selected;
  for (PetscInt i = 0; i < graph.num_roots; i += 3) selected.push_back(i);
  for (int k = 0; k < 2; ++k) {
    const PetscSF sf = k == 0 ? ours : basic;
    counters[k].assign(static_cast<std::size_t>(graph.num_roots), 5);
    updates[k].assign(static_cast<std::size_t>(graph.num_entries), -1);
    gathered[k].assign(static_cast<std::size_t>(total), -1);
    embedded[k].assign(static_cast<std::size_t>(graph.num_entries), -1);
    for (PetscInt i = 0; i < graph.num_entries; ++i) ones[static_cast<std::size_t>(i)] = i;
    PetscCall(
        PetscSFFetchAndOpBegin(sf, MPIU_INT, counters[k].data(), ones.data(), updates[k].data(), MPI_SUM));
    PetscCall(
        PetscSFFetchAndOpEnd(sf, MPIU_INT, counters[k].data(), ones.data(), updates[k].data(), MPI_SUM));
    PetscCall(PetscSFGatherBegin(sf, MPIU_INT, ones.data(), gathered[k].data()));
    PetscCall(PetscSFGatherEnd(sf, MPIU_INT, ones.data(), gathered[k].data()));
    PetscSF part;
    PetscCall(
        PetscSFCreateEmbeddedRootSF(sf, static_cast<PetscInt>(selected.size()), selected.data(), &part));
    PetscCall(PetscSFBcastBegin(part, MPIU_INT, counters[k].data(), embedded[k].data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(part, MPIU_INT, counters[k].data(), embedded[k].data(), MPI_REPLACE));
    PetscCall(PetscSFDestroy(&part));
  }
  PetscCall(expect(counters[0] == counters[1] && updates[0] == updates[1], name + ", fetch and add"));
  PetscCall(expect(gathered[0] == gathered[1], name + ", gather"));
  PetscCall(expect(embedded[0] == embedded[1], name + ", embedded forest"));
  PetscFunctionReturn(0);
}

/// A duplicate used together with its original, and after the original is gone; a forest that gets another
/// graph.
PetscErrorCode compare_lives(const Graph& graph, const Graph& other, const std::string& name) {
  PetscSF ours, basic, copy, empty;

  PetscFunctionBegin;
  PetscCall(make(graph, "nuice", &ours));
  PetscCall(make(graph, "basic", &basic));
  PetscCall(PetscSFDuplicate(ours, PETSCSF_DUPLICATE_GRAPH, &copy));
  PetscCall(PetscSFDuplicate(ours, PETSCSF_DUPLICATE_CONFONLY, &empty));
  PetscSFType type;
  PetscCall(PetscSFGetType(copy, &type));
  PetscCall(expect(std::strcmp(type, "nuice") == 0, name + ", type of a duplicate"));
  const Unit unit = units()[0];
  Data first(graph, unit, 1), second(graph, unit, 2), right_first = first, right_second = second;
  PetscCall(begin(ours, unit, first, MPI_SUM, true));
  PetscCall(begin(copy, unit, second, MPI_SUM, true));
  PetscCall(end(ours, unit, first, MPI_SUM, true));
  PetscCall(end(copy, unit, second, MPI_SUM, true));
  for (Data* data : {&right_first, &right_second}) {
    PetscCall(begin(basic, unit, *data, MPI_SUM, true));
    PetscCall(end(basic, unit, *data, MPI_SUM, true));
  }
  PetscCall(expect(first == right_first && second == right_second, name + ", duplicate"));
  PetscCall(PetscSFDestroy(&ours));
  PetscCall(compare_all(copy, basic, graph, name + ", duplicate without its original"));
  PetscCall(PetscSFDestroy(&copy));
  PetscCall(PetscSFDestroy(&basic));
  PetscCall(make(other, "basic", &basic));
  PetscCall(PetscSFSetGraph(empty, other.num_roots, static_cast<PetscInt>(other.roots.size()),
                            other.places.empty() ? nullptr : const_cast<PetscInt*>(other.places.data()),
                            PETSC_COPY_VALUES, const_cast<PetscSFNode*>(other.roots.data()),
                            PETSC_COPY_VALUES));
  PetscCall(compare_all(empty, basic, other, name + ", duplicate with another graph"));
  PetscCall(PetscSFSetType(empty, "basic"));  // and away from nuice
  PetscCall(PetscSFDestroy(&empty));
  PetscCall(PetscSFDestroy(&basic));
  PetscFunctionReturn(0);
}

/// The second exchange of a forest waits for rank 1, which comes that number of seconds late.
PetscErrorCode wait_for_rank_1(PetscReal seconds) {
  const Graph graph(Kind::halo, 1);
  const Unit unit = units()[0];
  Data data(graph, unit, 1);
  PetscMPIInt rank;
  PetscSF sf;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(make(graph, "nuice", &sf));
  for (int i = 0; i < 2; ++i) {
    if (i == 1 && rank == 1) PetscCall(PetscSleep(seconds));
    PetscCall(begin(sf, unit, data, MPI_SUM, false));
    PetscCall(end(sf, unit, data, MPI_SUM, false));
  }
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(0);
}

const char* reference = PETSCSFBASIC;

/// A forest and its duplicate, in both directions, one or two active.
PetscErrorCode compare_many(const Graph& graph, PetscInt rounds, const std::string& name) {
  PetscSF ours, basic, copy;

  PetscFunctionBegin;
  PetscCall(make(graph, "nuice", &ours));
  PetscCall(make(graph, reference, &basic));
  PetscCall(PetscSFDuplicate(ours, PETSCSF_DUPLICATE_GRAPH, &copy));
  const Unit unit = units()[0];
  for (unsigned round = 0; round < static_cast<unsigned>(rounds); ++round)
    for (const bool reduces : {false, true}) {
      std::vector<Data> mine, theirs;
      for (unsigned k = 0; k <= round % 2; ++k) {
        mine.emplace_back(graph, unit, 2 * round + k);
        theirs.push_back(mine.back());
      }
      for (std::size_t k = 0; k < mine.size(); ++k)
        PetscCall(begin(k == 0 ? ours : copy, unit, mine[k], MPI_SUM, reduces));
      for (std::size_t k = mine.size(); k-- > 0;)
        PetscCall(end(k == 0 ? ours : copy, unit, mine[k], MPI_SUM, reduces));
      for (Data& data : theirs) {
        PetscCall(begin(basic, unit, data, MPI_SUM, reduces));
        PetscCall(end(basic, unit, data, MPI_SUM, reduces));
      }
      PetscCall(expect(mine == theirs, name + ", exchange " + std::to_string(round)));
    }
  // What comes later than all of these goes by whatever is in the forest's
  // table by now, units of other sizes too.
  PetscCall(compare_several(ours, basic, graph, name + ", after trials"));
  PetscCall(compare_several(copy, basic, graph, name + ", duplicate, after trials"));
  for (PetscSF* sf : {&ours, &copy, &basic}) PetscCall(PetscSFDestroy(sf));
  PetscFunctionReturn(0);
}

PetscReal slow_s = 0;
PetscErrorCode (*create_basic)(PetscSF) = nullptr;
_PetscSFOps quick;

PetscErrorCode slow_bcast_end(PetscSF sf, MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op) {
  PetscFunctionBegin;
  PetscCall(PetscSleep(slow_s));
  PetscCall(quick.BcastEnd(sf, unit, roots, leaves, op));
  PetscFunctionReturn(0);
}

PetscErrorCode slow_reduce_end(PetscSF sf, MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op) {
  PetscFunctionBegin;
  PetscCall(PetscSleep(slow_s));
  PetscCall(quick.ReduceEnd(sf, unit, leaves, roots, op));
  PetscFunctionReturn(0);
}

/// Basic, which between ranks takes longer.
PetscErrorCode create_slow_basic(PetscSF sf) {
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(create_basic(sf));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(sf)), &size));
  if (size == 1) PetscFunctionReturn(0);
  quick = *sf->ops;
  sf->ops->BcastEnd = slow_bcast_end;
  sf->ops->ReduceEnd = slow_reduce_end;
  PetscFunctionReturn(0);
}

PetscErrorCode make_basic_slow() {
  PetscSF any;  // the first forest fills PETSc's table of types

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &any));
  PetscCall(PetscSFDestroy(&any));
  PetscCall(PetscFunctionListFind(PetscSFList, PETSCSFBASIC, &create_basic));
  reference = "quick";
  PetscCall(PetscSFRegister(reference, create_basic));
  PetscCall(PetscSFRegister(PETSCSFBASIC, create_slow_basic));
  PetscFunctionReturn(0);
}

PetscErrorCode run() {
  const std::vector<std::pair<Kind, std::string>> kinds = {{Kind::scattered, "scattered"},
                                                           {Kind::contiguous, "contiguous"},
                                                           {Kind::halo, "halo"},
                                                           {Kind::sparse, "with ranks without neighbours"}};
  PetscInt seeds = 1;
  PetscReal late_s = 0;
  PetscInt trials = 0;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-slow_basic", &slow_s, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-trials", &trials, nullptr));
  if (slow_s > 0) PetscCall(make_basic_slow());
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-rank_1_late", &late_s, nullptr));
  if (late_s > 0) {
    PetscCall(wait_for_rank_1(late_s));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-seeds", &seeds, nullptr));
  for (PetscInt seed = 1; seed <= seeds; ++seed)
    for (const auto& [kind, name] : kinds) {
      const Graph graph(kind, static_cast<unsigned>(seed));
      PetscSF ours, basic;
      if (trials > 0) {
        PetscCall(compare_many(graph, trials, name));
        continue;
      }
      PetscCall(make(graph, "nuice", &ours));
      PetscCall(make(graph, "basic", &basic));
      PetscCall(compare_all(ours, basic, graph, name));
      PetscCall(compare_several(ours, basic, graph, name));
      PetscCall(compare_others(ours, basic, graph, name));
      PetscCall(PetscSFDestroy(&ours));
      PetscCall(PetscSFDestroy(&basic));
      PetscCall(compare_lives(graph, Graph(Kind::scattered, 99), name));
    }
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) { return report(argc, argv, run); }
