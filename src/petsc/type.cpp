// SPDX-License-Identifier: BSD-3-Clause
// The operations of the type. sf->data belongs to basic, because VecScatter, embedded forests and
// fetch-and-op read it.
#include "petsc/type.hpp"

#include <algorithm>

#include "petsc/status.hpp"

namespace nuice::petsc {
namespace {

constexpr const char* state_name = "nuice_state";

PetscObject object(PetscSF sf) { return reinterpret_cast<PetscObject>(sf); }

/// Collective over comm. Returns whether all ranks share memory. The answer is kept with comm, because all
/// forests of a program share few communicators.
PetscErrorCode all_share_memory(MPI_Comm comm, bool* answer) {
  static int key = MPI_KEYVAL_INVALID;
  static char yes, no;
  void* known = nullptr;
  int is_known = 0, sizes[2] = {0, 0};

  PetscFunctionBegin;
  if (key == MPI_KEYVAL_INVALID)
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
  PetscCallMPI(MPI_Comm_get_attr(comm, key, &known, &is_known));
  if (is_known == 0) {
    MPI_Comm host = MPI_COMM_NULL;
    PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    PetscCallMPI(MPI_Comm_size(host, &sizes[0]));
    PetscCallMPI(MPI_Comm_size(comm, &sizes[1]));
    PetscCallMPI(MPI_Comm_free(&host));
    int all = sizes[0] == sizes[1] ? 1 : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
    known = all != 0 ? &yes : &no;
    PetscCallMPI(MPI_Comm_set_attr(comm, key, known));
  }
  *answer = known == &yes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

using UnderWay = TypeState::UnderWay;

double now_s(const Turn& turn) { return turn.is_timed ? MPI_Wtime() : 0; }

/// Makes PETSc call basic directly from now on. No exchange of NUICE may be active.
void leave_to_basic(PetscSF sf, const TypeState& state, nuice_direction direction) {
  if (direction == NUICE_FORWARDS) {
    sf->ops->BcastBegin = state.basic.BcastBegin;
    sf->ops->BcastEnd = state.basic.BcastEnd;
  } else {
    sf->ops->ReduceBegin = state.basic.ReduceBegin;
    sf->ops->ReduceEnd = state.basic.ReduceEnd;
  }
}

/// Checks that the data is in host memory, or on a device for which this PETSc can pack and allocate.
PetscErrorCode require_known(PetscSF sf, PetscMemType a, PetscMemType b) {
  PetscFunctionBegin;
  PetscCheck((PetscMemTypeHost(a) && PetscMemTypeHost(b)) || sf->ops->Malloc != nullptr, PETSC_COMM_SELF,
             PETSC_ERR_SUP,
             "data in a device's memory, and a PETSc that was built without CUDA, HIP or Kokkos");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode next_turn(PetscSF sf, TypeState& state, MPI_Datatype unit, Use use, Turn* turn) {
  MPI_Aint low = 0, extent = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_get_extent(unit, &low, &extent));
  PetscCall(without_exceptions(
      [&] { return use.unit_bytes = extent, state.forest->next_turn(sf, state.options, use, turn); }));
  if (turn->lane != nullptr) turn->lane->is_busy = true;
  if (state.under_way.empty() && state.forest->is_basics(use.direction))
    leave_to_basic(sf, state, use.direction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode start(const Forest& forest, const Turn& turn) {
  PetscFunctionBegin;
  PetscCallNuice(PETSC_COMM_SELF, nuice_exchange_start(turn.lane->exchange));
  forest.log_messages(*turn.route);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Records an exchange that has begun. If basic carries it out untimed, End needs no record.
PetscErrorCode has_begun(TypeState& state, const UnderWay& exchange, double begin_s) {
  const Turn& turn = exchange.turn;

  PetscFunctionBegin;
  if (turn.lane == nullptr && !turn.is_timed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(without_exceptions([&] {
    state.under_way.push_back(exchange);
    state.under_way.back().elapsed_s = now_s(turn) - begin_s;
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Removes and returns the record of the exchange that ends. The record is empty if basic alone carries out
/// the exchange.
PetscErrorCode take(TypeState& state, MPI_Datatype unit, const void* root_data, const void* leaf_data,
                    UnderWay* exchange) {
  PetscBool is_same = PETSC_FALSE;

  PetscFunctionBegin;
  *exchange = {};
  for (auto it = state.under_way.begin(); it != state.under_way.end(); ++it) {
    if (it->root_data != root_data || it->leaf_data != leaf_data) continue;
    PetscCall(MPIPetsc_Type_compare(unit, it->unit, &is_same));
    if (!is_same) continue;
    *exchange = *it;
    state.under_way.erase(it);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode has_ended(PetscSF sf, const UnderWay& exchange, double begin_s) {
  const Turn& turn = exchange.turn;

  PetscFunctionBegin;
  if (turn.lane != nullptr) turn.lane->is_busy = false;
  if (!turn.is_timed) PetscFunctionReturn(PETSC_SUCCESS);
  const Arm arm = turn.lane == nullptr ? basic_arm : plan_arm;
  PetscCall(without_exceptions([&] {
    return turn.route->add(PetscObjectComm(object(sf)), arm, exchange.elapsed_s + now_s(turn) - begin_s);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Begins a broadcast, from roots to leaves, or a reduction, from leaves to roots.
template <nuice_direction direction>
PetscErrorCode begin(PetscSF sf, MPI_Datatype unit, PetscMemType from_memory, const void* from,
                     PetscMemType to_memory, void* to, MPI_Op op) {
  constexpr bool to_leaves = direction == NUICE_FORWARDS;
  TypeState* state = nullptr;
  Turn turn;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(require_known(sf, from_memory, to_memory));
  const Use use{0, direction, to_leaves ? from_memory : to_memory, to_leaves ? to_memory : from_memory};
  PetscCall(next_turn(sf, *state, unit, use, &turn));
  const double begin_s = now_s(turn);
  if (Lane* const lane = turn.lane; lane == nullptr) {
    const auto by_basic = to_leaves ? state->basic.BcastBegin : state->basic.ReduceBegin;
    PetscCall(by_basic(sf, unit, from_memory, from, to_memory, to, op));
  } else {
    const Forest& forest = *state->forest;
    const Packing& packing = to_leaves ? forest.at_roots() : forest.at_leaves();
    const From data{from_memory, from};
    const To target{to_memory, to};
    PetscCall(packing.out_of(unit, data, (to_leaves ? lane->at_roots : lane->at_leaves).to()));
    PetscCall(start(forest, turn));
    PetscCall(to_leaves ? forest.within().out_of(unit, data, target, op)
                        : forest.within().into(unit, data, target, op));
  }
  PetscCall(
      has_begun(*state, {unit, to_leaves ? from : to, to_leaves ? to : from, to_memory, turn}, begin_s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <nuice_direction direction>
PetscErrorCode end(PetscSF sf, MPI_Datatype unit, const void* from, void* to, MPI_Op op) {
  constexpr bool to_leaves = direction == NUICE_FORWARDS;
  TypeState* state = nullptr;
  UnderWay exchange;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(take(*state, unit, to_leaves ? from : to, to_leaves ? to : from, &exchange));
  const double begin_s = now_s(exchange.turn);
  if (Lane* const lane = exchange.turn.lane; lane == nullptr) {
    PetscCall((to_leaves ? state->basic.BcastEnd : state->basic.ReduceEnd)(sf, unit, from, to, op));
  } else {
    const Packing& packing = to_leaves ? state->forest->at_leaves() : state->forest->at_roots();
    PetscCallNuice(PETSC_COMM_SELF, nuice_exchange_wait(lane->exchange));
    PetscCall(packing.into(unit, (to_leaves ? lane->at_leaves : lane->at_roots).from(),
                           {exchange.to_memory, to}, op));
  }
  PetscCall(has_ended(sf, exchange, begin_s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PetscSF sf) {
  TypeState* state = nullptr;
  PetscMPIInt size = 1;
  bool shares = false;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(state->basic.SetUp(sf));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(object(sf)), &size));
  if (size > 1 && !state->options.names_a_way())
    PetscCall(all_share_memory(PetscObjectComm(object(sf)), &shares));
  state->left_to_basic = size == 1 ? "there is one rank" : shares ? "all ranks share memory" : "";
  const bool plans = state->left_to_basic.empty();
  sf->ops->BcastBegin = plans ? begin<NUICE_FORWARDS> : state->basic.BcastBegin;
  sf->ops->BcastEnd = plans ? end<NUICE_FORWARDS> : state->basic.BcastEnd;
  sf->ops->ReduceBegin = plans ? begin<NUICE_BACKWARDS> : state->basic.ReduceBegin;
  sf->ops->ReduceEnd = plans ? end<NUICE_BACKWARDS> : state->basic.ReduceEnd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PetscSF sf) {
  TypeState* state = nullptr;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCheck(state->under_way.empty(), PetscObjectComm(object(sf)), PETSC_ERR_ARG_WRONGSTATE,
             "Outstanding operation has not been completed");
  PetscCall(view_from_options(sf, *state));
  PetscCall(without_exceptions([&] { return state->forest = std::make_shared<Forest>(), PETSC_SUCCESS; }));
  PetscCall(state->basic.Reset(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PetscSF sf) {
  TypeState* state = nullptr;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  const auto destroy_basic = state->basic.Destroy;
  PetscCall(PetscObjectCompose(object(sf), state_name, nullptr));
  delete state;
  PetscCall(destroy_basic(sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(PetscSF sf, PetscOptionItems* PetscOptionsObject) {
  TypeState* state = nullptr;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(state->options.read(PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copies the options, and shares the forest if the graph is duplicated.
PetscErrorCode duplicate(PetscSF sf, PetscSFDuplicateOption option, PetscSF copy) {
  TypeState *state = nullptr, *other = nullptr;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(state_of(copy, &other));
  PetscCall(without_exceptions([&] { return other->options = state->options, PETSC_SUCCESS; }));
  if (option == PETSCSF_DUPLICATE_GRAPH) other->forest = state->forest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PetscSF sf, PetscViewer viewer) {
  TypeState* state = nullptr;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(state->basic.View(sf, viewer));
  PetscCall(view_plans(sf, *state, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode state_of(PetscSF sf, TypeState** state) {
  PetscObject container = nullptr;
  void* held = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery(object(sf), state_name, &container));
  PetscCheck(container != nullptr, PetscObjectComm(object(sf)), PETSC_ERR_PLIB, "not of the type nuice");
  PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &held));
  *state = static_cast<TypeState*>(held);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(PetscSF sf) {
  PetscErrorCode (*create_basic)(PetscSF) = nullptr;
  PetscContainer container = nullptr;
  TypeState* state = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PetscSFList, PETSCSFBASIC, &create_basic));
  PetscCheck(create_basic != nullptr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "there is no PetscSF type basic");
  PetscCall(create_basic(sf));
  PetscCall(without_exceptions([&] { return state = new TypeState, PETSC_SUCCESS; }));
  state->basic = *sf->ops;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, state));
  PetscCall(PetscObjectCompose(object(sf), state_name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  sf->ops->SetUp = set_up;
  sf->ops->Reset = reset;
  sf->ops->Destroy = destroy;
  sf->ops->SetFromOptions = set_from_options;
  sf->ops->Duplicate = duplicate;
  sf->ops->View = view;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace nuice::petsc
