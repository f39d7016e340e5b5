// SPDX-License-Identifier: BSD-3-Clause
// Errors in the memory's description are left to bind(), which reports them on all ranks.
#include <memory>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"

namespace nuice::capi {
namespace {

struct Sides {
  std::span<const Partner> send_to;
  std::span<const Partner> receive_from;
};

Sides sides_of(const mpi::Plan& plan, nuice_direction direction) {
  if (direction == NUICE_BACKWARDS) return {plan.sources(), plan.destinations()};
  return {plan.destinations(), plan.sources()};
}

/// Treats invalid values as forwards; check_call() refuses them.
mpi::Direction direction_of(nuice_direction direction) {
  return direction == NUICE_BACKWARDS ? mpi::Direction::backwards : mpi::Direction::forwards;
}

/// Checks the arguments that bind() does not get.
void check_call(nuice_direction direction, nuice_exchange** exchange) {
  if (direction != NUICE_FORWARDS && direction != NUICE_BACKWARDS)
    refuse("there is no direction " + std::to_string(static_cast<int>(direction)));
  at(exchange, "exchange");
}

template <typename Buffer, typename Pointer>
std::vector<Buffer> buffers(std::span<const Partner> partners, Pointer pointers) {
  std::vector<Buffer> made(partners.size());
  for (std::size_t i = 0; i < partners.size(); ++i)
    made[i] = {pointers == nullptr ? nullptr : pointers[i], partners[i].bytes};
  return made;
}

/// Returns max_bytes for NUICE_ANY_ROOM: as much as needed.
Bytes room(std::int64_t bytes) { return bytes == NUICE_ANY_ROOM ? max_bytes : bytes; }

template <typename Value>
std::span<const Value> part(const Value* values, std::size_t field, std::size_t partners) {
  if (values == nullptr) return {};
  return {values + field * partners, partners};
}

template <typename Field, typename Pointer>
std::vector<Field> fields(int count, Pointer data, const MPI_Datatype* types, const std::int64_t* counts,
                          const std::int64_t* offsets, std::size_t partners) {
  std::vector<Field> made(static_cast<std::size_t>(count > 0 ? count : 0));
  for (std::size_t f = 0; f < made.size(); ++f)
    made[f] = {data == nullptr ? nullptr : data[f], types == nullptr ? MPI_DATATYPE_NULL : types[f],
               part(counts, f, partners), part(offsets, f, partners)};
  return made;
}

std::vector<MPI_Datatype> types_of(int count, const nuice_fint* types) {
  std::vector<MPI_Datatype> made;
  for (int f = 0; types != nullptr && f < count; ++f) made.push_back(type_of(types[f]));
  return made;
}

}  // namespace
}  // namespace nuice::capi

using namespace nuice::capi;

int nuice_plan_bind(nuice_plan* plan, const void* const send[], void* const receive[],
                    nuice_direction direction, nuice_exchange** exchange) {
  return guarded_mpi([&] {
    nuice::mpi::Plan& held = at(plan, "plan").plan;
    const auto [send_to, receive_from] = sides_of(held, direction);
    check_for_all(held, [&] { check_call(direction, exchange); });
    keep(exchange, held.bind(buffers<nuice::SendBuffer>(send_to, send),
                             buffers<nuice::ReceiveBuffer>(receive_from, receive), direction_of(direction)));
  });
}

int nuice_plan_bind_array(nuice_plan* plan, const void* send, int64_t send_bytes,
                          const int64_t send_offsets[], void* receive, int64_t receive_bytes,
                          const int64_t receive_offsets[], nuice_direction direction,
                          nuice_exchange** exchange) {
  return guarded_mpi([&] {
    nuice::mpi::Plan& held = at(plan, "plan").plan;
    const auto [send_to, receive_from] = sides_of(held, direction);
    check_for_all(held, [&] { check_call(direction, exchange); });
    const nuice::mpi::SendArray from{send, room(send_bytes), part(send_offsets, 0, send_to.size())};
    const nuice::mpi::ReceiveArray to{receive, room(receive_bytes),
                                      part(receive_offsets, 0, receive_from.size())};
    keep(exchange, held.bind(from, to, direction_of(direction)));
  });
}

int nuice_plan_bind_fields(nuice_plan* plan, int num_fields, const void* const send[],
                           const MPI_Datatype send_types[], const int64_t send_counts[],
                           const int64_t send_offsets[], void* const receive[],
                           const MPI_Datatype receive_types[], const int64_t receive_counts[],
                           const int64_t receive_offsets[], nuice_direction direction,
                           nuice_exchange** exchange) {
  return guarded_mpi([&] {
    nuice::mpi::Plan& held = at(plan, "plan").plan;
    const auto [send_to, receive_from] = sides_of(held, direction);
    check_for_all(held, [&] {
      if (num_fields < 0) refuse("there cannot be " + std::to_string(num_fields) + " fields");
      check_call(direction, exchange);
    });
    keep(exchange,
         held.bind(fields<nuice::mpi::SendField>(num_fields, send, send_types, send_counts, send_offsets,
                                                 send_to.size()),
                   fields<nuice::mpi::ReceiveField>(num_fields, receive, receive_types, receive_counts,
                                                    receive_offsets, receive_from.size()),
                   direction_of(direction)));
  });
}

int nuice_plan_bind_fields_f(nuice_plan* plan, int num_fields, const void* const send[],
                             const nuice_fint send_types[], const int64_t send_counts[],
                             const int64_t send_offsets[], void* const receive[],
                             const nuice_fint receive_types[], const int64_t receive_counts[],
                             const int64_t receive_offsets[], nuice_direction direction,
                             nuice_exchange** exchange) {
  int status = NUICE_OK;
  const int guard = guarded([&] {
    const std::vector<MPI_Datatype> from = types_of(num_fields, send_types);
    const std::vector<MPI_Datatype> to = types_of(num_fields, receive_types);
    status = nuice_plan_bind_fields(plan, num_fields, send, send_types == nullptr ? nullptr : from.data(),
                                    send_counts, send_offsets, receive,
                                    receive_types == nullptr ? nullptr : to.data(), receive_counts,
                                    receive_offsets, direction, exchange);
  });
  return guard == NUICE_OK ? status : guard;
}

int nuice_plan_refuse(nuice_plan* plan, const char* error) {
  return guarded_mpi([&] {
    nuice::mpi::Plan& held = at(plan, "plan").plan;
    held.refuse({nuice::ErrorCode::invalid_argument, error == nullptr ? "no error was given" : error});
  });
}
