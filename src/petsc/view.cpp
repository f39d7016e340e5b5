// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cinttypes>
#include <cmath>

#include "petsc/status.hpp"
#include "petsc/type.hpp"

namespace nuice::petsc {
namespace {

PetscErrorCode view_plan(MPI_Comm comm, const UnitPlan& units, PetscViewer viewer) {
  const char* scheduler = nullptr;
  std::array<double, 4> values{};
  constexpr std::array names{"phases", "bound_phases", "phase_bytes", "bound_bytes"};

  PetscFunctionBegin;
  PetscCallNuice(comm, nuice_plan_text(units.plan, "scheduler", &scheduler));
  for (std::size_t i = 0; i < names.size(); ++i)
    PetscCallNuice(comm, nuice_plan_figure(units.plan, names[i], &values[i]));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "scheduler %s, executor %s: %.0f phases (least possible: %.0f), largest "
                                   "messages of all phases %.0f bytes (least possible: %.0f)\n",
                                   scheduler, units.executor.c_str(), values[0], values[1], values[2],
                                   values[3]));
  if (!units.why.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "why: %s\n", units.why.c_str()));
  if (!units.device.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "device: %s\n", units.device.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints which arms were tried, their times, and which arm is kept.
PetscErrorCode view_route(MPI_Comm comm, const Route& route, double set_up_s, PetscViewer viewer) {
  const exchange::Standings& known = route.contest.standings();
  const double plan_s = known.mean_s(plan_arm), basic_s = known.mean_s(basic_arm);
  std::array<char, 64> kept{"not decided"};
  const char* methods = "";

  PetscFunctionBegin;
  if (route.is_basics())
    PetscCall(PetscSNPrintf(kept.data(), kept.size(), "basic is kept"));
  else if (route.is_plans())
    PetscCall(PetscSNPrintf(kept.data(), kept.size(),
                            "the plan is kept; its set-up pays off after %.0f exchanges",
                            std::ceil(set_up_s / (basic_s - plan_s))));
  if (known.num_reports(basic_arm) > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "%s of %" PRId64 " bytes, timed in %d and %d rounds: basic %.4g ms, plan %.4g ms: %s\n",
        route.direction == NUICE_FORWARDS ? "broadcasts" : "reductions", route.unit_bytes,
        known.num_reports(basic_arm), known.num_reports(plan_arm), 1e3 * basic_s, 1e3 * plan_s, kept.data()));
  if (!route.lanes.empty())
    PetscCallNuice(comm, nuice_exchange_text(route.lanes.front()->exchange, "methods", &methods));
  if (*methods != '\0') PetscCall(PetscViewerASCIIPrintf(viewer, "the plan's executors: %s\n", methods));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char* words(UnitPlan::State state) {
  switch (state) {
    case UnitPlan::State::planned:
      return "planned";
    case UnitPlan::State::basics:
      return "by basic";
    case UnitPlan::State::counted:
      break;
  }
  return "by basic: not used often enough for a plan";
}

PetscErrorCode view_units(MPI_Comm comm, const UnitPlan& units, PetscViewer viewer) {
  double set_up_s = units.set_up_s;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "units of %" PRId64 " bytes, %" PetscInt_FMT " exchanges: %s\n",
                                   units.unit_bytes, units.uses, words(units.state)));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (units.state == UnitPlan::State::planned)
    PetscCall(view_plan(comm, units, viewer));
  else if (units.state == UnitPlan::State::basics)
    PetscCall(PetscViewerASCIIPrintf(viewer, "why: %s\n", units.why.c_str()));
  if (units.state != UnitPlan::State::counted) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &set_up_s, 1, MPI_DOUBLE, MPI_MAX, comm));
    PetscCall(PetscViewerASCIIPrintf(viewer, "set up in %.3f ms\n", 1e3 * set_up_s));
    for (const auto& route : units.routes) PetscCall(view_route(comm, *route, set_up_s, viewer));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode view_plans(PetscSF sf, const TypeState& state, PetscViewer viewer) {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(sf));
  PetscBool is_ascii = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_ascii));
  if (!is_ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  nuice %s\n", nuice_version()));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (!state.left_to_basic.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "by basic: %s\n", state.left_to_basic.c_str()));
  for (const auto& units : state.forest->plans()) PetscCall(view_units(comm, *units, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_from_options(PetscSF sf, const TypeState& state) {
  const PetscObject object = reinterpret_cast<PetscObject>(sf);
  PetscViewer viewer = nullptr;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
  PetscBool is_asked = PETSC_FALSE;

  PetscFunctionBegin;
  if (!sf->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetViewer(object->comm, object->options, object->prefix, "-sf_view", &viewer, &format,
                                  &is_asked));
  if (!is_asked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(PetscObjectPrintClassNamePrefixType(object, viewer));
  PetscCall(view_plans(sf, state, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace nuice::petsc
