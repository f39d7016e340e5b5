/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of entries, three on each rank, of which each rank needs its own and one on either side. */
#include "check.h"

enum { each = 3 };

static int64_t wrap(int64_t index) {
  return (index + (int64_t)each * num_ranks) % ((int64_t)each * num_ranks);
}

typedef int (*Create)(int64_t num_needed, const int64_t needed[], const char* options, nuice_halo** halo);

static int64_t begins_at[65];
static int owner_of[64 * each];
static int64_t mine[each];

static int by_ranges(int64_t n, const int64_t needed[], const char* options, nuice_halo** halo) {
  return nuice_halo_create_ranges(MPI_COMM_WORLD, begins_at, n, needed, 8, options, halo);
}
static int by_owners(int64_t n, const int64_t needed[], const char* options, nuice_halo** halo) {
  return nuice_halo_create_owners(MPI_COMM_WORLD, (int64_t)each * num_ranks, owner_of, n, needed, 8, options,
                                  halo);
}
static int by_list(int64_t n, const int64_t needed[], const char* options, nuice_halo** halo) {
  return nuice_halo_create_list(MPI_COMM_WORLD, each, mine, n, needed, 8, options, halo);
}
static int by_ranges_f(int64_t n, const int64_t needed[], const char* options, nuice_halo** halo) {
  return nuice_halo_create_ranges_f(comm_f(MPI_COMM_WORLD), begins_at, n, needed, 8, options, halo);
}
static int by_owners_f(int64_t n, const int64_t needed[], const char* options, nuice_halo** halo) {
  return nuice_halo_create_owners_f(comm_f(MPI_COMM_WORLD), (int64_t)each * num_ranks, owner_of, n, needed, 8,
                                    options, halo);
}
static int by_list_f(int64_t n, const int64_t needed[], const char* options, nuice_halo** halo) {
  return nuice_halo_create_list_f(comm_f(MPI_COMM_WORLD), each, mine, n, needed, 8, options, halo);
}

static void gather(nuice_halo* halo, int64_t num_ghosts, const int64_t ghosts[]) {
  double owned[2 * each], fetched[4] = {-1, -1, -1, -1};
  float owned_b[each], fetched_b[2];
  for (int i = 0; i < each; ++i) {
    owned[2 * i] = (double)mine[i];
    owned[2 * i + 1] = (double)-mine[i];
    owned_b[i] = (float)mine[i] / 2;
  }
  const void* from[] = {owned, owned_b};
  void* to[] = {fetched, fetched_b};
  const int64_t entry_bytes[] = {16, 4};
  nuice_exchange* x = NULL;
  int done = 0;
  int partner = 0;
  MUST(nuice_halo_bind_gather(halo, 2, from, to, entry_bytes, &x));
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_is_under_way(x, &done));
  CHECK(done == 1);
  MUST_FAIL(NUICE_ERR_NOT_APPLICABLE, "halo", nuice_exchange_poll(x, &partner));
  for (done = 0; done == 0;) MUST(nuice_exchange_test(x, &done));
  for (int k = 0; k < num_ghosts; ++k) {
    CHECK(fetched[2 * k] == (double)ghosts[k] && fetched[2 * k + 1] == (double)-ghosts[k]);
    CHECK(fetched_b[k] == (float)ghosts[k] / 2);
  }
  MUST(nuice_exchange_free(&x));
}

/* Every rank adds 10 to each of its ghosts, so the first and the last entry of
 * each get 10 (on one rank: nothing). */
static void scatter(nuice_halo* halo, int64_t num_ghosts, int as_fortran) {
  int64_t owned[each], ghosts[2] = {10, 10};
  for (int i = 0; i < each; ++i) owned[i] = mine[i];
  const void* from[] = {ghosts};
  void* to[] = {owned};
  const int components = 1;
  const MPI_Datatype type = MPI_INT64_T;
  const nuice_fint of_type = type_f(type);
  nuice_exchange* x = NULL;
  if (as_fortran) {
    MUST(nuice_halo_bind_scatter_f(halo, 1, from, to, &components, &of_type, op_f(MPI_SUM), &x));
  } else {
    MUST(nuice_halo_bind_scatter(halo, 1, from, to, &components, &type, MPI_SUM, &x));
  }
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  const int64_t more = num_ghosts > 0 ? 10 : 0;
  CHECK(owned[0] == mine[0] + more && owned[1] == mine[1] && owned[2] == mine[2] + more);
  MUST(nuice_exchange_free(&x));
  MUST_FAIL(NUICE_ERR_NOT_APPLICABLE, "operation",
            nuice_halo_bind_scatter(halo, 1, from, to, &components, &type, MPI_BAND, &x));
}

/* As scatter(), of doubles that travel rounded in one field; sums are in
 * double. Wires of the halo are set. */
static void scatter_on_wires(nuice_halo* halo, int64_t num_ghosts, const int64_t ghosts[]) {
  double given[2], rounded[each], exact[each];
  for (int k = 0; k < num_ghosts; ++k) given[k] = 256 + (double)ghosts[k] / 1024;
  for (int i = 0; i < each; ++i) rounded[i] = exact[i] = 1.0 / 1024;
  const void* from[] = {given, given};
  void* to[] = {rounded, exact};
  const int components[] = {1, 1};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_DOUBLE};
  nuice_exchange* x = NULL;
  MUST(nuice_halo_bind_scatter(halo, 2, from, to, components, types, MPI_SUM, &x));
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  for (int i = 0; i < each; ++i) {
    const int arrives = num_ghosts > 0 && i != 1;
    CHECK(rounded[i] == 1.0 / 1024 + (arrives ? 256 : 0));
    CHECK(exact[i] == 1.0 / 1024 + (arrives ? 256 + (double)mine[i] / 1024 : 0));
  }
  MUST(nuice_exchange_free(&x));
}

/* Two fields of the same doubles: one travels as bfloat16, which keeps 8 significant bits. */
static void wires(nuice_halo* halo, int64_t num_ghosts, const int64_t ghosts[]) {
  double owned[each], rounded[2], exact[2];
  for (int i = 0; i < each; ++i) owned[i] = 256 + (double)mine[i] / 1024;
  const void* from[] = {owned, owned};
  void* to[] = {rounded, exact};
  const int64_t entry_bytes[] = {8, 8};
  const int64_t odd = 12;
  const nuice_wire chosen[] = {NUICE_WIRE_BFLOAT16, NUICE_WIRE_AS_IS};
  const nuice_wire wrong[] = {(nuice_wire)9};
  nuice_exchange* x = NULL;
  MUST(nuice_halo_set_wires(halo, 2, chosen));
  MUST(nuice_halo_bind_gather(halo, 2, from, to, entry_bytes, &x));
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  for (int k = 0; k < num_ghosts; ++k) CHECK(rounded[k] == 256 && exact[k] == 256 + (double)ghosts[k] / 1024);
  MUST(nuice_exchange_free(&x));
  scatter_on_wires(halo, num_ghosts, ghosts);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "not doubles", nuice_halo_bind_gather(halo, 1, from, to, &odd, &x));
  if (my_rank == num_ranks - 1) MUST(nuice_halo_set_wires(halo, 1, wrong));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "wire 9", nuice_halo_bind_gather(halo, 1, from, to, entry_bytes, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "wires", nuice_halo_set_wires(halo, -1, chosen));
  MUST(nuice_halo_set_wires(halo, 0, NULL));
}

void test_halo(void) {
  const Create ways[] = {by_ranges, by_owners, by_list, by_ranges_f, by_owners_f, by_list_f};
  for (int r = 0; r <= num_ranks; ++r) begins_at[r] = (int64_t)each * r;
  for (int i = 0; i < each * num_ranks; ++i) owner_of[i] = i / each;
  for (int i = 0; i < each; ++i) mine[i] = (int64_t)each * my_rank + i;
  const int64_t needed[] = {wrap(mine[0] - 1), mine[0], mine[1], mine[2], wrap(mine[2] + 1)};
  const void* nothing[] = {NULL};
  void* nowhere[] = {NULL};
  const int64_t eight = 8;
  nuice_exchange* x = NULL;
  for (int way = 0; way < 6; ++way) {
    nuice_halo* halo = NULL;
    int64_t num_owned = 0, num_ghosts = 0, ghosts[2], locals[5];
    MUST(ways[way](5, needed, way % 2 == 0 ? "scheduler=coloring" : NULL, &halo));
    MUST(nuice_halo_num_entries(halo, &num_owned, &num_ghosts));
    CHECK(num_owned == each && num_ghosts == (num_ranks > 1 ? 2 : 0));
    MUST(nuice_halo_ghosts(halo, ghosts));
    MUST(nuice_halo_local_indices(halo, 5, needed, locals));
    CHECK(locals[1] == 0 && locals[3] == 2);
    if (num_ghosts > 0) CHECK(ghosts[locals[0] - each] == needed[0] && ghosts[locals[4] - each] == needed[4]);
    gather(halo, num_ghosts, ghosts);
    scatter(halo, num_ghosts, way % 2);
    wires(halo, num_ghosts, ghosts);
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "owned",
              nuice_halo_bind_gather(halo, 1, nothing, nowhere, &eight, &x));
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "neither",
              nuice_halo_local_indices(halo, 1, &begins_at[num_ranks], locals));
    const int is_last = my_rank == num_ranks - 1;
    MUST(nuice_halo_agree(halo, 7, NULL));
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "too short",
              nuice_halo_agree(halo, my_rank, is_last ? "the array is too short" : NULL));
    if (num_ranks > 1)
      MUST_FAIL(NUICE_ERR_MISMATCH, "the arrays given to the halo differ between the ranks",
                nuice_halo_agree(halo, is_last, NULL));
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "halo is NULL", nuice_halo_agree(NULL, 7, NULL));
    double room[8] = {0}, more[8];
    const void* const own[] = {room};
    void* const others[] = {more};
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "the array is short",
              is_last ? nuice_halo_refuse(halo, "the array is short")
                      : nuice_halo_bind_gather(halo, 1, own, others, &eight, &x));
    MUST(nuice_halo_free(&halo));
    CHECK(halo == NULL);
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "needed is NULL",
              ways[way](my_rank == num_ranks - 1 ? 2 : 0, NULL, NULL, &halo));
    MUST_FAIL(NUICE_ERR_PARSE, "option", ways[way](0, NULL, my_rank == 0 ? "executor" : NULL, &halo));
    CHECK(halo == NULL);
  }
}
