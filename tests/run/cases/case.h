// SPDX-License-Identifier: BSD-3-Clause
// What the small programs share. Each prints what it has received, which must
// be the same in all ways of `nuice run`.
#pragma once
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank_, ranks_;

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}
static inline int left(void) { return (rank_ + ranks_ - 1) % ranks_; }
static inline int right(void) { return (rank_ + 1) % ranks_; }

static inline unsigned char byte_of(int from, int to, long i) {
  return (unsigned char)(from * 131 + to * 31 + i * 7 + (i >> 8));
}
static inline void fill(unsigned char* at, int from, int to, long n) {
  for (long i = 0; i < n; ++i) at[i] = byte_of(from, to, i);
}
static inline long wrong_in(const unsigned char* at, int from, int to, long n) {
  long wrong = 0;
  for (long i = 0; i < n; ++i) wrong += at[i] != byte_of(from, to, i);
  return wrong;
}
static inline void say(const char* what, const void* at, size_t n, long wrong) {
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < n; ++i) hash = (hash ^ ((const unsigned char*)at)[i]) * 1099511628211u;
  printf("%d %s %016llx %s\n", rank_, what, (unsigned long long)hash, wrong ? "WRONG" : "ok");
  fflush(stdout);
}

/// Blocks of different lengths for every rank: base + 7 * from + 3 * to.
struct Blocks {
  int *out, *out_at, *in, *in_at;
  unsigned char *send, *receive;
  int bytes_in;
};
static inline struct Blocks blocks_of(MPI_Comm comm, int base) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  struct Blocks b = {calloc(n, 4), calloc(n, 4), calloc(n, 4), calloc(n, 4), NULL, NULL, 0};
  int bytes_out = 0;
  for (int i = 0; i < n; ++i) {
    b.out[i] = base + 7 * me + 3 * i, b.in[i] = base + 7 * i + 3 * me;
    b.out_at[i] = bytes_out, b.in_at[i] = b.bytes_in;
    bytes_out += b.out[i], b.bytes_in += b.in[i];
  }
  b.send = malloc(bytes_out), b.receive = calloc(b.bytes_in, 1);
  for (int i = 0; i < n; ++i) fill(b.send + b.out_at[i], me, i, b.out[i]);
  return b;
}
static inline void say_blocks(const char* what, const struct Blocks* b) {
  say(what, b->receive, b->bytes_in, 0);
}
static inline void free_blocks(struct Blocks* b) {
  free(b->out), free(b->out_at), free(b->in), free(b->in_at), free(b->send), free(b->receive);
}
/// A first exchange, after which everything has its way.
static inline void prime(MPI_Comm comm) {
  struct Blocks b = blocks_of(comm, 40000);
  MPI_Alltoallv(b.send, b.out, b.out_at, MPI_BYTE, b.receive, b.in, b.in_at, MPI_BYTE, comm);
  say_blocks("prime", &b);
  free_blocks(&b);
}
static inline MPI_Comm ring_of(MPI_Comm comm) {
  int n, yes = 1;
  MPI_Comm_size(comm, &n);
  MPI_Comm ring;
  MPI_Cart_create(comm, 1, &n, &yes, 0, &ring);
  return ring;
}
