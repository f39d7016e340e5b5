// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the type exchange, and how they report: units and their operations, random graphs, and
// the memory of a broadcast or a reduction.
#pragma once

#include <petsc/private/sfimpl.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using Bytes = std::vector<unsigned char>;

struct Operation {
  const char* name;
  MPI_Op op;
};
struct Unit {
  const char* name;
  MPI_Datatype type;
  std::vector<Operation> operations;
};

inline void add_to(void* in, void* inout, int* length, MPI_Datatype* type) {
  MPI_Aint low, extent;
  MPI_Type_get_extent(*type, &low, &extent);
  for (MPI_Aint i = 0; i < *length * extent / 8; ++i)  // not commutative, so that an order is right or wrong
    static_cast<double*>(inout)[i] = 0.5 * static_cast<double*>(inout)[i] + static_cast<double*>(in)[i];
}

inline std::vector<Unit> units() {
  const std::vector<Operation> of_reals = {
      {"replace", MPI_REPLACE}, {"sum", MPI_SUM}, {"prod", MPI_PROD}, {"min", MPI_MIN}, {"max", MPI_MAX}};
  std::vector<Operation> of_ints = of_reals;
  for (const Operation& more :
       {Operation{"land", MPI_LAND}, Operation{"band", MPI_BAND}, Operation{"lor", MPI_LOR},
        Operation{"bor", MPI_BOR}, Operation{"lxor", MPI_LXOR}, Operation{"bxor", MPI_BXOR}})
    of_ints.push_back(more);
  MPI_Datatype three_doubles, five_ints, seventeen_bytes;
  MPI_Type_contiguous(3, MPI_DOUBLE, &three_doubles);
  MPI_Type_contiguous(5, MPI_INT, &five_ints);
  MPI_Type_contiguous(17, MPI_BYTE, &seventeen_bytes);
  MPI_Op own;
  MPI_Op_create(add_to, 0, &own);
  std::vector<Operation> of_blocks = of_reals;
  std::vector<Unit> all = {
      {"double", MPI_DOUBLE, of_reals},
      {"int", MPI_INT, of_ints},
      {"signed char", MPI_SIGNED_CHAR, of_ints},
      {"pair of ints", MPI_2INT, {{"replace", MPI_REPLACE}, {"minloc", MPI_MINLOC}, {"maxloc", MPI_MAXLOC}}},
      {"three doubles", three_doubles, of_blocks},
      {"five ints", five_ints, of_ints},
      {"seventeen bytes", seventeen_bytes, {{"replace", MPI_REPLACE}}},
      {"double, own operation", MPI_DOUBLE, {{"own", own}}},
  };
  for (Unit& unit : all) MPI_Type_commit(&unit.type);
  return all;
}

/// Values that operations leave finite and different: halves for reals are whole numbers for everything else.
inline void fill(const Unit& unit, Bytes& data, std::mt19937& random) {
  const bool is_real = std::strstr(unit.name, "double") != nullptr;
  if (is_real) {
    for (std::size_t i = 0; i + 8 <= data.size(); i += 8) {
      const double value = 0.1 + static_cast<double>(random() % 1000) / 977.0;
      std::memcpy(&data[i], &value, 8);
    }
  } else {
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(random() % 128);
  }
}

enum class Kind { scattered, contiguous, halo, sparse };

/// A graph of a kind, known to its own rank only; every third rank of a
/// sparse one has neither roots nor leaves.
struct Graph {
  PetscInt num_roots = 0, num_entries = 0;
  std::vector<PetscInt> places;  // empty: 0, 1, 2 ...
  std::vector<PetscSFNode> roots;

  Graph(Kind kind, unsigned seed) {
    PetscMPIInt rank, size;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    std::mt19937 random(seed * 1000 + static_cast<unsigned>(rank));
    const auto is_empty = [&](int r) { return kind == Kind::sparse && r % 3 == 1; };
    num_roots = is_empty(rank) ? 0 : 40;
    const int num_leaves = is_empty(rank) ? 0 : static_cast<int>(20 + random() % 60);
    for (int i = 0; i < num_leaves; ++i) {
      int owner = static_cast<int>(random() % static_cast<unsigned>(size));
      if (kind == Kind::halo) owner = (rank + (i % 2 == 0 ? 1 : size - 1)) % size;
      if (is_empty(owner)) owner = rank;
      const auto index = static_cast<PetscInt>(kind == Kind::contiguous ? i % 40 : random() % 40);
      roots.push_back({owner, index});
      if (kind == Kind::scattered || kind == Kind::sparse)
        places.push_back(3 * i + static_cast<PetscInt>(random() % 3));
    }
    num_entries = places.empty() ? num_leaves : places.back() + 1;
  }
};

inline PetscErrorCode make(const Graph& graph, const char* type, PetscSF* sf) {
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, sf));
  PetscCall(PetscSFSetType(*sf, type));
  PetscCall(PetscSFSetFromOptions(*sf));
  PetscCall(PetscSFSetGraph(*sf, graph.num_roots, static_cast<PetscInt>(graph.roots.size()),
                            graph.places.empty() ? nullptr : const_cast<PetscInt*>(graph.places.data()),
                            PETSC_COPY_VALUES, const_cast<PetscSFNode*>(graph.roots.data()),
                            PETSC_COPY_VALUES));
  PetscFunctionReturn(0);
}

/// Memory of a broadcast or a reduction.
struct Data {
  Bytes roots, leaves;
  Data(const Graph& graph, const Unit& unit, unsigned seed) {
    PetscMPIInt rank;
    MPI_Aint low, extent;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Type_get_extent(unit.type, &low, &extent);
    roots.resize(static_cast<std::size_t>(graph.num_roots * extent));
    leaves.resize(static_cast<std::size_t>(graph.num_entries * extent));
    std::mt19937 random(seed * 77 + static_cast<unsigned>(rank));
    fill(unit, roots, random);
    fill(unit, leaves, random);
  }
  bool operator==(const Data&) const = default;
};

inline PetscErrorCode begin(PetscSF sf, const Unit& unit, Data& data, MPI_Op op, bool reduces) {
  PetscFunctionBegin;
  if (reduces)
    PetscCall(PetscSFReduceBegin(sf, unit.type, data.leaves.data(), data.roots.data(), op));
  else
    PetscCall(PetscSFBcastBegin(sf, unit.type, data.roots.data(), data.leaves.data(), op));
  PetscFunctionReturn(0);
}

inline PetscErrorCode end(PetscSF sf, const Unit& unit, Data& data, MPI_Op op, bool reduces) {
  PetscFunctionBegin;
  if (reduces)
    PetscCall(PetscSFReduceEnd(sf, unit.type, data.leaves.data(), data.roots.data(), op));
  else
    PetscCall(PetscSFBcastEnd(sf, unit.type, data.roots.data(), data.leaves.data(), op));
  PetscFunctionReturn(0);
}

inline int failed = 0;

/// All ranks agree that a case is right, or the first says that it is not.
inline PetscErrorCode expect(bool is_right, const std::string& what) {
  PetscFunctionBegin;
  int wrong = is_right ? 0 : 1, all = 0;
  PetscCallMPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (all > 0) {
    ++failed;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "WRONG on %d ranks: %s\n", all, what.c_str()));
  }
  PetscFunctionReturn(0);
}

/// The whole program. The exit code is the number of cases that failed, up to 99.
inline int report(int argc, char** argv, PetscErrorCode (*run)()) {
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(run());
  if (failed == 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all right\n"));
  PetscCall(PetscFinalize());
  return std::min(failed, 99);
}
