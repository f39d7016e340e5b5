// SPDX-License-Identifier: BSD-3-Clause
// The operations of the type. sf->data belongs to basic: VecScatter, embedded forests and fetch-and-op read it.
#include "petsc/type.hpp"

#include <algorithm>

#include "petsc/status.hpp"

namespace nuice::petsc {
namespace {

constexpr const char* state_name = "nuice_state";

PetscObject object(PetscSF sf) { return reinterpret_cast<PetscObject>(sf); }

/// Collective over comm, and kept with it, as all forests of a program share few communicators.
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

/// Nothing of ours is under way, and nothing will be: PETSc calls basic from here on.
void leave_to_basic(PetscSF sf, const TypeState& state, nuice_direction direction) {
  if (direction == NUICE_FORWARDS) {
    sf->ops->BcastBegin = state.basic.BcastBegin;
    sf->ops->BcastEnd = state.basic.BcastEnd;
  } else {
    sf->ops->ReduceBegin = state.basic.ReduceBegin;
    sf->ops->ReduceEnd = state.basic.ReduceEnd;
  }
}

PetscErrorCode next_turn(PetscSF sf, TypeState& state, MPI_Datatype unit, nuice_direction direction,
                         Turn* turn) {
  MPI_Aint low = 0, extent = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_get_extent(unit, &low, &extent));
  PetscCall(without_exceptions(
      [&] { return state.forest->next_turn(sf, state.options, extent, direction, turn); }));
  if (turn->lane != nullptr) turn->lane->is_busy = true;
  if (state.under_way.empty() && state.forest->is_basics(direction)) leave_to_basic(sf, state, direction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode start(const Forest& forest, const Turn& turn) {
  PetscFunctionBegin;
  PetscCallNuice(PETSC_COMM_SELF, nuice_exchange_start(turn.lane->exchange));
  forest.log_messages(*turn.route);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An exchange has begun; one that End needs to know nothing of is basic's alone.
PetscErrorCode has_begun(TypeState& state, MPI_Datatype unit, const void* root_data, const void* leaf_data,
                         const Turn& turn, double begin_s) {
  PetscFunctionBegin;
  if (turn.lane == nullptr && !turn.is_timed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(without_exceptions([&] {
    state.under_way.push_back({unit, root_data, leaf_data, turn, now_s(turn) - begin_s});
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The exchange that ends, with nothing in it where it is basic's alone.
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

bool on_device(PetscMemType a, PetscMemType b) { return !PetscMemTypeHost(a) || !PetscMemTypeHost(b); }

PetscErrorCode bcast_begin(PetscSF sf, MPI_Datatype unit, PetscMemType root_memory, const void* root_data,
                           PetscMemType leaf_memory, void* leaf_data, MPI_Op op) {
  TypeState* state = nullptr;
  Turn turn;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  if (!on_device(root_memory, leaf_memory)) PetscCall(next_turn(sf, *state, unit, NUICE_FORWARDS, &turn));
  const double begin_s = now_s(turn);
  if (turn.lane == nullptr) {
    PetscCall(state->basic.BcastBegin(sf, unit, root_memory, root_data, leaf_memory, leaf_data, op));
  } else {
    const Forest& forest = *state->forest;
    PetscCall(forest.at_roots().out_of(unit, root_data, turn.lane->at_roots.data()));
    PetscCall(start(forest, turn));
    PetscCall(forest.within().out_of(unit, root_data, leaf_data, op));
  }
  PetscCall(has_begun(*state, unit, root_data, leaf_data, turn, begin_s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bcast_end(PetscSF sf, MPI_Datatype unit, const void* root_data, void* leaf_data, MPI_Op op) {
  TypeState* state = nullptr;
  UnderWay exchange;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(take(*state, unit, root_data, leaf_data, &exchange));
  const double begin_s = now_s(exchange.turn);
  if (Lane* const lane = exchange.turn.lane; lane == nullptr) {
    PetscCall(state->basic.BcastEnd(sf, unit, root_data, leaf_data, op));
  } else {
    PetscCallNuice(PETSC_COMM_SELF, nuice_exchange_wait(lane->exchange));
    PetscCall(state->forest->at_leaves().into(unit, lane->at_leaves.data(), leaf_data, op));
  }
  PetscCall(has_ended(sf, exchange, begin_s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reduce_begin(PetscSF sf, MPI_Datatype unit, PetscMemType leaf_memory, const void* leaf_data,
                            PetscMemType root_memory, void* root_data, MPI_Op op) {
  TypeState* state = nullptr;
  Turn turn;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  if (!on_device(root_memory, leaf_memory)) PetscCall(next_turn(sf, *state, unit, NUICE_BACKWARDS, &turn));
  const double begin_s = now_s(turn);
  if (turn.lane == nullptr) {
    PetscCall(state->basic.ReduceBegin(sf, unit, leaf_memory, leaf_data, root_memory, root_data, op));
  } else {
    const Forest& forest = *state->forest;
    PetscCall(forest.at_leaves().out_of(unit, leaf_data, turn.lane->at_leaves.data()));
    PetscCall(start(forest, turn));
    PetscCall(forest.within().into(unit, leaf_data, root_data, op));
  }
  PetscCall(has_begun(*state, unit, root_data, leaf_data, turn, begin_s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reduce_end(PetscSF sf, MPI_Datatype unit, const void* leaf_data, void* root_data, MPI_Op op) {
  TypeState* state = nullptr;
  UnderWay exchange;

  PetscFunctionBegin;
  PetscCall(state_of(sf, &state));
  PetscCall(take(*state, unit, root_data, leaf_data, &exchange));
  const double begin_s = now_s(exchange.turn);
  if (Lane* const lane = exchange.turn.lane; lane == nullptr) {
    PetscCall(state->basic.ReduceEnd(sf, unit, leaf_data, root_data, op));
  } else {
    PetscCallNuice(PETSC_COMM_SELF, nuice_exchange_wait(lane->exchange));
    PetscCall(state->forest->at_roots().into(unit, lane->at_roots.data(), root_data, op));
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
  sf->ops->BcastBegin = plans ? bcast_begin : state->basic.BcastBegin;
  sf->ops->BcastEnd = plans ? bcast_end : state->basic.BcastEnd;
  sf->ops->ReduceBegin = plans ? reduce_begin : state->basic.ReduceBegin;
  sf->ops->ReduceEnd = plans ? reduce_end : state->basic.ReduceEnd;
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

/// What comes after the type, and the graph where there is one, are those of sf.
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
