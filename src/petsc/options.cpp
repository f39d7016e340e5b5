// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/options.hpp"

#include <array>

#include "petsc/status.hpp"

namespace nuice::petsc {
namespace {

struct TextRow {
  const char* name;
  const char* summary;
  std::string Options::* member;
};
constexpr std::array text_rows{
    TextRow{"-sf_nuice_scheduler", "Algorithm that makes the schedule (nuice list)", &Options::scheduler},
    TextRow{"-sf_nuice_executor", "How ranks execute the schedule (nuice list)", &Options::executor},
    TextRow{"-sf_nuice_options", "Further options of plans, \"name=value ...\"", &Options::others},
};

}  // namespace

/// Returns the options of a plan. If the user sets a name in -sf_nuice_options, it is not added again,
/// because no name may occur twice.
std::string Options::text() const {
  std::string text = others;
  const auto add = [&](const std::string& name, const std::string& value) {
    if ((" " + others).find(" " + name + "=") == std::string::npos) text += " " + name + "=" + value;
  };
  add("scheduler", scheduler.empty() ? "auto" : scheduler);
  if (!executor.empty()) add("executor", executor);
  return text;
}

PetscErrorCode Options::read(PetscOptionItems* PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PetscSF nuice options");
  for (const TextRow& row : text_rows) {
    std::array<char, 1024> value{};
    PetscBool is_set = PETSC_FALSE;
    PetscCall(PetscOptionsString(row.name, row.summary, "docs/how-to/petsc.md", (this->*row.member).c_str(),
                                 value.data(), value.size(), &is_set));
    if (is_set)
      PetscCall(without_exceptions([&] { return (this->*row.member) = value.data(), PETSC_SUCCESS; }));
  }
  PetscCall(PetscOptionsInt("-sf_nuice_plan_at", "The use that makes the plan; earlier ones use basic",
                            "docs/how-to/petsc.md", planned_at, &planned_at, nullptr));
  PetscCheck(planned_at >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-sf_nuice_plan_at %" PetscInt_FMT ": uses are counted from 1", planned_at);
  PetscBool is_compared = compares() ? PETSC_TRUE : PETSC_FALSE, is_set = PETSC_FALSE;
  PetscCall(PetscOptionsBool("-sf_nuice_compare", "Time basic and the plan, and keep the faster one",
                             "docs/how-to/petsc.md", is_compared, &is_compared, &is_set));
  if (is_set) comparison = is_compared == PETSC_TRUE;
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace nuice::petsc
