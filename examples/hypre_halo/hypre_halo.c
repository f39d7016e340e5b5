/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix-vector products of hypre's ParCSR matrices, their halos exchanged by plans.
 *
 * A ParCSR matrix knows which entries of x go to which rank, and where received ones lie (its comm_pkg). That
 * is a plan's input: halo_create() makes one, halo_matvec() is hypre_ParCSRMatrixMatvec() with it instead of
 * hypre's Isend and Irecv. The program takes the matrices of all levels that BoomerAMG makes of a Laplacian:
 * from few large messages to many small ones. The results must be hypre's, bit for bit.
 *
 *   mpiexec -n 8 hypre_halo [POINTS a direction and rank, 20] [OPTIONS of plans, "scheduler=auto"]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>

#include <nuice/nuice.h>

static void must(int status) {
  if (status == NUICE_OK) return;
  fprintf(stderr, "%s\n", nuice_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct {
  nuice_plan* plan;
  nuice_exchange* exchange;
  double* sent;         /* what others need of x, one after the other */
  hypre_Vector* ghosts; /* what this rank needs of others */
} Halo;

/* Collective. */
static Halo halo_create(hypre_ParCSRMatrix* A, const char* options) {
  if (hypre_ParCSRMatrixCommPkg(A) == NULL) hypre_MatvecCommPkgCreate(A);
  const hypre_ParCSRCommPkg* pkg = hypre_ParCSRMatrixCommPkg(A);
  const int num_sends = pkg->num_sends, num_receives = pkg->num_recvs;
  Halo halo = {NULL, NULL, NULL, NULL};
  int64_t* bytes = malloc((size_t)(num_sends + 1) * sizeof *bytes);
  int64_t* from = malloc((size_t)(num_sends + 1) * sizeof *from);
  int64_t* to = malloc((size_t)(num_receives + 1) * sizeof *to);
  int* sources = malloc((size_t)(num_receives + 1) * sizeof *sources);
  for (int i = 0; i < num_sends; ++i) {
    bytes[i] = (int64_t)(pkg->send_map_starts[i + 1] - pkg->send_map_starts[i]) * 8;
    from[i] = (int64_t)pkg->send_map_starts[i] * 8;
  }
  must(nuice_plan_create(hypre_ParCSRMatrixComm(A), num_sends, pkg->send_procs, bytes, options, &halo.plan));
  must(nuice_plan_sources(halo.plan, sources, NULL)); /* by ascending rank; hypre lists them in any order */
  for (int i = 0; i < num_receives; ++i)
    for (int k = 0; k < num_receives; ++k)
      if (pkg->recv_procs[k] == sources[i]) to[i] = (int64_t)pkg->recv_vec_starts[k] * 8;
  const int64_t num_sent = num_sends > 0 ? pkg->send_map_starts[num_sends] : 0;
  const HYPRE_Int num_ghosts = hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(A));
  halo.sent = malloc((size_t)(num_sent + 1) * sizeof *halo.sent);
  halo.ghosts = hypre_SeqVectorCreate(num_ghosts);
  hypre_SeqVectorInitialize(halo.ghosts);
  must(nuice_plan_bind_array(halo.plan, halo.sent, num_sent * 8, from, hypre_VectorData(halo.ghosts),
                             num_ghosts * 8, to, NUICE_FORWARDS, &halo.exchange));
  free(bytes), free(from), free(to), free(sources);
  return halo;
}

static void halo_free(Halo* halo) {
  must(nuice_exchange_free(&halo->exchange));
  must(nuice_plan_free(&halo->plan));
  hypre_SeqVectorDestroy(halo->ghosts);
  free(halo->sent);
}

static void halo_start(Halo* halo, hypre_ParCSRMatrix* A, hypre_ParVector* x) {
  const hypre_ParCSRCommPkg* pkg = hypre_ParCSRMatrixCommPkg(A);
  const double* values = hypre_VectorData(hypre_ParVectorLocalVector(x));
  const HYPRE_Int num_sent = pkg->num_sends > 0 ? pkg->send_map_starts[pkg->num_sends] : 0;
  for (HYPRE_Int i = 0; i < num_sent; ++i) halo->sent[i] = values[pkg->send_map_elmts[i]];
  must(nuice_exchange_start(halo->exchange));
}

/* Collective: y = A x. What needs no ghosts is computed while they are in flight. */
static void halo_matvec(Halo* halo, hypre_ParCSRMatrix* A, hypre_ParVector* x, hypre_ParVector* y) {
  hypre_Vector* of_y = hypre_ParVectorLocalVector(y);
  halo_start(halo, A, x);
  hypre_CSRMatrixMatvec(1, hypre_ParCSRMatrixDiag(A), hypre_ParVectorLocalVector(x), 0, of_y);
  must(nuice_exchange_wait(halo->exchange));
  if (hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(A)) > 0)
    hypre_CSRMatrixMatvec(1, hypre_ParCSRMatrixOffd(A), halo->ghosts, 1, of_y);
}

static hypre_ParVector* vector_for(hypre_ParCSRMatrix* A) {
  hypre_ParVector* v = hypre_ParVectorCreate(hypre_ParCSRMatrixComm(A), hypre_ParCSRMatrixGlobalNumRows(A),
                                             hypre_ParCSRMatrixRowStarts(A));
  hypre_ParVectorInitialize(v);
  return v;
}

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

enum { num_rounds = 21, num_products = 20 };

/* Compares both methods on one level and times them alternately; returns 1 where they differ on any rank. */
static int level(int number, hypre_ParCSRMatrix* A, const char* options) {
  Halo halo = halo_create(A, options);
  hypre_ParVector *x = vector_for(A), *ours = vector_for(A), *theirs = vector_for(A);
  hypre_ParVectorSetRandomValues(x, 17);
  double times[2][num_rounds];
  int differs = 0;
  for (int round = 0; round < num_rounds; ++round)
    for (int way = 0; way < 2; ++way) {
      MPI_Barrier(MPI_COMM_WORLD);
      double seconds = -MPI_Wtime();
      for (int i = 0; i < num_products; ++i) {
        if ((way + round) % 2 == 0)
          halo_matvec(&halo, A, x, ours);
        else
          hypre_ParCSRMatrixMatvec(1, A, x, 0, theirs);
      }
      seconds += MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times[(way + round) % 2][round] = seconds / num_products;
    }
  const hypre_Vector* of_ours = hypre_ParVectorLocalVector(ours);
  differs = memcmp(hypre_VectorData(of_ours), hypre_VectorData(hypre_ParVectorLocalVector(theirs)),
                   (size_t)hypre_VectorSize(of_ours) * sizeof(double)) != 0;
  MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int way = 0; way < 2; ++way) qsort(times[way], num_rounds, sizeof(double), compare_doubles);

  double messages = 0, most_bytes = 0;
  const char *scheduler = "", *executor = "";
  int rank = 0;
  must(nuice_plan_figure(halo.plan, "messages", &messages));
  must(nuice_plan_figure(halo.plan, "bound_bytes", &most_bytes));
  must(nuice_plan_text(halo.plan, "scheduler", &scheduler));
  must(nuice_exchange_text(halo.exchange, "executor", &executor));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf(
        "level %d: %lld rows, %.0f messages, a rank at most %.0f bytes; hypre %.1f us, nuice %.1f us (%s, "
        "%s)%s\n",
        number, (long long)hypre_ParCSRMatrixGlobalNumRows(A), messages, most_bytes,
        1e6 * times[1][num_rounds / 2], 1e6 * times[0][num_rounds / 2], scheduler, executor,
        differs ? " DIFFERENT" : "");
  hypre_ParVectorDestroy(x), hypre_ParVectorDestroy(ours), hypre_ParVectorDestroy(theirs);
  halo_free(&halo);
  return differs;
}

/* Ranks in boxes, n^3 points each. */
static hypre_ParCSRMatrix* laplacian(HYPRE_Int n) {
  int size, rank, dims[3] = {0, 0, 0};
  HYPRE_Real values[] = {26, -1};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(size, 3, dims);
  return GenerateLaplacian27pt(MPI_COMM_WORLD, n * dims[0], n * dims[1], n * dims[2], dims[0], dims[1],
                               dims[2], rank % dims[0], rank / dims[0] % dims[1], rank / dims[0] / dims[1],
                               values);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  hypre_ParCSRMatrix* A = laplacian(argc > 1 ? atoi(argv[1]) : 20);
  const char* options = argc > 2 ? argv[2] : "scheduler=auto";
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  hypre_ParVector *b = vector_for(A), *x = vector_for(A);
  hypre_ParVectorSetConstantValues(b, 1);
  HYPRE_BoomerAMGSetup(amg, (HYPRE_ParCSRMatrix)A, (HYPRE_ParVector)b, (HYPRE_ParVector)x);
  hypre_ParAMGData* data = (hypre_ParAMGData*)amg;
  int num_different = 0;
  for (int i = 0; i < hypre_ParAMGDataNumLevels(data); ++i)
    num_different += level(i, hypre_ParAMGDataAArray(data)[i], options);
  HYPRE_BoomerAMGDestroy(amg);
  hypre_ParVectorDestroy(b), hypre_ParVectorDestroy(x);
  hypre_ParCSRMatrixDestroy(A);
  HYPRE_Finalize();
  MPI_Finalize();
  return num_different;
}
