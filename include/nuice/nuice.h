/* SPDX-License-Identifier: BSD-3-Clause */
/* NUICE from C, from simple to advanced: plans and exchanges, halos, the planner without MPI, names.
 *
 *   int to[] = {3, 5};
 *   int64_t bytes[] = {4096, 1024};                             // this rank's row: destinations and bytes
 *   nuice_plan* plan = NULL;
 *   if (nuice_plan_create(comm, 2, to, bytes, "scheduler=auto", &plan) != NUICE_OK) puts(nuice_error_text());
 *   nuice_exchange* x = NULL;
 *   nuice_plan_bind(plan, send_buffers, receive_buffers, NUICE_FORWARDS, &x);
 *   for (...) { nuice_exchange_start(x); work(); nuice_exchange_wait(x); }
 *   nuice_exchange_free(&x);
 *   nuice_plan_free(&plan);
 *
 * Functions return a nuice_status, except those that return a string; nuice_error_text() describes an error. Outputs are
 * written on success only. No exception leaves the library. "Collective": all ranks of the communicator call it, and it fails on
 * all of them with the same status, or on none. The exception is a NULL handle: that rank fails alone, and the others wait for it
 * until the option watchdog ends the wait (without it: forever).
 * Arrays without entries may be NULL. A handle belongs to one thread at a time: concurrent use of an exchange from a second
 * thread returns NUICE_ERR_STATE, as does any call in a forked child. Strings of a handle live as long as the handle, or until
 * the same function is called again with it.
 * Functions that end in _f take MPI handles as integers, for Fortran and other languages. Active messages and broadcasts are in
 * C++ only (nuice/mpi.hpp). With NUICE_NO_MPI defined there are the planner and the names only. */
#ifndef NUICE_NUICE_H
#define NUICE_NUICE_H

#include <stdint.h>
#ifndef NUICE_NO_MPI
#include <mpi.h>
/** MPI's handles as integers: MPI_Fint, or where mpi.h is that of the ABI of MPI 5, which has none, the int of MPI_Comm_toint(). */
#if defined(MPI_ABI_VERSION) && !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#define NUICE_MPI_ABI 1
typedef int nuice_fint;
#else
typedef MPI_Fint nuice_fint;
#endif
#endif

#if defined(__GNUC__)
#define NUICE_API __attribute__((visibility("default")))
#else
#define NUICE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call returns. The numbers are those of nuice::ErrorCode and never change. */
typedef enum nuice_status {
  NUICE_OK = 0,
  NUICE_ERR_INVALID_ARGUMENT = 1, /**< A value that the call does not accept, a NULL handle too. */
  NUICE_ERR_PARSE = 2,            /**< An option string or a file with a syntax error. */
  NUICE_ERR_IO = 3,               /**< A file that cannot be opened, read or written. */
  NUICE_ERR_NOT_APPLICABLE = 4,   /**< A scheduler that cannot handle this matrix. */
  NUICE_ERR_LIMIT = 5,            /**< Sizes beyond what can be represented or sent, or no memory. */
  NUICE_ERR_MISMATCH = 6,         /**< Arguments that do not match: ranks, plan and matrix. */
  NUICE_ERR_STATE = 7,            /**< A call out of order: wait without start, free while active. */
  NUICE_ERR_MPI = 8,              /**< MPI returned an error; the text holds MPI's own. */
  NUICE_ERR_TIMEOUT = 9,          /**< No progress for longer than the option watchdog allows. */
  NUICE_ERR_DEVICE = 10           /**< The driver of a GPU returned an error. */
} nuice_status;

/* clang-format off */
/** The direction of a plan's messages. */
typedef enum nuice_direction
#ifdef __cplusplus
    : int /* holds whatever C passes, so that it can be refused */
#endif
{
  NUICE_FORWARDS = 0, /**< From the ranks that listed destinations to these destinations. */
  NUICE_BACKWARDS = 1 /**< From the receivers to the senders: send to sources, receive from destinations. */
} nuice_direction;
/** How the doubles of a halo's field travel (nuice/mpi/halo_field.hpp). */
typedef enum nuice_wire
#ifdef __cplusplus
    : int /* holds whatever C passes, so that it can be refused */
#endif
{
  NUICE_WIRE_AS_IS = 0,   /**< Every bit arrives. */
  NUICE_WIRE_FLOAT32 = 1, /**< Half of the bytes; relative error at most 2^-24. */
  NUICE_WIRE_BFLOAT16 = 2 /**< A quarter; relative error at most 2^-8. */
} nuice_wire;
/* clang-format on */

/** Bytes of a buffer of unknown size: it is not checked. */
#define NUICE_ANY_ROOM ((int64_t)-1)

typedef struct nuice_plan nuice_plan;         /**< A checked schedule, sliced for this rank. */
typedef struct nuice_exchange nuice_exchange; /**< A plan or a halo bound to memory. */
typedef struct nuice_halo nuice_halo; /**< Ghost entries, their owners, the ranks that need this rank's. */
typedef struct nuice_matrix nuice_matrix;     /**< The bytes from each rank to each other. */
typedef struct nuice_schedule nuice_schedule; /**< Phases of transfers of pieces of messages. */
typedef struct nuice_advice nuice_advice;     /**< What there was to choose from, and why. */

/** What a profiler is told of: nuice/mpi/observer.hpp says when. */
typedef enum nuice_region {
  NUICE_REGION_PLAN = 0,
  NUICE_REGION_EXCHANGE = 1,
  NUICE_REGION_PHASE = 2
} nuice_region;
/** What is called, with data and what tells exchanges, or phases, apart. Functions may be NULL, and must not call the library. */
typedef struct nuice_observer {
  void (*begin)(void* data, nuice_region region, int64_t which);
  void (*end)(void* data, nuice_region region, int64_t which);
  void* data;
} nuice_observer;

/** Not collective. One line about the last call of this thread that failed; "" before any. Valid until the next
 * call of this thread that fails. Never NULL. */
NUICE_API const char* nuice_error_text(void);

#ifndef NUICE_NO_MPI
/** Not collective. Calls observer's functions from now on, of which a copy is kept; NULL: none. Not while another thread is in a call. */
NUICE_API int nuice_observe(const nuice_observer* observer);

/* ---- Plans ---------------------------------------------------------------------------------------------------------- */

/** Collective over comm, which may be freed afterwards. ranks, bytes: num_destinations each, the ranks to which this rank sends, and how
 * many bytes, in any order; itself and 0 bytes are allowed. options: "scheduler=coloring executor=async"
 * (docs/reference/options.md), equal on all ranks; NULL or "": the defaults. plan: free it with nuice_plan_free().
 * Errors: parse; invalid_argument, limit, mismatch, not_applicable, state, io, mpi as nuice::mpi::Plan (nuice/mpi/plan.hpp). */
NUICE_API int nuice_plan_create(MPI_Comm comm, int num_destinations, const int ranks[], const int64_t bytes[],
                                const char* options, nuice_plan** plan);
/** nuice_plan_create() with comm as Fortran has it. */
NUICE_API int nuice_plan_create_f(nuice_fint comm, int num_destinations, const int ranks[],
                                  const int64_t bytes[], const char* options, nuice_plan** plan);
/** Collective over comm. A plan for a schedule that exists, the same on all ranks, from a file or from
 * nuice_schedule_create(), for the matrix that it was made for. It is checked. options as above; those of the scheduler do
 * nothing. Errors: mismatch where the three do not belong together; parse; otherwise as above. */
NUICE_API int nuice_plan_create_from_schedule(MPI_Comm comm, const nuice_matrix* matrix,
                                              const nuice_schedule* schedule, const char* options,
                                              nuice_plan** plan);
/** nuice_plan_create_from_schedule() with comm as Fortran has it. */
NUICE_API int nuice_plan_create_from_schedule_f(nuice_fint comm, const nuice_matrix* matrix,
                                                const nuice_schedule* schedule, const char* options,
                                                nuice_plan** plan);
/** Collective. A plan for a matrix that has changed, with the options of this one, which stays as it is. ranks, bytes: all of now, as for
 * nuice_plan_create(). With "planning=distributed scheduler=distributed_coloring" only what has changed is planned (nuice::mpi::Plan::follow(),
 * nuice/mpi/plan.hpp). followed: free it too. Errors: as nuice_plan_create(); mismatch where ranks follow different plans. */
NUICE_API int nuice_plan_follow(const nuice_plan* plan, int num_destinations, const int ranks[],
                                const int64_t bytes[], nuice_plan** followed);
/** Collective over comm, which has ranks of this plan only: those that are left after a death
 * (MPIX_Comm_shrink), or some of them, in any order. A plan for the messages among them, with the options of
 * this one, which stays as it is. Ranks get their numbers in comm; the destinations keep their order, without
 * the ranks that are not in comm. followed: free it too. Errors: as nuice_plan_create(); mismatch where ranks
 * follow different plans; invalid_argument where a rank of comm is none of the plan's. */
NUICE_API int nuice_plan_follow_on(const nuice_plan* plan, MPI_Comm comm, nuice_plan** followed);
/** nuice_plan_follow_on() with comm as Fortran has it. */
NUICE_API int nuice_plan_follow_on_f(const nuice_plan* plan, nuice_fint comm, nuice_plan** followed);
/** Not collective. The numbers of this rank's destinations and sources. */
NUICE_API int nuice_plan_num_partners(const nuice_plan* plan, int* num_destinations, int* num_sources);
/** Not collective. ranks, bytes: room for num_destinations each, or NULL; in the order of nuice_plan_create(). */
NUICE_API int nuice_plan_destinations(const nuice_plan* plan, int ranks[], int64_t bytes[]);
/** Not collective. ranks, bytes: room for num_sources each, or NULL; by ascending rank. */
NUICE_API int nuice_plan_sources(const nuice_plan* plan, int ranks[], int64_t bytes[]);
/** Not collective. A statistic of the plan, equal on all ranks: hosts, messages, phases, phase_bytes, staged_bytes, kept (nuice_plan_follow()), bound_phases,
 * bound_bytes, and times in seconds: gather_s, choose_s, schedule_s, check_s, predicted_s.
 * Errors: invalid_argument for an unknown name; the text lists the known ones. */
NUICE_API int nuice_plan_figure(const nuice_plan* plan, const char* name, double* value);
/** Not collective. A string of the plan, equal on all ranks: scheduler, executor, overridden (by NUICE_OPTIONS), warning,
 * and with scheduler=auto advice (a table for people) and advice_json (docs/explanation/advise.md); otherwise these are empty.
 * Errors: invalid_argument for an unknown name; the text lists the known ones. */
NUICE_API int nuice_plan_text(const nuice_plan* plan, const char* name, const char** text);
/** Collective. Sets *plan to NULL; NULL is freed already. Exchanges that are bound stay usable. */
NUICE_API int nuice_plan_free(nuice_plan** plan);

/* ---- Binding: collective; the memory must stay valid until nuice_exchange_free(); errors as nuice::mpi::Plan::bind() ---- */

/** A buffer per partner: send[i] for destination i with at least its bytes, receive[i] for source i; backwards send[i] is for
 * source i and receive[i] for destination i. */
NUICE_API int nuice_plan_bind(nuice_plan* plan, const void* const send[], void* const receive[],
                              nuice_direction direction, nuice_exchange** exchange);
/** One buffer for all partners: message i lies send_offsets[i] bytes behind send, of which send_bytes are there
 * (NUICE_ANY_ROOM: not checked); likewise what is received. Offsets may be NULL: contiguous. */
NUICE_API int nuice_plan_bind_array(nuice_plan* plan, const void* send, int64_t send_bytes,
                                    const int64_t send_offsets[], void* receive, int64_t receive_bytes,
                                    const int64_t receive_offsets[], nuice_direction direction,
                                    nuice_exchange** exchange);
/** Several fields in one exchange. Field f lies at send[f] and has send_counts[f * partners + i] elements of send_types[f] for
 * partner i, the first of them send_offsets[f * partners + i] extents behind send[f]; likewise what is received. Offsets may be
 * NULL: contiguous. All ranks have as many fields, both ends of a message as many bytes. Types must be committed
 * and may be freed afterwards. */
NUICE_API int nuice_plan_bind_fields(nuice_plan* plan, int num_fields, const void* const send[],
                                     const MPI_Datatype send_types[], const int64_t send_counts[],
                                     const int64_t send_offsets[], void* const receive[],
                                     const MPI_Datatype receive_types[], const int64_t receive_counts[],
                                     const int64_t receive_offsets[], nuice_direction direction,
                                     nuice_exchange** exchange);
/** nuice_plan_bind_fields() with datatypes as Fortran has them. */
NUICE_API int nuice_plan_bind_fields_f(nuice_plan* plan, int num_fields, const void* const send[],
                                       const nuice_fint send_types[], const int64_t send_counts[],
                                       const int64_t send_offsets[], void* const receive[],
                                       const nuice_fint receive_types[], const int64_t receive_counts[],
                                       const int64_t receive_offsets[], nuice_direction direction,
                                       nuice_exchange** exchange);

/** Call it instead of the nuice_plan_bind*() of the other ranks: an error of this rank becomes one of all. For bindings of other
 * languages, which check memory themselves. Errors: invalid_argument, always. */
NUICE_API int nuice_plan_refuse(nuice_plan* plan, const char* error);

/* ---- Exchanges: after every start one wait, or test until done, or next until there is none ---------------------------- */

/** All ranks of the plan call it; does not wait. Errors: state if it is active already; mpi. */
NUICE_API int nuice_exchange_start(nuice_exchange* exchange);
/** start for buffers in GPU memory: the exchange follows earlier work on a stream of the program (cudaStream_t, hipStream_t).
 * Host memory: as without a stream. */
NUICE_API int nuice_exchange_start_on(nuice_exchange* exchange, void* stream);
/** wait for buffers in GPU memory: later work on the stream finds the data. Host memory: as without a stream. */
NUICE_API int nuice_exchange_wait_on(nuice_exchange* exchange, void* stream);
/** Not collective. Makes progress; done: 1 when this rank's part is complete. Errors: state without a start; mpi, timeout. */
NUICE_API int nuice_exchange_test(nuice_exchange* exchange, int* done);
/** Not collective. Returns when this rank's part is complete. Errors: state without a start; mpi; timeout. */
NUICE_API int nuice_exchange_wait(nuice_exchange* exchange);
/** Not collective. Waits for a message to arrive; partner: its index (of the sources, backwards of the destinations), -1 when this
 * rank's part is complete. Errors: as wait; not_applicable for the exchange of a halo. */
NUICE_API int nuice_exchange_next(nuice_exchange* exchange, int* partner);
/** Not collective. As next, but does not wait: -1 also where no message is here yet. */
NUICE_API int nuice_exchange_poll(nuice_exchange* exchange, int* partner);
/** Not collective. 1: started, and not yet known to be complete. */
NUICE_API int nuice_exchange_is_under_way(const nuice_exchange* exchange, int* under_way);
/** Not collective. executor: what carries it out now; shared_memory: how many messages go through memory of hosts, or why
 * none does, or "" where it is not requested; device: how buffers in GPU memory are transferred, and why, or ""; methods: of
 * scheduler=auto and device=auto, what was tried and what it took, seconds of the
 * slowest rank ("coloring:async 0.136 s, bruck_kport:phased 0.345 s (out)"), or "". */
NUICE_API int nuice_exchange_text(const nuice_exchange* exchange, const char* name, const char** text);
/** Collective, without waiting for others. Sets *exchange to NULL; NULL is freed already. Errors: state while active. */
NUICE_API int nuice_exchange_free(nuice_exchange** exchange);

/* ---- Replacing an MPI call: the arguments of MPI's, with a nuice_request instead of an MPI_Request ----------------------
 *
 *   nuice_request x;
 *   nuice_alltoallv_init(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm, MPI_INFO_NULL, &x);
 *   for (int i = 0; i < steps; ++i) { nuice_start(x); nuice_wait(x); }
 *   nuice_free(&x);
 *
 * Collective over comm. Arguments and results are those of MPI's calls of these names;
 * names that end in _c take 64-bit counts, as in MPI 4. The memory of the buffers must stay until nuice_free(); arrays of
 * counts, displacements and types, and the types themselves, may go. Blocks of 0 elements are no messages.
 * info: MPI_INFO_NULL; or the key "nuice" with options ("scheduler=coloring watchdog=10s", docs/reference/options.md), equal on all
 * ranks; other keys are left alone. Without options the scheduler is auto.
 * Errors: invalid_argument for a negative count, receive blocks that overlap (found for types without gaps), a communicator without
 * neighbours, an intercommunicator; mismatch where a rank expects other bytes than are sent to it, with the pair of ranks; otherwise as
 * nuice_plan_create() and nuice_plan_bind(). request is NULL then. An error handler that the program has set on comm is called, with
 * MPI_ERR_OTHER; MPI's predefined ones are not. */

/** The request that these calls return. All functions of nuice_exchange take it too. */
typedef nuice_exchange* nuice_request;

/** send may be MPI_IN_PLACE. */
NUICE_API int nuice_alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                                   MPI_Datatype send_type, void* receive, const int receive_counts[],
                                   const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                                   MPI_Info info, nuice_request* request);
/** The same with counts of 64 bits. */
NUICE_API int nuice_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                     const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                     const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                     MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                     nuice_request* request);
/** Displacements in bytes, a type for each block. send may be MPI_IN_PLACE. */
NUICE_API int nuice_alltoallw_init(const void* send, const int send_counts[], const int send_displs[],
                                   const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                                   const int receive_displs[], const MPI_Datatype receive_types[],
                                   MPI_Comm comm, MPI_Info info, nuice_request* request);
/** The same with counts of 64 bits. */
NUICE_API int nuice_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                     const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                     void* receive, const MPI_Count receive_counts[],
                                     const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                     MPI_Comm comm, MPI_Info info, nuice_request* request);
/** One block for each neighbour of comm, which has a topology. */
NUICE_API int nuice_neighbor_alltoallv_init(const void* send, const int send_counts[],
                                            const int send_displs[], MPI_Datatype send_type, void* receive,
                                            const int receive_counts[], const int receive_displs[],
                                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                            nuice_request* request);
/** The same with counts of 64 bits. */
NUICE_API int nuice_neighbor_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                              const MPI_Aint send_displs[], MPI_Datatype send_type,
                                              void* receive, const MPI_Count receive_counts[],
                                              const MPI_Aint receive_displs[], MPI_Datatype receive_type,
                                              MPI_Comm comm, MPI_Info info, nuice_request* request);
/** One block for each neighbour of comm, a type for each block, displacements in bytes. */
NUICE_API int nuice_neighbor_alltoallw_init(const void* send, const int send_counts[],
                                            const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                            void* receive, const int receive_counts[],
                                            const MPI_Aint receive_displs[],
                                            const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Info info,
                                            nuice_request* request);
/** The same with counts of 64 bits. */
NUICE_API int nuice_neighbor_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                              const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                              void* receive, const MPI_Count receive_counts[],
                                              const MPI_Aint receive_displs[],
                                              const MPI_Datatype receive_types[], MPI_Comm comm,
                                              MPI_Info info, nuice_request* request);

/** Flags of nuice_alltoallv_init_f(), to be added. */
enum {
  NUICE_CALL_NEIGHBOR = 1, /**< One block for each neighbour, not for each rank. */
  NUICE_CALL_TYPES = 2     /**< A type for each block, and displacements in bytes, as MPI_Alltoallw. */
};
/** One side of such a call, for other languages: all arrays with their lengths. */
typedef struct nuice_blocks_f {
  const void* data;   /**< To be sent: also MPI_IN_PLACE, of C or of Fortran. */
  int64_t bytes;      /**< From data on; NUICE_ANY_ROOM: not checked. */
  int64_t stride;     /**< Bytes from one element of the array to the next; 0: the type's. */
  int64_t num_blocks; /**< Entries of counts and displs each. */
  const void* counts;
  const void* displs;
  int count_bytes;   /**< 4 or 8, of each. */
  int displ_bytes;   /**< Likewise. */
  int64_t num_types; /**< 1, or with NUICE_CALL_TYPES num_blocks. */
  const nuice_fint* types;
} nuice_blocks_f;
/** All of the calls above, with MPI's handles as Fortran has them. call: of NUICE_CALL_... options: as nuice_plan_create(); NULL or "":
 * scheduler auto. fault: an error that the caller has found in the arguments, which becomes one of all ranks; NULL or "": none. */
NUICE_API int nuice_alltoallv_init_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                     nuice_fint comm, const char* options, const char* fault,
                                     nuice_request* request);

/** nuice_exchange_start(); this and the next three have the names of MPI's requests. */
NUICE_API int nuice_start(nuice_request request);
/** nuice_exchange_test(). */
NUICE_API int nuice_test(nuice_request request, int* done);
/** nuice_exchange_wait(). */
NUICE_API int nuice_wait(nuice_request request);
/** As MPI_Pready, for a request with the option parts (info key "nuice", "parts=true"), after nuice_start(), which then sends nothing:
 * block i may leave. From any thread, while another waits. Once for each block, an empty one too: nuice_wait() ends after the last.
 * Errors: state before nuice_start() and the second time; invalid_argument for another block; not_applicable without the option. */
NUICE_API int nuice_ready(nuice_request request, int i);
/** As MPI_Parrived. From any thread. arrived: 1 when block i is here. */
NUICE_API int nuice_arrived(nuice_request request, int i, int* arrived);
/** nuice_exchange_free(). */
NUICE_API int nuice_free(nuice_request* request);
/** As MPI_Waitall, for exchanges of any kind: returns when all that are active are complete. NULL, and those that were not started,
 * are passed over. Errors: those of nuice_wait(), of the first that fails; the others stay as they are. */
NUICE_API int nuice_waitall(int count, const nuice_request requests[]);
/** The same together with requests of MPI; statuses: of these, or NULL. */
NUICE_API int nuice_waitall_mpi(int count, const nuice_request requests[], int mpi_count,
                                MPI_Request mpi_requests[], MPI_Status statuses[]);
/** nuice_waitall_mpi() with requests as Fortran has them. */
NUICE_API int nuice_waitall_mpi_f(int count, const nuice_request requests[], int mpi_count,
                                  nuice_fint mpi_requests[]);
/** Returns when one that was active is complete; index: which, -1 where none was active. */
NUICE_API int nuice_waitany(int count, const nuice_request requests[], int* index);
/** Does not wait. indices: room for count; the num_done that are complete now and were active before. */
NUICE_API int nuice_testsome(int count, const nuice_request requests[], int* num_done, int indices[]);

/* ---- The same without init -------------------------------------------------------------------------------------------------
 *
 *   nuice_alltoallv(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm);   // for MPI_Alltoallv(...): the same arguments
 *
 * Collective over comm, as MPI's calls of these names; results are the same. No plan is made, so counts may differ in every
 * call, on any ranks. What the last 16 different calls needed is kept with comm and found again without communication.
 * Errors: in the first call on comm as above, on all ranks. Later a rank with an error tells the others, which return it from this call
 * or their next one; every later call on comm returns it, too. A message that is expected and not sent is waited for, as by
 * MPI; NUICE_OPTIONS="watchdog=10s" ends that with the names of the ranks. */

/** send may be MPI_IN_PLACE. */
NUICE_API int nuice_alltoallv(const void* send, const int send_counts[], const int send_displs[],
                              MPI_Datatype send_type, void* receive, const int receive_counts[],
                              const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
/** The same with counts of 64 bits. */
NUICE_API int nuice_alltoallv_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                                MPI_Datatype send_type, void* receive, const MPI_Count receive_counts[],
                                const MPI_Aint receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
/** Displacements in bytes, a type for each block. send may be MPI_IN_PLACE. */
NUICE_API int nuice_alltoallw(const void* send, const int send_counts[], const int send_displs[],
                              const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                              const int receive_displs[], const MPI_Datatype receive_types[], MPI_Comm comm);
/** The same with counts of 64 bits. */
NUICE_API int nuice_alltoallw_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                                const MPI_Datatype send_types[], void* receive,
                                const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                const MPI_Datatype receive_types[], MPI_Comm comm);
/** One block for each neighbour of comm, which has a topology. */
NUICE_API int nuice_neighbor_alltoallv(const void* send, const int send_counts[], const int send_displs[],
                                       MPI_Datatype send_type, void* receive, const int receive_counts[],
                                       const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
/** The same with counts of 64 bits. */
NUICE_API int nuice_neighbor_alltoallv_c(const void* send, const MPI_Count send_counts[],
                                         const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                         const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                         MPI_Datatype receive_type, MPI_Comm comm);
/** One block for each neighbour of comm, a type for each block, displacements in bytes. */
NUICE_API int nuice_neighbor_alltoallw(const void* send, const int send_counts[],
                                       const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                       void* receive, const int receive_counts[],
                                       const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                       MPI_Comm comm);
/** The same with counts of 64 bits. */
NUICE_API int nuice_neighbor_alltoallw_c(const void* send, const MPI_Count send_counts[],
                                         const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                         void* receive, const MPI_Count receive_counts[],
                                         const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                         MPI_Comm comm);
/** All of the calls without init; otherwise as nuice_alltoallv_init_f(). */
NUICE_API int nuice_alltoallv_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                nuice_fint comm, const char* fault);

/** The messages that nuice_sparse_alltoallv() has received. */
typedef struct nuice_received nuice_received;
/** Collective over comm. Sends counts[i] elements, displs[i] elements behind send, to ranks[i], num_messages of them, and receives what other
 * ranks send to this one, which need not know of it. Messages to itself and several to one rank are allowed; 0 elements are no message.
 * received: free it. Errors: as nuice::mpi::sparse_alltoallv (nuice/mpi/sparse_alltoallv.hpp). */
NUICE_API int nuice_sparse_alltoallv(const void* send, int num_messages, const int ranks[],
                                     const int counts[], const int displs[], MPI_Datatype type, MPI_Comm comm,
                                     nuice_received** received);
/** nuice_sparse_alltoallv() for other languages: message i has counts[i] elements of types[i], at addresses[i]. */
NUICE_API int nuice_sparse_alltoallv_f(int num_messages, const int ranks[], const void* const addresses[],
                                       const int64_t counts[], const nuice_fint types[], nuice_fint comm,
                                       nuice_received** received);
/** Not collective. The number of messages received. */
NUICE_API int nuice_received_size(const nuice_received* received, int* num_messages);
/** Not collective. Message i: from which rank, its bytes, and where they are until nuice_received_free(); at a multiple of 16 bytes. By
 * ascending rank, several of one rank in its order. */
NUICE_API int nuice_received_message(const nuice_received* received, int i, int* rank, int64_t* bytes,
                                     const void** data);
/** Not collective. Sets *received to NULL; NULL is freed already. */
NUICE_API int nuice_received_free(nuice_received** received);

/* ---- Halos: messages for the needed entries of a distributed array are found and planned once ------------------------------ */

/** Collective over comm. Rank r owns the global indices begins[r] .. begins[r + 1] - 1; num_ranks + 1 of them, equal on all
 * ranks. needed: num_needed global indices that this rank works with, in any order, its own allowed. entry_bytes: the usual
 * size of an entry, for schedulers that use sizes (8). Errors: parse; otherwise as nuice::mpi::Halo (nuice/mpi/halo.hpp). */
NUICE_API int nuice_halo_create_ranges(MPI_Comm comm, const int64_t begins[], int64_t num_needed,
                                       const int64_t needed[], int64_t entry_bytes, const char* options,
                                       nuice_halo** halo);
/** nuice_halo_create_ranges() with comm as Fortran has it. */
NUICE_API int nuice_halo_create_ranges_f(nuice_fint comm, const int64_t begins[], int64_t num_needed,
                                         const int64_t needed[], int64_t entry_bytes, const char* options,
                                         nuice_halo** halo);
/** Collective over comm. Global index g < num_indices belongs to owners[g], equal on all ranks; otherwise as above. */
NUICE_API int nuice_halo_create_owners(MPI_Comm comm, int64_t num_indices, const int owners[],
                                       int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                       const char* options, nuice_halo** halo);
/** nuice_halo_create_owners() with comm as Fortran has it. */
NUICE_API int nuice_halo_create_owners_f(nuice_fint comm, int64_t num_indices, const int owners[],
                                         int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                         const char* options, nuice_halo** halo);
/** Collective over comm. This rank owns the global indices owned[0 .. num_owned); no rank needs to know other owners. Otherwise as above. */
NUICE_API int nuice_halo_create_list(MPI_Comm comm, int64_t num_owned, const int64_t owned[],
                                     int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                     const char* options, nuice_halo** halo);
/** nuice_halo_create_list() with comm as Fortran has it. */
NUICE_API int nuice_halo_create_list_f(nuice_fint comm, int64_t num_owned, const int64_t owned[],
                                       int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                       const char* options, nuice_halo** halo);
/** Not collective. The numbers of this rank's owned entries and ghosts. */
NUICE_API int nuice_halo_num_entries(const nuice_halo* halo, int64_t* num_owned, int64_t* num_ghosts);
/** Not collective. ghosts: room for num_ghosts global indices: by ascending owner, of one owner by ascending index. */
NUICE_API int nuice_halo_ghosts(const nuice_halo* halo, int64_t ghosts[]);
/** Not collective. locals[j]: 0 .. num_owned - 1 where this rank owns globals[j], num_owned + k where it is ghost k. num_indices
 * each; both may be the same array. Errors: invalid_argument for an index that is neither. */
NUICE_API int nuice_halo_local_indices(const nuice_halo* halo, int64_t num_indices, const int64_t globals[],
                                       int64_t locals[]);
/** Not collective, but equal on all ranks. How field f of what is bound from now on travels; fields from num_fields on travel as they
 * are. For doubles: of a gather, entry_bytes must be a multiple of 8; fields of a scatter with other types travel as they are.
 * An invalid wire is an error of the bind. */
NUICE_API int nuice_halo_set_wires(nuice_halo* halo, int num_fields, const nuice_wire wires[]);
/** Collective. Fetches ghost values, of num_fields arrays at once: entry i of owned[f] lies i * entry_bytes[f] bytes behind it,
 * ghost k k * entry_bytes[f] bytes behind ghosts[f]. */
NUICE_API int nuice_halo_bind_gather(nuice_halo* halo, int num_fields, const void* const owned[],
                                     void* const ghosts[], const int64_t entry_bytes[],
                                     nuice_exchange** exchange);
/** Collective. Returns contributions: owned = op(owned, ghost) for every ghost, by ascending rank, of num_fields arrays at once
 * with components[f] values of types[f] per entry. Types: MPI's integers of 32 and 64 bits, reals and complex numbers of C and
 * Fortran; op: MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_REPLACE. Errors: not_applicable for others. */
NUICE_API int nuice_halo_bind_scatter(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                      void* const owned[], const int components[], const MPI_Datatype types[],
                                      MPI_Op op, nuice_exchange** exchange);
/** nuice_halo_bind_scatter() with types and op as Fortran has them. */
NUICE_API int nuice_halo_bind_scatter_f(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                        void* const owned[], const int components[], const nuice_fint types[],
                                        nuice_fint op, nuice_exchange** exchange);
/** Collective. For bindings of other languages, which check arrays themselves: whether all ranks may continue. error: an error of this
 * rank, or NULL; value: must be equal on all ranks, 0 or more. Errors: invalid_argument where one rank has an error, with its
 * text; mismatch where values differ. The halo stays usable. */
NUICE_API int nuice_halo_agree(nuice_halo* halo, int64_t value, const char* error);
/** Call it instead of the nuice_halo_bind_*() of the other ranks; otherwise as nuice_plan_refuse(). */
NUICE_API int nuice_halo_refuse(nuice_halo* halo, const char* error);
/** Collective. Sets *halo to NULL; NULL is freed already. Exchanges that are bound stay usable. */
NUICE_API int nuice_halo_free(nuice_halo** halo);
#endif

/* ---- The planner, without MPI. Not collective --------------------------------------------------------------------------- */

/** Message j goes from src[j] to dst[j] and has bytes[j] bytes; num_messages each. 0 bytes and src = dst become no messages.
 * Errors: invalid_argument for an invalid rank, a negative size, a pair given twice; limit. */
NUICE_API int nuice_matrix_create(int num_ranks, int64_t num_messages, const int src[], const int dst[],
                                  const int64_t bytes[], nuice_matrix** matrix);
/** From a Matrix Market file (docs/reference/formats.md). Errors: io, parse, limit. */
NUICE_API int nuice_matrix_load(const char* path, nuice_matrix** matrix);
/** To a Matrix Market file. Errors: io. */
NUICE_API int nuice_matrix_save(const nuice_matrix* matrix, const char* path);
/** The numbers of its ranks and messages. */
NUICE_API int nuice_matrix_size(const nuice_matrix* matrix, int* num_ranks, int64_t* num_messages);
/** src, dst, bytes: room for num_messages each, or NULL; by ascending src, then dst. */
NUICE_API int nuice_matrix_messages(const nuice_matrix* matrix, int src[], int dst[], int64_t bytes[]);
/** Sets *matrix to NULL; NULL is freed already. */
NUICE_API int nuice_matrix_free(nuice_matrix** matrix);

/** options: "scheduler=NAME seed=N phase_cost=BYTES prefer_pairs=BOOL topology=SPEC"; NULL or "": rs_n. It is checked.
 * Errors: parse, invalid_argument, not_applicable, limit. */
NUICE_API int nuice_schedule_create(const nuice_matrix* matrix, const char* options,
                                    nuice_schedule** schedule);
/** From a file that nuice_schedule_save() or `nuice plan` wrote. Errors: io, parse; mismatch: for another matrix. */
NUICE_API int nuice_schedule_load(const nuice_matrix* matrix, const char* path, nuice_schedule** schedule);
/** To a file (docs/reference/formats.md). Errors: io; mismatch: of another matrix. */
NUICE_API int nuice_schedule_save(const nuice_schedule* schedule, const nuice_matrix* matrix,
                                  const char* path);
/** Verifies that it delivers the matrix and keeps its scheduler's guarantees. Errors: mismatch, with the first violation. */
NUICE_API int nuice_schedule_check(const nuice_schedule* schedule, const nuice_matrix* matrix);
/** The numbers of its phases, and of the pieces of messages in all its transfers. */
NUICE_API int nuice_schedule_size(const nuice_schedule* schedule, int64_t* num_phases, int64_t* num_pieces);
/** Piece p travels in phase[p] from src[p] to dst[p] and is the bytes offset[p] .. offset[p] + bytes[p] - 1 of the message
 * from message_src[p] to message_dst[p]. Room for num_pieces each, or NULL; by ascending phase. */
NUICE_API int nuice_schedule_pieces(const nuice_schedule* schedule, int64_t phase[], int src[], int dst[],
                                    int message_src[], int message_dst[], int64_t offset[], int64_t bytes[]);
/** Sets *schedule to NULL; NULL is freed already. */
NUICE_API int nuice_schedule_free(nuice_schedule** schedule);

/** Which scheduler and executor suit a matrix. options: "machine=NAME_OR_FILE reuse=N seed=N"; NULL or "": an ethernet-10g.
 * Errors: parse, io, invalid_argument, mismatch, not_applicable. */
NUICE_API int nuice_advice_create(const nuice_matrix* matrix, const char* options, nuice_advice** advice);
/** scheduler, executor, sentence (why), text (a table for people), json (docs/explanation/advise.md). Errors: invalid_argument. */
NUICE_API int nuice_advice_text(const nuice_advice* advice, const char* name, const char** text);
/** Sets *advice to NULL; NULL is freed already. */
NUICE_API int nuice_advice_free(nuice_advice** advice);

/* ---- Names. Not collective ---------------------------------------------------------------------------------------------- */

/** "0.3.0". Never NULL. */
NUICE_API const char* nuice_version(void);
/** The MPI that this library was built with, which must be the program's: "openmpi", "mpich", "mpi_abi" (the ABI of MPI 5), or
 * "" without. Never NULL. */
NUICE_API const char* nuice_mpi_name(void);
/** "invalid_argument" for NUICE_ERR_INVALID_ARGUMENT; "unknown" for a number that is no status. Never NULL. */
NUICE_API const char* nuice_status_name(int status);
/** Entry `index` of a registry (schedulers, executors, or, with MPI, options of plans): its name and one line about it;
 * both are NULL behind the last entry, and are never freed. Errors: invalid_argument for an unknown registry or a negative index. */
NUICE_API int nuice_table_row(const char* table, int64_t index, const char** name, const char** summary);

#ifdef __cplusplus
}
#endif
#endif
