/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's block of a 2-D grid, for both programs: the values with a ring of
 * ghosts around them, and packed edges. */
#ifndef HEAT_GRID_H
#define HEAT_GRID_H

#include <stdint.h>
#include <stdlib.h>

enum { cells = 96, steps = 200 };

typedef struct {
  int nx, ny;        /* cells of this rank */
  int num_partners;  /* up to four */
  int ranks[4];      /* ascending */
  int along_x[4];    /* whether the edge to that partner runs along x */
  int at[4];         /* row or column of the edge */
  int64_t bytes[4];  /* of the edge */
  int64_t all_bytes; /* of all edges */
  double *u, *next;  /* (nx + 2) * (ny + 2) */
  double *send, *receive;
} Grid;

static void add_partner(Grid* g, int there, int rank, int along_x, int at) {
  if (!there) return;
  const int p = g->num_partners++;
  g->ranks[p] = rank;
  g->along_x[p] = along_x;
  g->at[p] = at;
  g->bytes[p] = (int64_t)sizeof(double) * (along_x ? g->nx : g->ny);
  g->all_bytes += g->bytes[p];
}

/* dims: blocks along x and y; rank = x * dims[1] + y. */
static Grid make_grid(int rank, const int dims[2]) {
  const int px = rank / dims[1], py = rank % dims[1];
  const int x0 = cells * px / dims[0], y0 = cells * py / dims[1];
  Grid g = {
      cells * (px + 1) / dims[0] - x0, cells * (py + 1) / dims[1] - y0, 0, {0}, {0}, {0}, {0}, 0, 0, 0, 0, 0};
  add_partner(&g, px > 0, rank - dims[1], 0, 1);
  add_partner(&g, py > 0, rank - 1, 1, 1);
  add_partner(&g, py < dims[1] - 1, rank + 1, 1, g.ny);
  add_partner(&g, px < dims[0] - 1, rank + dims[1], 0, g.nx);
  const size_t size = (size_t)(g.nx + 2) * (size_t)(g.ny + 2);
  g.u = calloc(size, sizeof(double));
  g.next = calloc(size, sizeof(double));
  g.send = malloc((size_t)g.all_bytes + 1);
  g.receive = malloc((size_t)g.all_bytes + 1);
  for (int i = 1; i <= g.nx; ++i)
    for (int j = 1; j <= g.ny; ++j) g.u[i * (g.ny + 2) + j] = ((x0 + i) * 7 + (y0 + j) * 3) % 11;
  return g;
}

static void free_grid(Grid* g) {
  free(g->u);
  free(g->next);
  free(g->send);
  free(g->receive);
}

static double* cell(Grid* g, int p, int k, int outside) {
  const int at = g->at[p] + (outside ? (g->at[p] == 1 ? -1 : 1) : 0);
  return g->along_x[p] ? &g->u[k * (g->ny + 2) + at] : &g->u[at * (g->ny + 2) + k];
}

static void pack(Grid* g) {
  double* to = g->send;
  for (int p = 0; p < g->num_partners; ++p)
    for (int k = 1; k <= (g->along_x[p] ? g->nx : g->ny); ++k) *to++ = *cell(g, p, k, 0);
}

static void unpack(Grid* g) {
  const double* from = g->receive;
  for (int p = 0; p < g->num_partners; ++p)
    for (int k = 1; k <= (g->along_x[p] ? g->nx : g->ny); ++k) *cell(g, p, k, 1) = *from++;
}

/* The inner cells need no ghosts; those at the rim do. */
static void update(Grid* g, int rim) {
  const int w = g->ny + 2;
  for (int i = 1; i <= g->nx; ++i)
    for (int j = 1; j <= g->ny; ++j) {
      const int is_rim = i == 1 || i == g->nx || j == 1 || j == g->ny;
      const double* u = &g->u[i * w + j];
      if (is_rim == rim) g->next[i * w + j] = u[0] + 0.1 * (u[-w] + u[w] + u[-1] + u[1] - 4 * u[0]);
    }
}

static void swap(Grid* g) {
  double* const u = g->u;
  g->u = g->next;
  g->next = u;
}

static double sum(const Grid* g) {
  double total = 0;
  for (int i = 1; i <= g->nx; ++i)
    for (int j = 1; j <= g->ny; ++j) total += g->u[i * (g->ny + 2) + j];
  return total;
}

#endif
