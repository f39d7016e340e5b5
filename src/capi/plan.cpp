// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/mpi/plan.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/planner.hpp"
#include "mpi/communicator.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::capi {
namespace {

using mpi::PlanInfo;
using mpi::PlanOptions;

std::vector<Partner> partners_of(int count, const int* ranks, const std::int64_t* bytes) {
  const auto to = array(ranks, count, "ranks");
  const auto sizes = array(bytes, count, "bytes");
  std::vector<Partner> partners(to.size());
  for (std::size_t i = 0; i < partners.size(); ++i) partners[i] = {to[i], sizes[i]};
  return partners;
}

using Figure = double (*)(const PlanInfo&);
constexpr auto figures = std::to_array<Property<Figure>>({
    {"hosts", [](const PlanInfo& info) { return static_cast<double>(info.num_hosts); }},
    {"messages", [](const PlanInfo& info) { return static_cast<double>(info.num_messages); }},
    {"phases", [](const PlanInfo& info) { return static_cast<double>(info.num_phases); }},
    {"phase_bytes", [](const PlanInfo& info) { return static_cast<double>(info.phase_bytes); }},
    {"staged_bytes", [](const PlanInfo& info) { return static_cast<double>(info.staged_bytes); }},
    {"kept", [](const PlanInfo& info) { return static_cast<double>(info.num_kept); }},
    {"bound_phases", [](const PlanInfo& info) { return static_cast<double>(info.bounds.max_degree); }},
    {"bound_bytes", [](const PlanInfo& info) { return static_cast<double>(info.bounds.max_port_bytes); }},
    {"gather_s", [](const PlanInfo& info) { return info.gather_s; }},
    {"choose_s", [](const PlanInfo& info) { return info.choose_s; }},
    {"schedule_s", [](const PlanInfo& info) { return info.schedule_s; }},
    {"check_s", [](const PlanInfo& info) { return info.check_s; }},
    {"predicted_s", [](const PlanInfo& info) { return info.predicted_s; }},
});

using PlanText = std::string (*)(const mpi::Plan&);
constexpr auto plan_texts = std::to_array<Property<PlanText>>({
    {"scheduler", [](const mpi::Plan& plan) { return plan.info().scheduler; }},
    {"executor", [](const mpi::Plan& plan) { return plan.info().executor; }},
    {"overridden", [](const mpi::Plan& plan) { return plan.info().overridden; }},
    {"warning", [](const mpi::Plan&) { return std::string(); }},
    {"advice",
     [](const mpi::Plan& plan) {
       return plan.advice() == nullptr ? std::string() : to_text(*plan.advice());
     }},
    {"advice_json",
     [](const mpi::Plan& plan) {
       return plan.advice() == nullptr ? std::string() : to_json(*plan.advice());
     }},
});

}  // namespace

PlanOptions options_of(const char* text) {
  PlanOptions options;
  options.fault = attempt(0, [&] { options = PlanOptions::parse(text == nullptr ? "" : text); });
  return options;
}

void require_own_process() {
  static std::atomic<bool> is_forked = false;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { is_forked.store(true); });
  if (registered == 0 && is_forked.load(std::memory_order_relaxed))
    throw Error(ErrorCode::state,
                "this process was forked from a process with plans: only the parent may use them");
}

/// Programs with MPI sessions may have handles too. MPI cannot tell whether a session exists.
bool is_mpi_up() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return (is_initialized != 0 || MPI_VERSION >= 4) && is_finalized == 0;
}

#ifdef NUICE_MPI_ABI
MPI_Comm comm_of(nuice_fint handle) { return is_mpi_up() ? MPI_Comm_fromint(handle) : MPI_COMM_NULL; }
MPI_Datatype type_of(nuice_fint handle) { return is_mpi_up() ? MPI_Type_fromint(handle) : MPI_DATATYPE_NULL; }
MPI_Op op_of(nuice_fint handle) { return is_mpi_up() ? MPI_Op_fromint(handle) : MPI_OP_NULL; }
#else
MPI_Comm comm_of(nuice_fint handle) { return is_mpi_up() ? MPI_Comm_f2c(handle) : MPI_COMM_NULL; }
MPI_Datatype type_of(nuice_fint handle) { return is_mpi_up() ? MPI_Type_f2c(handle) : MPI_DATATYPE_NULL; }
MPI_Op op_of(nuice_fint handle) { return is_mpi_up() ? MPI_Op_f2c(handle) : MPI_OP_NULL; }
#endif

Place place_in(MPI_Comm comm) {
  Place place;
  if (comm == MPI_COMM_NULL || !mpi::may_be_used(comm)) return place;
  MPI_Comm_rank(comm, &place.rank);
  MPI_Comm_size(comm, &place.num_ranks);
  return place;
}

}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_plan_create(MPI_Comm comm, int num_destinations, const int ranks[], const int64_t bytes[],
                      const char* options, nuice_plan** plan) {
  return guarded_mpi([&] {
    auto chosen = options_of(options);
    std::vector<nuice::Partner> row;
    const int rank = place_in(comm).rank;
    note(rank, chosen, [&] { at(plan, "plan"), row = partners_of(num_destinations, ranks, bytes); });
    *plan = new nuice_plan{nuice::mpi::Plan(comm, row, chosen), rank, {}};
  });
}

int nuice_plan_create_f(nuice_fint comm, int num_destinations, const int ranks[], const int64_t bytes[],
                        const char* options, nuice_plan** plan) {
  return nuice_plan_create(comm_of(comm), num_destinations, ranks, bytes, options, plan);
}

int nuice_plan_create_from_schedule(MPI_Comm comm, const nuice_matrix* matrix, const nuice_schedule* schedule,
                                    const char* options, nuice_plan** plan) {
  return guarded_mpi([&] {
    auto chosen = options_of(options);
    nuice::PhaseTable table;
    const int rank = place_in(comm).rank;
    note(rank, chosen, [&] {
      at(plan, "plan");
      const nuice::CommMatrix& held = at(matrix, "matrix").matrix;
      const nuice::ScheduleRecord& record = at(schedule, "schedule").record;
      if (record.matrix_fingerprint != held.fingerprint())
        throw nuice::Error(nuice::ErrorCode::mismatch, "the schedule is for another matrix");
      if (rank < held.num_ranks()) table = nuice::slice(held, record.schedule, rank);
      chosen.scheduler = record.scheduler;
      chosen.seed = record.seed;
    });
    *plan = new nuice_plan{nuice::mpi::Plan::from_table(comm, table, chosen), rank, {}};
  });
}

int nuice_plan_create_from_schedule_f(nuice_fint comm, const nuice_matrix* matrix,
                                      const nuice_schedule* schedule, const char* options,
                                      nuice_plan** plan) {
  return nuice_plan_create_from_schedule(comm_of(comm), matrix, schedule, options, plan);
}

int nuice_plan_follow(const nuice_plan* plan, int num_destinations, const int ranks[], const int64_t bytes[],
                      nuice_plan** followed) {
  return guarded_mpi([&] {
    const nuice_plan& held = at(plan, "plan");
    std::vector<nuice::Partner> row;
    nuice::mpi::PlanOptions noted;
    note(held.rank, noted,
         [&] { at(followed, "followed"), row = partners_of(num_destinations, ranks, bytes); });
    *followed = new nuice_plan{held.plan.follow(row, noted.fault), held.rank, {}};
  });
}

int nuice_plan_follow_on(const nuice_plan* plan, MPI_Comm comm, nuice_plan** followed) {
  return guarded_mpi([&] {
    const nuice_plan& held = at(plan, "plan");
    const int rank = place_in(comm).rank;
    nuice::mpi::PlanOptions noted;
    note(rank, noted, [&] { at(followed, "followed"); });
    *followed = new nuice_plan{held.plan.follow_on(comm, noted.fault), rank, {}};
  });
}

int nuice_plan_follow_on_f(const nuice_plan* plan, nuice_fint comm, nuice_plan** followed) {
  return nuice_plan_follow_on(plan, comm_of(comm), followed);
}

int nuice_plan_num_partners(const nuice_plan* plan, int* num_destinations, int* num_sources) {
  return guarded([&] {
    const nuice::mpi::Plan& held = at(plan, "plan").plan;
    if (num_destinations != nullptr) *num_destinations = static_cast<int>(held.destinations().size());
    if (num_sources != nullptr) *num_sources = static_cast<int>(held.sources().size());
  });
}

int nuice_plan_destinations(const nuice_plan* plan, int ranks[], int64_t bytes[]) {
  return guarded([&] {
    const auto partners = at(plan, "plan").plan.destinations();
    copy_out(partners, ranks, [](const nuice::Partner& partner) { return partner.rank; });
    copy_out(partners, bytes, [](const nuice::Partner& partner) { return partner.bytes; });
  });
}

int nuice_plan_sources(const nuice_plan* plan, int ranks[], int64_t bytes[]) {
  return guarded([&] {
    const auto partners = at(plan, "plan").plan.sources();
    copy_out(partners, ranks, [](const nuice::Partner& partner) { return partner.rank; });
    copy_out(partners, bytes, [](const nuice::Partner& partner) { return partner.bytes; });
  });
}

int nuice_plan_figure(const nuice_plan* plan, const char* name, double* value) {
  return guarded([&] { at(value, "value") = find_property(figures, name)(at(plan, "plan").plan.info()); });
}

int nuice_plan_text(const nuice_plan* plan, const char* name, const char** text) {
  return guarded([&] {
    const nuice_plan& held = at(plan, "plan");
    held.text = find_property(plan_texts, name)(held.plan);
    at(text, "text") = held.text.c_str();
  });
}

int nuice_plan_free(nuice_plan** plan) { return free_own(plan); }
