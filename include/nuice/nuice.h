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
/** MPI's handles as integers: MPI_Fint. The mpi.h of the MPI 5 ABI has no MPI_Fint; there it is the int of
 * MPI_Comm_toint(). */
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
typedef struct nuice_halo nuice_halo; /**< Ghosts, their owners, the ranks that need this rank's entries. */
typedef struct nuice_matrix nuice_matrix;     /**< The bytes from each rank to each other. */
typedef struct nuice_schedule nuice_schedule; /**< Phases of transfers of pieces of messages. */
typedef struct nuice_advice nuice_advice;     /**< The candidates, the choice and its reason. */

/** The regions that a profiler sees (nuice/mpi/observer.hpp). */
typedef enum nuice_region {
  NUICE_REGION_PLAN = 0,
  NUICE_REGION_EXCHANGE = 1,
  NUICE_REGION_PHASE = 2
} nuice_region;
/** Functions that the library calls with `data` and a number that distinguishes exchanges or phases. They may
 * be NULL, and must not call the library. */
typedef struct nuice_observer {
  void (*begin)(void* data, nuice_region region, int64_t which);
  void (*end)(void* data, nuice_region region, int64_t which);
  void* data;
} nuice_observer;

/** Not collective. One line about the last call of this thread that failed; "" before any. Valid until the next
 * call of this thread that fails. Never NULL. */
NUICE_API const char* nuice_error_text(void);

#ifndef NUICE_NO_MPI
/** Not collective. The library copies observer and calls its functions from now on; NULL: none. No other
 * thread may be inside a call meanwhile. */
NUICE_API int nuice_observe(const nuice_observer* observer);

/* ---- Plans ---------------------------------------------------------------------------------------------------------- */

/** Collective over comm, which may be freed afterwards. ranks, bytes: num_destinations entries each: the
 * ranks to which this rank sends, and the bytes for each, in any order; the rank itself and 0 bytes are
 * allowed. options: "scheduler=coloring executor=async"
 * (docs/reference/options.md), equal on all ranks; NULL or "": the defaults. plan: free it with nuice_plan_free().
 * Errors: parse; invalid_argument, limit, mismatch, not_applicable, state, io, mpi as nuice::mpi::Plan (nuice/mpi/plan.hpp). */
NUICE_API int nuice_plan_create(MPI_Comm comm, int num_destinations, const int ranks[], const int64_t bytes[],
                                const char* options, nuice_plan** plan);
/** nuice_plan_create() with comm as Fortran has it. */
NUICE_API int nuice_plan_create_f(nuice_fint comm, int num_destinations, const int ranks[],
                                  const int64_t bytes[], const char* options, nuice_plan** plan);
/** Collective over comm. Makes a plan from an existing schedule, equal on all ranks, and the matrix for which
 * it was made. The schedule comes from a file or from nuice_schedule_create(), and is checked. options: as
 * above; those of the scheduler have no effect. Errors: mismatch if communicator, matrix and schedule do not
 * belong together; parse; otherwise as above. */
NUICE_API int nuice_plan_create_from_schedule(MPI_Comm comm, const nuice_matrix* matrix,
                                              const nuice_schedule* schedule, const char* options,
                                              nuice_plan** plan);
/** nuice_plan_create_from_schedule() with comm as Fortran has it. */
NUICE_API int nuice_plan_create_from_schedule_f(nuice_fint comm, const nuice_matrix* matrix,
                                                const nuice_schedule* schedule, const char* options,
                                                nuice_plan** plan);
/** Collective. Makes a plan for a changed matrix, with the options of `plan`, which is not changed. ranks,
 * bytes: all current destinations, as for nuice_plan_create(). With "planning=distributed
 * scheduler=distributed_coloring" only the changes are planned (nuice::mpi::Plan::follow(),
 * nuice/mpi/plan.hpp). followed: free it too. Errors: as nuice_plan_create(); mismatch if ranks follow
 * different plans. */
NUICE_API int nuice_plan_follow(const nuice_plan* plan, int num_destinations, const int ranks[],
                                const int64_t bytes[], nuice_plan** followed);
/** Collective over comm, which consists of ranks of this plan, in any order: the ranks left after a death
 * (MPIX_Comm_shrink), or some of them. Makes a plan for the messages among these ranks, with the options of
 * `plan`, which is not changed. Ranks are numbered as in comm; the destinations keep their order, without the
 * ranks that are not in comm. followed: free it too. Errors: as nuice_plan_create(); mismatch if ranks follow
 * different plans; invalid_argument if a rank of comm does not belong to the plan. */
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
/** Collective. Sets *plan to NULL; does nothing for NULL. Exchanges that are bound stay usable. */
NUICE_API int nuice_plan_free(nuice_plan** plan);

/* ---- Binding: collective; the memory must stay valid until nuice_exchange_free(); errors as nuice::mpi::Plan::bind() ---- */

/** One buffer per partner: send[i] holds the message to destination i, receive[i] has room for the message
 * from source i. Backwards, send[i] belongs to source i and receive[i] to destination i. */
NUICE_API int nuice_plan_bind(nuice_plan* plan, const void* const send[], void* const receive[],
                              nuice_direction direction, nuice_exchange** exchange);
/** One buffer for all partners. Message i begins send_offsets[i] bytes behind send; the buffer has send_bytes
 * bytes (NUICE_ANY_ROOM: not checked). The same holds for receive. With NULL offsets the messages are
 * contiguous. */
NUICE_API int nuice_plan_bind_array(nuice_plan* plan, const void* send, int64_t send_bytes,
                                    const int64_t send_offsets[], void* receive, int64_t receive_bytes,
                                    const int64_t receive_offsets[], nuice_direction direction,
                                    nuice_exchange** exchange);
/** Several fields in one exchange. Field f lies at send[f]. For partner i it has send_counts[f * partners +
 * i] elements of send_types[f], beginning send_offsets[f * partners + i] extents behind send[f]. The same
 * holds for receive. With NULL offsets the elements are contiguous. All ranks must have the same number of
 * fields, and both ends of a message the same number of bytes. Types must be committed and may be freed
 * afterwards. */
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

/** Call it on this rank while the other ranks call nuice_plan_bind*(): all ranks then return this error. For
 * bindings of other languages, which check memory themselves. Errors: invalid_argument, always. */
NUICE_API int nuice_plan_refuse(nuice_plan* plan, const char* error);

/* ---- Exchanges: after every start one wait, or test until done, or next until there is none ---------------------------- */

/** All ranks of the plan must call it; it does not wait for them. Errors: state if it is active already; mpi. */
NUICE_API int nuice_exchange_start(nuice_exchange* exchange);
/** nuice_exchange_start() for buffers in GPU memory: the exchange follows the earlier work on a stream of the
 * program (cudaStream_t, hipStream_t). With host memory the stream has no effect. */
NUICE_API int nuice_exchange_start_on(nuice_exchange* exchange, void* stream);
/** nuice_exchange_wait() for buffers in GPU memory: later work on the stream finds the data. With host memory
 * the stream has no effect. */
NUICE_API int nuice_exchange_wait_on(nuice_exchange* exchange, void* stream);
/** Not collective. Makes progress; done: 1 when this rank's part is complete. Errors: state without a start; mpi, timeout. */
NUICE_API int nuice_exchange_test(nuice_exchange* exchange, int* done);
/** Not collective. Returns when this rank's part is complete. Errors: state without a start; mpi; timeout. */
NUICE_API int nuice_exchange_wait(nuice_exchange* exchange);
/** Not collective. Waits for the next message to arrive. partner: its index among the sources (backwards:
 * among the destinations), or -1 when this rank's part is complete. Errors: as nuice_exchange_wait();
 * not_applicable for the exchange of a halo. */
NUICE_API int nuice_exchange_next(nuice_exchange* exchange, int* partner);
/** Not collective. As nuice_exchange_next(), but does not wait: partner is -1 also if no message has arrived
 * yet. */
NUICE_API int nuice_exchange_poll(nuice_exchange* exchange, int* partner);
/** Not collective. under_way: 1 if it was started and is not yet known to be complete. */
NUICE_API int nuice_exchange_is_under_way(const nuice_exchange* exchange, int* under_way);
/** Not collective. A string by name. executor: the one in use; shared_memory: how many messages use shared
 * memory, or why none does ("" if it is not requested); device: how buffers in GPU memory are transferred,
 * and why ("" without any); methods: with scheduler=auto or device=auto, the methods tried and their seconds
 * on the slowest rank ("coloring:async 0.136 s, bruck_kport:phased 0.345 s (out)"; out: no longer tried), else "". */
NUICE_API int nuice_exchange_text(const nuice_exchange* exchange, const char* name, const char** text);
/** Collective, without waiting for other ranks. Sets *exchange to NULL; does nothing for NULL. Errors: state
 * while active. */
NUICE_API int nuice_exchange_free(nuice_exchange** exchange);

/* ---- Replacing an MPI call: the arguments of MPI's, with a nuice_request instead of an MPI_Request ----------------------
 *
 *   nuice_request x;
 *   nuice_alltoallv_init(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm, MPI_INFO_NULL, &x);
 *   for (int i = 0; i < steps; ++i) { nuice_start(x); nuice_wait(x); }
 *   nuice_free(&x);
 *
 * Collective over comm. Arguments and results are those of MPI's calls of these names;
 * names that end in _c take 64-bit counts, as in MPI 4. The buffers must stay valid until nuice_free();
 * arrays of counts, displacements and types, and the types themselves, may be freed earlier. Blocks of 0
 * elements are not messages.
 * info: MPI_INFO_NULL; or the key "nuice" with options ("scheduler=coloring watchdog=10s", docs/reference/options.md), equal on all
 * ranks; other keys are ignored. Without options the scheduler is auto.
 * Errors: invalid_argument for a negative count, receive blocks that overlap (found for types without gaps), a communicator without
 * neighbours, an intercommunicator; mismatch if a rank expects another number of bytes than is sent to it
 * (the text names the pair of ranks); otherwise as nuice_plan_create() and nuice_plan_bind(). After an error
 * request is NULL. An error handler that the program has set on comm is called, with
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
/** One block for each neighbour of comm, which must have a topology. */
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

/** Flags of nuice_alltoallv_init_f(); their sum selects both. */
enum {
  NUICE_CALL_NEIGHBOR = 1, /**< One block for each neighbour, not for each rank. */
  NUICE_CALL_TYPES = 2     /**< A type for each block, and displacements in bytes, as MPI_Alltoallw. */
};
/** One side of such a call, for other languages: all arrays with their lengths. */
typedef struct nuice_blocks_f {
  const void* data;   /**< For sending also MPI_IN_PLACE, of C or of Fortran. */
  int64_t bytes;      /**< Size of the array; NUICE_ANY_ROOM: not checked. */
  int64_t stride;     /**< Bytes from one element of the array to the next; 0: the type's. */
  int64_t num_blocks; /**< Entries of counts and displs each. */
  const void* counts;
  const void* displs;
  int count_bytes;   /**< Of each count: 4 or 8. */
  int displ_bytes;   /**< Of each displacement: 4 or 8. */
  int64_t num_types; /**< 1, or with NUICE_CALL_TYPES num_blocks. */
  const nuice_fint* types;
} nuice_blocks_f;
/** Any of the calls above, with MPI's handles as Fortran has them. call: 0 or NUICE_CALL_ flags. options: as
 * for nuice_plan_create(); NULL or "": scheduler auto. fault: an error that the caller has found in the
 * arguments, and that all ranks then return; NULL or "": none. */
NUICE_API int nuice_alltoallv_init_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                     nuice_fint comm, const char* options, const char* fault,
                                     nuice_request* request);

/** nuice_exchange_start(). nuice_start, nuice_test, nuice_wait and nuice_free are named like MPI's functions
 * for requests. */
NUICE_API int nuice_start(nuice_request request);
/** nuice_exchange_test(). */
NUICE_API int nuice_test(nuice_request request, int* done);
/** nuice_exchange_wait(). */
NUICE_API int nuice_wait(nuice_request request);
/** As MPI_Pready, for a request with the option parts (info key "nuice", "parts=true"): block i may be sent.
 * With this option nuice_start() sends nothing. Every start needs one call for each block, empty ones
 * included; nuice_wait() returns after the last. Any thread may call it, while another waits. Errors: state
 * before nuice_start() and for a second call; invalid_argument if there is no block i; not_applicable without
 * the option. */
NUICE_API int nuice_ready(nuice_request request, int i);
/** As MPI_Parrived. Any thread may call it. arrived: 1 when block i has arrived. */
NUICE_API int nuice_arrived(nuice_request request, int i, int* arrived);
/** nuice_exchange_free(). */
NUICE_API int nuice_free(nuice_request* request);
/** As MPI_Waitall, for exchanges of any kind: returns when all active ones are complete. NULL and exchanges
 * that were not started are skipped. Errors: as nuice_wait() for the first exchange that fails; the others
 * are not affected. */
NUICE_API int nuice_waitall(int count, const nuice_request requests[]);
/** nuice_waitall() together with MPI requests; statuses: of the MPI requests, or NULL. */
NUICE_API int nuice_waitall_mpi(int count, const nuice_request requests[], int mpi_count,
                                MPI_Request mpi_requests[], MPI_Status statuses[]);
/** nuice_waitall_mpi() with requests as Fortran has them. */
NUICE_API int nuice_waitall_mpi_f(int count, const nuice_request requests[], int mpi_count,
                                  nuice_fint mpi_requests[]);
/** Waits until one of the active exchanges is complete; index: which one, or -1 if none was active. */
NUICE_API int nuice_waitany(int count, const nuice_request requests[], int* index);
/** Does not wait. indices: room for count numbers; gets the positions of the num_done exchanges that were
 * active and are now complete. */
NUICE_API int nuice_testsome(int count, const nuice_request requests[], int* num_done, int indices[]);

/* ---- The same without init -------------------------------------------------------------------------------------------------
 *
 *   nuice_alltoallv(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm);   // for MPI_Alltoallv(...): the same arguments
 *
 * Collective over comm, as MPI's calls of these names; results are the same. No plan is made, so counts may differ in every
 * call, on any ranks. The state of the last 16 different calls is kept with comm and found again without
 * communication.
 * Errors: in the first call on comm as above, on all ranks. Later a rank with an error tells the others, which return it from this call
 * or their next one; every later call on comm returns it, too. A call waits for a message that is expected
 * but not sent, as in MPI; NUICE_OPTIONS="watchdog=10s" ends the wait with an error that names the ranks. */

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
/** One block for each neighbour of comm, which must have a topology. */
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
/** Any of the calls without init; otherwise as nuice_alltoallv_init_f(). */
NUICE_API int nuice_alltoallv_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                nuice_fint comm, const char* fault);

/** The messages that nuice_sparse_alltoallv() has received. */
typedef struct nuice_received nuice_received;
/** Collective over comm. Sends num_messages messages: message i has counts[i] elements, begins displs[i]
 * elements behind send, and goes to ranks[i]. Receives all messages to this rank, whose senders and sizes it
 * need not know. Several messages to one rank and messages to itself are allowed; 0 elements are not messages.
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
/** Not collective. Message i: the rank that sent it, its size in bytes, and its data, aligned to 16 bytes and
 * valid until nuice_received_free(). Messages are sorted by rank; those of one rank are in its order of
 * sending. */
NUICE_API int nuice_received_message(const nuice_received* received, int i, int* rank, int64_t* bytes,
                                     const void** data);
/** Not collective. Sets *received to NULL; does nothing for NULL. */
NUICE_API int nuice_received_free(nuice_received** received);

/* ---- Halos: messages for the needed entries of a distributed array are found and planned once ------------------------------ */

/** Collective over comm. Rank r owns the global indices begins[r] .. begins[r + 1] - 1; begins has num_ranks
 * + 1 entries, equal on all ranks. needed: the num_needed global indices that this rank works with, in any
 * order; own ones are allowed. entry_bytes: the usual size of an entry, such as 8, for schedulers that use
 * sizes. Errors: parse; otherwise as nuice::mpi::Halo (nuice/mpi/halo.hpp). */
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
/** Not collective. ghosts: room for num_ghosts global indices, sorted by owner, then by index. */
NUICE_API int nuice_halo_ghosts(const nuice_halo* halo, int64_t ghosts[]);
/** Not collective. Translates num_indices global indices: locals[j] is 0 .. num_owned - 1 if this rank owns
 * globals[j], and num_owned + k if it is ghost k. Both may be the same array. Errors: invalid_argument for an
 * index that is neither. */
NUICE_API int nuice_halo_local_indices(const nuice_halo* halo, int64_t num_indices, const int64_t globals[],
                                       int64_t locals[]);
/** Not collective, but equal on all ranks. Sets how field f travels in exchanges that are bound from now on;
 * fields from num_fields on travel unchanged. Only doubles are converted: in a gather entry_bytes must be a
 * multiple of 8; in a scatter fields of other types travel unchanged. nuice_halo_bind_*() reports an invalid
 * wire. */
NUICE_API int nuice_halo_set_wires(nuice_halo* halo, int num_fields, const nuice_wire wires[]);
/** Collective. Fetches the ghost values of num_fields arrays at once. Entry i of field f lies i *
 * entry_bytes[f] bytes behind owned[f]; ghost k lies k * entry_bytes[f] bytes behind ghosts[f]. */
NUICE_API int nuice_halo_bind_gather(nuice_halo* halo, int num_fields, const void* const owned[],
                                     void* const ghosts[], const int64_t entry_bytes[],
                                     nuice_exchange** exchange);
/** Collective. Returns the contributions of num_fields arrays at once: owned = op(owned, ghost) for every
 * ghost, by ascending rank. Field f has components[f] values of types[f] per entry. Types: MPI's integers of
 * 32 and 64 bits, reals and complex numbers of C and
 * Fortran; op: MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_REPLACE. Errors: not_applicable for other types and
 * operations. */
NUICE_API int nuice_halo_bind_scatter(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                      void* const owned[], const int components[], const MPI_Datatype types[],
                                      MPI_Op op, nuice_exchange** exchange);
/** nuice_halo_bind_scatter() with types and op as Fortran has them. */
NUICE_API int nuice_halo_bind_scatter_f(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                        void* const owned[], const int components[], const nuice_fint types[],
                                        nuice_fint op, nuice_exchange** exchange);
/** Collective. For bindings of other languages, which check arrays themselves: finds out whether all ranks
 * may continue. error: an error of this rank, or NULL; value: 0 or more, must be equal on all ranks. Errors:
 * invalid_argument if one rank has an error, with its text; mismatch if values differ. The halo stays usable. */
NUICE_API int nuice_halo_agree(nuice_halo* halo, int64_t value, const char* error);
/** Call it on this rank while the other ranks call nuice_halo_bind_*(); otherwise as nuice_plan_refuse(). */
NUICE_API int nuice_halo_refuse(nuice_halo* halo, const char* error);
/** Collective. Sets *halo to NULL; does nothing for NULL. Exchanges that are bound stay usable. */
NUICE_API int nuice_halo_free(nuice_halo** halo);
#endif

/* ---- The planner, without MPI. Not collective --------------------------------------------------------------------------- */

/** Message j goes from src[j] to dst[j] and has bytes[j] bytes; num_messages each. 0 bytes and src = dst become no messages.
 * Errors: invalid_argument for an invalid rank, a negative size, a pair given twice; limit. */
NUICE_API int nuice_matrix_create(int num_ranks, int64_t num_messages, const int src[], const int dst[],
                                  const int64_t bytes[], nuice_matrix** matrix);
/** Reads a Matrix Market file (docs/reference/formats.md). Errors: io, parse, limit. */
NUICE_API int nuice_matrix_load(const char* path, nuice_matrix** matrix);
/** Writes a Matrix Market file. Errors: io. */
NUICE_API int nuice_matrix_save(const nuice_matrix* matrix, const char* path);
/** The numbers of ranks and messages. */
NUICE_API int nuice_matrix_size(const nuice_matrix* matrix, int* num_ranks, int64_t* num_messages);
/** src, dst, bytes: room for num_messages each, or NULL; by ascending src, then dst. */
NUICE_API int nuice_matrix_messages(const nuice_matrix* matrix, int src[], int dst[], int64_t bytes[]);
/** Sets *matrix to NULL; does nothing for NULL. */
NUICE_API int nuice_matrix_free(nuice_matrix** matrix);

/** Makes and checks a schedule. options: "scheduler=NAME seed=N phase_cost=BYTES prefer_pairs=BOOL
 * topology=SPEC"; NULL or "": rs_n.
 * Errors: parse, invalid_argument, not_applicable, limit. */
NUICE_API int nuice_schedule_create(const nuice_matrix* matrix, const char* options,
                                    nuice_schedule** schedule);
/** Reads a file that nuice_schedule_save() or `nuice plan` wrote. Errors: io, parse; mismatch if it is for
 * another matrix. */
NUICE_API int nuice_schedule_load(const nuice_matrix* matrix, const char* path, nuice_schedule** schedule);
/** Writes a file (docs/reference/formats.md). Errors: io; mismatch if the schedule is for another matrix. */
NUICE_API int nuice_schedule_save(const nuice_schedule* schedule, const nuice_matrix* matrix,
                                  const char* path);
/** Verifies that the schedule delivers the matrix and keeps its scheduler's guarantees. Errors: mismatch,
 * with the first violation. */
NUICE_API int nuice_schedule_check(const nuice_schedule* schedule, const nuice_matrix* matrix);
/** The numbers of phases, and of the pieces of messages in all transfers. */
NUICE_API int nuice_schedule_size(const nuice_schedule* schedule, int64_t* num_phases, int64_t* num_pieces);
/** Piece p travels in phase[p] from src[p] to dst[p] and is the bytes offset[p] .. offset[p] + bytes[p] - 1 of the message
 * from message_src[p] to message_dst[p]. Room for num_pieces each, or NULL; by ascending phase. */
NUICE_API int nuice_schedule_pieces(const nuice_schedule* schedule, int64_t phase[], int src[], int dst[],
                                    int message_src[], int message_dst[], int64_t offset[], int64_t bytes[]);
/** Sets *schedule to NULL; does nothing for NULL. */
NUICE_API int nuice_schedule_free(nuice_schedule** schedule);

/** Which scheduler and executor suit a matrix. options: "machine=NAME_OR_FILE reuse=N seed=N"; NULL or "":
 * the machine ethernet-10g.
 * Errors: parse, io, invalid_argument, mismatch, not_applicable. */
NUICE_API int nuice_advice_create(const nuice_matrix* matrix, const char* options, nuice_advice** advice);
/** A string by name: scheduler, executor, sentence (why), text (a table for people), json
 * (docs/explanation/advise.md). Errors: invalid_argument. */
NUICE_API int nuice_advice_text(const nuice_advice* advice, const char* name, const char** text);
/** Sets *advice to NULL; does nothing for NULL. */
NUICE_API int nuice_advice_free(nuice_advice** advice);

/* ---- Names. Not collective ---------------------------------------------------------------------------------------------- */

/** "0.3.0". Never NULL. */
NUICE_API const char* nuice_version(void);
/** The MPI that this library was built with, which must be the program's: "openmpi", "mpich", "mpi_abi" (the ABI of MPI 5), or
 * "" without. Never NULL. */
NUICE_API const char* nuice_mpi_name(void);
/** "invalid_argument" for NUICE_ERR_INVALID_ARGUMENT; "unknown" for a number that is not a status. Never NULL. */
NUICE_API const char* nuice_status_name(int status);
/** Entry `index` of a registry (schedulers, executors, or, with MPI, options of plans): its name and one line about it;
 * both are NULL after the last entry, and must not be freed. Errors: invalid_argument for an unknown
 * registry or a negative index. */
NUICE_API int nuice_table_row(const char* table, int64_t index, const char** name, const char** summary);

#ifdef __cplusplus
}
#endif
#endif
