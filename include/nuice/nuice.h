/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API of NUICE, from simple to advanced: plans and exchanges, halos, the planner without MPI, names.
 *
 *   int to[] = {3, 5};
 *   int64_t bytes[] = {4096, 1024};                             // the bytes for each destination
 *   nuice_plan* plan = NULL;
 *   if (nuice_plan_create(comm, 2, to, bytes, "scheduler=auto", &plan) != NUICE_OK) puts(nuice_error_text());
 *   nuice_exchange* x = NULL;
 *   nuice_plan_bind(plan, send_buffers, receive_buffers, NUICE_FORWARDS, &x);
 *   for (...) { nuice_exchange_start(x); work(); nuice_exchange_wait(x); }
 *   nuice_exchange_free(&x);
 *   nuice_plan_free(&plan);
 *
 * Functions return a nuice_status, except functions that return a string. nuice_error_text() describes the
 * last error of the calling thread. Outputs are written on success only. No exception leaves the library.
 * "Collective": all ranks of the communicator must call the function, and it fails on all of them with the
 * same status, or on none. The exception is a NULL handle: the rank that passes it fails alone, and the other
 * ranks wait until the option watchdog ends their wait (without this option: forever).
 * Arrays without entries may be NULL. A handle belongs to one thread at a time: if a second thread uses an
 * exchange at the same time, its call returns NUICE_ERR_STATE, as does any call in a forked child process. A
 * string of a handle is valid until the handle is freed or the same function is called again with this
 * handle.
 * Functions whose names end in _f take MPI handles as integers, for Fortran and other languages. Active
 * messages and broadcasts exist in C++ only (nuice/mpi.hpp). If NUICE_NO_MPI is defined, this header declares
 * only the planner and the names. */
#ifndef NUICE_NUICE_H
#define NUICE_NUICE_H

#include <stdint.h>
#ifndef NUICE_NO_MPI
#include <mpi.h>
/** An MPI handle as an integer: MPI_Fint. The mpi.h of the MPI 5 ABI has no MPI_Fint; there it is the int
 * that MPI_Comm_toint() returns. */
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

/** The result of a call. The numbers are the same as in nuice::ErrorCode and never change. */
typedef enum nuice_status {
  NUICE_OK = 0,
  NUICE_ERR_INVALID_ARGUMENT = 1, /**< The call does not accept a value; also for a NULL handle. */
  NUICE_ERR_PARSE = 2,            /**< An option string or a file has a syntax error. */
  NUICE_ERR_IO = 3,               /**< A file cannot be opened, read or written. */
  NUICE_ERR_NOT_APPLICABLE = 4,   /**< The scheduler cannot handle this matrix. */
  NUICE_ERR_LIMIT = 5,            /**< A size cannot be represented or sent, or memory is exhausted. */
  NUICE_ERR_MISMATCH = 6,         /**< Arguments do not match each other: ranks, plan and matrix. */
  NUICE_ERR_STATE = 7,            /**< A call out of order: wait without start, free while active. */
  NUICE_ERR_MPI = 8,              /**< MPI returned an error; the text contains the text of MPI. */
  NUICE_ERR_TIMEOUT = 9,          /**< No progress for longer than the option watchdog allows. */
  NUICE_ERR_DEVICE = 10           /**< The driver of a GPU returned an error. */
} nuice_status;

/* clang-format off */
/** The direction of a plan's messages. */
typedef enum nuice_direction
#ifdef __cplusplus
    : int /* so that a wrong value from C can be detected */
#endif
{
  NUICE_FORWARDS = 0, /**< From the ranks that listed destinations to these destinations. */
  NUICE_BACKWARDS = 1 /**< The reverse: each rank sends to its sources and receives from its destinations. */
} nuice_direction;
/** How the doubles of a halo's field are sent (nuice/mpi/halo_field.hpp). */
typedef enum nuice_wire
#ifdef __cplusplus
    : int /* so that a wrong value from C can be detected */
#endif
{
  NUICE_WIRE_AS_IS = 0,   /**< Unchanged. */
  NUICE_WIRE_FLOAT32 = 1, /**< In half the bytes, with a relative error of at most 2^-24. */
  NUICE_WIRE_BFLOAT16 = 2 /**< In a quarter of the bytes, with a relative error of at most 2^-8. */
} nuice_wire;
/* clang-format on */

/** The size of a buffer whose size is unknown; the buffer is then not checked. */
#define NUICE_ANY_ROOM ((int64_t)-1)

typedef struct nuice_plan nuice_plan;         /**< This rank's part of a checked schedule. */
typedef struct nuice_exchange nuice_exchange; /**< A plan or a halo bound to memory. */
typedef struct nuice_halo nuice_halo;         /**< Ghosts, their owners, and ranks that need owned entries. */
typedef struct nuice_matrix nuice_matrix;     /**< The number of bytes from each rank to each other rank. */
typedef struct nuice_schedule nuice_schedule; /**< Phases of transfers, each of pieces of messages. */
typedef struct nuice_advice nuice_advice;     /**< The candidates, the chosen one, and the reason. */

/** A region that the library reports to a profiler (nuice/mpi/observer.hpp). */
typedef enum nuice_region {
  NUICE_REGION_PLAN = 0,
  NUICE_REGION_EXCHANGE = 1,
  NUICE_REGION_PHASE = 2
} nuice_region;
/** Functions that the library calls when a region begins and ends. `which` identifies the exchange, or is the
 * number of the phase. The functions may be NULL, and must not call the library. */
typedef struct nuice_observer {
  void (*begin)(void* data, nuice_region region, int64_t which);
  void (*end)(void* data, nuice_region region, int64_t which);
  void* data;
} nuice_observer;

/** Not collective. Returns one line about the last failed call of this thread; "" if no call has failed. The
 * string is valid until the next call of this thread fails. Never returns NULL. */
NUICE_API const char* nuice_error_text(void);

#ifndef NUICE_NO_MPI
/** Not collective. Sets the observer; NULL removes it. The library copies *observer. During this call,
 * no other thread may be inside a call of the library. */
NUICE_API int nuice_observe(const nuice_observer* observer);

/* ---- Plans --------------------------------------------------------------------------------------------- */

/** Collective over comm. Makes a plan; comm may be freed afterwards. This rank sends bytes[i] bytes to rank
 * ranks[i]. Both arrays have num_destinations entries, in any order; this rank itself and 0 bytes are
 * allowed. options: a string such as "scheduler=coloring executor=async" (docs/reference/options.md), equal
 * on all ranks; NULL or "" means the defaults. Free the plan by nuice_plan_free(). Errors: NUICE_ERR_PARSE if
 * `options` has a syntax error; otherwise the errors of nuice::mpi::Plan (nuice/mpi/plan.hpp). */
NUICE_API int nuice_plan_create(MPI_Comm comm, int num_destinations, const int ranks[], const int64_t bytes[],
                                const char* options, nuice_plan** plan);
/** nuice_plan_create() with an integer handle of comm. */
NUICE_API int nuice_plan_create_f(nuice_fint comm, int num_destinations, const int ranks[],
                                  const int64_t bytes[], const char* options, nuice_plan** plan);
/** Collective over comm. Makes a plan from an existing schedule and the matrix for which it was made; both
 * must be equal on all ranks. The schedule comes from nuice_schedule_load() or nuice_schedule_create(). This
 * function checks it. options: as for nuice_plan_create(), but options of the scheduler have no effect.
 * Errors: NUICE_ERR_MISMATCH if communicator, matrix and schedule do not belong together; otherwise as
 * nuice_plan_create(). */
NUICE_API int nuice_plan_create_from_schedule(MPI_Comm comm, const nuice_matrix* matrix,
                                              const nuice_schedule* schedule, const char* options,
                                              nuice_plan** plan);
/** nuice_plan_create_from_schedule() with an integer handle of comm. */
NUICE_API int nuice_plan_create_from_schedule_f(nuice_fint comm, const nuice_matrix* matrix,
                                                const nuice_schedule* schedule, const char* options,
                                                nuice_plan** plan);
/** Collective. Makes a new plan for a changed matrix, with the options of `plan`; `plan` does not change.
 * ranks, bytes: all destinations in the changed matrix, as for nuice_plan_create(). If the options of `plan`
 * are "planning=distributed scheduler=distributed_coloring", only the changes are planned
 * (nuice::mpi::Plan::follow(), nuice/mpi/plan.hpp). Free both plans. Errors: as nuice_plan_create();
 * NUICE_ERR_MISMATCH if ranks follow different plans. */
NUICE_API int nuice_plan_follow(const nuice_plan* plan, int num_destinations, const int ranks[],
                                const int64_t bytes[], nuice_plan** followed);
/** Collective over comm. Makes a new plan for the messages among the ranks of comm, with the options of
 * `plan`; `plan` does not change. comm contains only ranks of `plan`, in any order: for example the ranks
 * that survive when others have died (MPIX_Comm_shrink). The new plan numbers ranks as in comm. It keeps the
 * order of the destinations, and omits ranks outside comm. Free both plans. Errors: as nuice_plan_create();
 * NUICE_ERR_MISMATCH if ranks follow different plans; NUICE_ERR_INVALID_ARGUMENT if a rank of comm does not
 * belong to the plan. */
NUICE_API int nuice_plan_follow_on(const nuice_plan* plan, MPI_Comm comm, nuice_plan** followed);
/** nuice_plan_follow_on() with an integer handle of comm. */
NUICE_API int nuice_plan_follow_on_f(const nuice_plan* plan, nuice_fint comm, nuice_plan** followed);
/** Not collective. Gets the numbers of this rank's destinations and sources. */
NUICE_API int nuice_plan_num_partners(const nuice_plan* plan, int* num_destinations, int* num_sources);
/** Not collective. Gets the destinations in the order of nuice_plan_create(). ranks, bytes: arrays of
 * num_destinations entries, or NULL. */
NUICE_API int nuice_plan_destinations(const nuice_plan* plan, int ranks[], int64_t bytes[]);
/** Not collective. Gets the sources by ascending rank. ranks, bytes: arrays of num_sources entries, or NULL.
 * */
NUICE_API int nuice_plan_sources(const nuice_plan* plan, int ranks[], int64_t bytes[]);
/** Not collective. Gets a statistic of the plan; it is equal on all ranks. `name` is one of hosts, messages,
 * phases, phase_bytes, staged_bytes, kept (the number of messages that nuice_plan_follow() kept in their
 * phases), bound_phases and bound_bytes, or a time in seconds: gather_s, choose_s, schedule_s, check_s or
 * predicted_s. Errors: NUICE_ERR_INVALID_ARGUMENT for an unknown name; the error text lists the names. */
NUICE_API int nuice_plan_figure(const nuice_plan* plan, const char* name, double* value);
/** Not collective. Gets a string of the plan; it is equal on all ranks. `name` is one of scheduler, executor,
 * overridden (the options that NUICE_OPTIONS has overridden), warning (always empty, kept for older
 * programs), advice (a readable table) and advice_json (docs/explanation/advise.md). Both forms of the
 * advice are empty unless the option scheduler is auto. Errors: NUICE_ERR_INVALID_ARGUMENT for an unknown
 * name; the error text lists the names. */
NUICE_API int nuice_plan_text(const nuice_plan* plan, const char* name, const char** text);
/** Collective. Frees the plan and sets *plan to NULL; does nothing for NULL. Bound exchanges stay usable. */
NUICE_API int nuice_plan_free(nuice_plan** plan);

/* ---- Binding: the memory must stay valid until nuice_exchange_free(). Errors as nuice::mpi::Plan::bind() */

/** Collective. Binds one buffer per partner: send[i] holds the message to destination i, and receive[i] has
 * room for the message from source i. If direction is NUICE_BACKWARDS, send[i] holds the message to source i,
 * and receive[i] has room for the message from destination i. */
NUICE_API int nuice_plan_bind(nuice_plan* plan, const void* const send[], void* const receive[],
                              nuice_direction direction, nuice_exchange** exchange);
/** Collective. Binds one send buffer and one receive buffer for all partners. The message to partner i begins
 * send_offsets[i] bytes after send. The send buffer has send_bytes bytes (NUICE_ANY_ROOM: its size is not
 * checked). The arguments of the receive buffer have the same meaning. If an array of offsets is NULL, the
 * messages in this buffer are contiguous. */
NUICE_API int nuice_plan_bind_array(nuice_plan* plan, const void* send, int64_t send_bytes,
                                    const int64_t send_offsets[], void* receive, int64_t receive_bytes,
                                    const int64_t receive_offsets[], nuice_direction direction,
                                    nuice_exchange** exchange);
/** Collective. Binds several fields, which travel in one exchange. Let n be the number of partners. The
 * message to partner i contains send_counts[f * n + i] elements of type send_types[f] of each field f; they
 * begin send_offsets[f * n + i] extents of the type after send[f]. The arguments of the receive side have the
 * same meaning. If an array of offsets is NULL, the elements of each field are contiguous. All ranks must
 * have the same number of fields, and both ends of a message must have the same number of bytes. Types must
 * be committed, and may be freed afterwards. */
NUICE_API int nuice_plan_bind_fields(nuice_plan* plan, int num_fields, const void* const send[],
                                     const MPI_Datatype send_types[], const int64_t send_counts[],
                                     const int64_t send_offsets[], void* const receive[],
                                     const MPI_Datatype receive_types[], const int64_t receive_counts[],
                                     const int64_t receive_offsets[], nuice_direction direction,
                                     nuice_exchange** exchange);
/** nuice_plan_bind_fields() with integer handles of datatypes. */
NUICE_API int nuice_plan_bind_fields_f(nuice_plan* plan, int num_fields, const void* const send[],
                                       const nuice_fint send_types[], const int64_t send_counts[],
                                       const int64_t send_offsets[], void* const receive[],
                                       const nuice_fint receive_types[], const int64_t receive_counts[],
                                       const int64_t receive_offsets[], nuice_direction direction,
                                       nuice_exchange** exchange);

/** Makes nuice_plan_bind*() of the other ranks fail. This function is for bindings of other languages, which
 * check memory themselves. A rank that has found an error calls this function while the other ranks call
 * nuice_plan_bind*(). All ranks then return NUICE_ERR_INVALID_ARGUMENT with the text `error`. */
NUICE_API int nuice_plan_refuse(nuice_plan* plan, const char* error);

/* ---- Exchanges: after every start one wait, or test until done, or next until there is none ------------ */

/** Starts the exchange. All ranks of the plan must call this function, but it does not wait for other ranks.
 * Errors: NUICE_ERR_STATE if the exchange is already active; NUICE_ERR_MPI. */
NUICE_API int nuice_exchange_start(nuice_exchange* exchange);
/** Starts an exchange of buffers in GPU memory. The exchange uses the buffers after all earlier work on
 * `stream`, a stream of the program (cudaStream_t, hipStream_t). For host memory the stream has no effect. */
NUICE_API int nuice_exchange_start_on(nuice_exchange* exchange, void* stream);
/** Waits for an exchange of buffers in GPU memory. Work that is later put on `stream` finds the received
 * data. For host memory the stream has no effect. */
NUICE_API int nuice_exchange_wait_on(nuice_exchange* exchange, void* stream);
/** Not collective. Makes progress. *done becomes 1 if this rank's part of the exchange is complete, otherwise
 * 0. Errors: NUICE_ERR_STATE if the exchange was not started; NUICE_ERR_MPI; NUICE_ERR_TIMEOUT. */
NUICE_API int nuice_exchange_test(nuice_exchange* exchange, int* done);
/** Not collective. Waits until this rank's part of the exchange is complete. Errors: NUICE_ERR_STATE if the
 * exchange was not started; NUICE_ERR_MPI; NUICE_ERR_TIMEOUT. */
NUICE_API int nuice_exchange_wait(nuice_exchange* exchange);
/** Not collective. Waits for the next message to arrive. *partner becomes the index of its sender among the
 * sources (in a backward exchange, among the destinations), or -1 if all messages have arrived and this
 * rank's part is complete. Errors: as nuice_exchange_wait(); NUICE_ERR_NOT_APPLICABLE if the exchange belongs
 * to a halo. */
NUICE_API int nuice_exchange_next(nuice_exchange* exchange, int* partner);
/** Not collective. Like nuice_exchange_next(), but does not wait: *partner becomes -1 also if no message has
 * arrived yet. */
NUICE_API int nuice_exchange_poll(nuice_exchange* exchange, int* partner);
/** Not collective. *under_way becomes 1 if the exchange is active: it was started, and is not yet known to be
 * complete. */
NUICE_API int nuice_exchange_is_under_way(const nuice_exchange* exchange, int* under_way);
/** Not collective. Gets a string by name. "executor": the name of the executor in use. "shared_memory": how
 * many messages use shared memory, or why no message does ("" if the option is off). "device": how buffers in
 * GPU memory are transferred, and why ("" if no buffer is in GPU memory). "methods": with scheduler=auto or
 * device=auto, the methods that are tried, and the time of an exchange with each of them on the slowest rank,
 * such as "coloring:async 0.136 s, bruck_kport:phased 0.345 s (out)". Here (out) marks a method that is no
 * longer tried. With other options "methods" is "". */
NUICE_API int nuice_exchange_text(const nuice_exchange* exchange, const char* name, const char** text);
/** Collective, but does not wait for other ranks. Frees the exchange and sets *exchange to NULL; does nothing
 * for NULL. Errors: NUICE_ERR_STATE if the exchange is active. */
NUICE_API int nuice_exchange_free(nuice_exchange** exchange);

/* ---- Replacing an MPI call: its arguments, with a nuice_request instead of an MPI_Request ----
 *
 *   nuice_request x;
 *   nuice_alltoallv_init(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm, MPI_INFO_NULL, &x);
 *   for (int i = 0; i < steps; ++i) { nuice_start(x); nuice_wait(x); }
 *   nuice_free(&x);
 *
 * The functions of this section are collective over comm. Arguments and results are as in the MPI calls of
 * the same names. Functions whose names end in _c take 64-bit counts, as in MPI 4. The buffers must stay
 * valid until nuice_free(). Arrays of counts, displacements and types, and the types themselves, may be freed
 * earlier. Blocks of 0 elements are not sent.
 *
 * info: MPI_INFO_NULL, or an info object whose key "nuice" holds options ("scheduler=coloring watchdog=10s",
 * docs/reference/options.md), equal on all ranks. Other keys are ignored. Without options the scheduler is
 * auto.
 *
 * Errors: NUICE_ERR_INVALID_ARGUMENT for a negative count, overlapping receive blocks (detected only for
 * types without gaps), a communicator without neighbours, or an intercommunicator; NUICE_ERR_MISMATCH if a
 * rank expects a different number of bytes than is sent to it (the text names both ranks); otherwise as
 * nuice_plan_create() and nuice_plan_bind(). After an error the request is NULL. If the program has set its
 * own error handler on comm, NUICE calls this handler with MPI_ERR_OTHER. NUICE does not call predefined
 * handlers of MPI. */

/** The request that the functions below return. All functions with a nuice_exchange argument accept it
 * too. */
typedef nuice_exchange* nuice_request;

/** Replaces MPI_Alltoallv_init. send may be MPI_IN_PLACE. */
NUICE_API int nuice_alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                                   MPI_Datatype send_type, void* receive, const int receive_counts[],
                                   const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                                   MPI_Info info, nuice_request* request);
/** nuice_alltoallv_init() with 64-bit counts. */
NUICE_API int nuice_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                     const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                     const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                     MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                     nuice_request* request);
/** Replaces MPI_Alltoallw_init: displacements are in bytes, and each block has its own type. send may be
 * MPI_IN_PLACE. */
NUICE_API int nuice_alltoallw_init(const void* send, const int send_counts[], const int send_displs[],
                                   const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                                   const int receive_displs[], const MPI_Datatype receive_types[],
                                   MPI_Comm comm, MPI_Info info, nuice_request* request);
/** nuice_alltoallw_init() with 64-bit counts. */
NUICE_API int nuice_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                     const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                     void* receive, const MPI_Count receive_counts[],
                                     const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                     MPI_Comm comm, MPI_Info info, nuice_request* request);
/** Replaces MPI_Neighbor_alltoallv_init: one block for each neighbour of comm, which must have a topology. */
NUICE_API int nuice_neighbor_alltoallv_init(const void* send, const int send_counts[],
                                            const int send_displs[], MPI_Datatype send_type, void* receive,
                                            const int receive_counts[], const int receive_displs[],
                                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                            nuice_request* request);
/** nuice_neighbor_alltoallv_init() with 64-bit counts. */
NUICE_API int nuice_neighbor_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                              const MPI_Aint send_displs[], MPI_Datatype send_type,
                                              void* receive, const MPI_Count receive_counts[],
                                              const MPI_Aint receive_displs[], MPI_Datatype receive_type,
                                              MPI_Comm comm, MPI_Info info, nuice_request* request);
/** Replaces MPI_Neighbor_alltoallw_init: one block for each neighbour of comm. Each block has its own type,
 * and displacements are in bytes. */
NUICE_API int nuice_neighbor_alltoallw_init(const void* send, const int send_counts[],
                                            const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                            void* receive, const int receive_counts[],
                                            const MPI_Aint receive_displs[],
                                            const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Info info,
                                            nuice_request* request);
/** nuice_neighbor_alltoallw_init() with 64-bit counts. */
NUICE_API int nuice_neighbor_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                              const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                              void* receive, const MPI_Count receive_counts[],
                                              const MPI_Aint receive_displs[],
                                              const MPI_Datatype receive_types[], MPI_Comm comm,
                                              MPI_Info info, nuice_request* request);

/** Flags of nuice_alltoallv_init_f(). The sum of both selects MPI_Neighbor_alltoallw. */
enum {
  NUICE_CALL_NEIGHBOR = 1, /**< One block for each neighbour instead of each rank. */
  NUICE_CALL_TYPES = 2     /**< A type for each block, and displacements in bytes, as in MPI_Alltoallw. */
};
/** The send or receive side of a call, for bindings of other languages: all arrays with their lengths. */
typedef struct nuice_blocks_f {
  const void* data;   /**< For the send side also MPI_IN_PLACE, of C or of Fortran. */
  int64_t bytes;      /**< The size of the array; NUICE_ANY_ROOM: not checked. */
  int64_t stride;     /**< Bytes from one element of the array to the next; 0: the extent of the type. */
  int64_t num_blocks; /**< The number of entries of counts and of displs. */
  const void* counts;
  const void* displs;
  int count_bytes;   /**< The size of each count: 4 or 8. */
  int displ_bytes;   /**< The size of each displacement: 4 or 8. */
  int64_t num_types; /**< 1; with NUICE_CALL_TYPES num_blocks. */
  const nuice_fint* types;
} nuice_blocks_f;
/** Makes a request like the functions above, with integer handles of MPI. call: 0 or a sum of NUICE_CALL_
 * flags. options: as for nuice_plan_create(); NULL or "" means scheduler auto. fault: an error that the
 * caller has found in the arguments of this rank; all ranks then return this error. NULL or "" means no
 * error. */
NUICE_API int nuice_alltoallv_init_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                     nuice_fint comm, const char* options, const char* fault,
                                     nuice_request* request);

/** Calls nuice_exchange_start(). nuice_start, nuice_test, nuice_wait and nuice_free are named like the
 * functions of MPI for requests. */
NUICE_API int nuice_start(nuice_request request);
/** nuice_exchange_test(). */
NUICE_API int nuice_test(nuice_request request, int* done);
/** nuice_exchange_wait(). */
NUICE_API int nuice_wait(nuice_request request);
/** Allows block i to be sent, like MPI_Pready. Requires the option parts (info key "nuice", value
 * "parts=true"); with this option nuice_start() sends nothing. After each nuice_start(), call nuice_ready()
 * once for each block, including empty blocks. nuice_wait() returns only after the last of these calls. Any
 * thread may call nuice_ready() while another thread waits. Errors: NUICE_ERR_STATE before nuice_start(), and
 * for a second call with the same block; NUICE_ERR_INVALID_ARGUMENT if there is no block i;
 * NUICE_ERR_NOT_APPLICABLE without the option. */
NUICE_API int nuice_ready(nuice_request request, int i);
/** Sets *arrived to 1 if block i has arrived, like MPI_Parrived. Any thread may call it. */
NUICE_API int nuice_arrived(nuice_request request, int i, int* arrived);
/** nuice_exchange_free(). */
NUICE_API int nuice_free(nuice_request* request);
/** Waits until all active exchanges in `requests` are complete, like MPI_Waitall. The exchanges may be of any
 * kind. NULL entries and exchanges that were not started are skipped. Errors: as nuice_wait() for the first
 * exchange that fails; the other exchanges are not affected. */
NUICE_API int nuice_waitall(int count, const nuice_request requests[]);
/** Waits like nuice_waitall(), for exchanges and MPI requests. statuses: an array for the MPI requests, or
 * NULL. */
NUICE_API int nuice_waitall_mpi(int count, const nuice_request requests[], int mpi_count,
                                MPI_Request mpi_requests[], MPI_Status statuses[]);
/** nuice_waitall_mpi() with integer handles of MPI requests. */
NUICE_API int nuice_waitall_mpi_f(int count, const nuice_request requests[], int mpi_count,
                                  nuice_fint mpi_requests[]);
/** Waits until one of the active exchanges is complete. *index becomes its position in `requests`, or -1 if
 * no exchange was active. */
NUICE_API int nuice_waitany(int count, const nuice_request requests[], int* index);
/** Tests all active exchanges without waiting. *num_done becomes the number of exchanges that are now
 * complete. Their positions in `requests` are written to indices, an array of count entries. */
NUICE_API int nuice_testsome(int count, const nuice_request requests[], int* num_done, int indices[]);

/* ---- The same calls without init --------------------------------------------------------------------------
 *
 *   nuice_alltoallv(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm);   // as MPI_Alltoallv
 *
 * The functions of this section are collective over comm. Arguments and results are as in the MPI calls of
 * the same names. No plan is made, so any rank may use other counts in every call. The library keeps the
 * last 16 different sets of arguments with comm; a call with one of these sets needs no set-up.
 *
 * Errors: the first call on comm returns the errors of nuice_alltoallv_init(), on all ranks. If a later call
 * fails on one rank, every other rank gets the error in the same call or in its next call, and all later
 * calls on comm return this error. As in MPI, a call waits for a message that is expected but never sent.
 * NUICE_OPTIONS="watchdog=10s" ends this wait after 10 s with an error that names the ranks. */

/** Replaces MPI_Alltoallv. send may be MPI_IN_PLACE. */
NUICE_API int nuice_alltoallv(const void* send, const int send_counts[], const int send_displs[],
                              MPI_Datatype send_type, void* receive, const int receive_counts[],
                              const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
/** nuice_alltoallv() with 64-bit counts. */
NUICE_API int nuice_alltoallv_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                                MPI_Datatype send_type, void* receive, const MPI_Count receive_counts[],
                                const MPI_Aint receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
/** Replaces MPI_Alltoallw: displacements are in bytes, and each block has its own type. send may be
 * MPI_IN_PLACE. */
NUICE_API int nuice_alltoallw(const void* send, const int send_counts[], const int send_displs[],
                              const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                              const int receive_displs[], const MPI_Datatype receive_types[], MPI_Comm comm);
/** nuice_alltoallw() with 64-bit counts. */
NUICE_API int nuice_alltoallw_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                                const MPI_Datatype send_types[], void* receive,
                                const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                const MPI_Datatype receive_types[], MPI_Comm comm);
/** Replaces MPI_Neighbor_alltoallv: one block for each neighbour of comm, which must have a topology. */
NUICE_API int nuice_neighbor_alltoallv(const void* send, const int send_counts[], const int send_displs[],
                                       MPI_Datatype send_type, void* receive, const int receive_counts[],
                                       const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
/** nuice_neighbor_alltoallv() with 64-bit counts. */
NUICE_API int nuice_neighbor_alltoallv_c(const void* send, const MPI_Count send_counts[],
                                         const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                         const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                         MPI_Datatype receive_type, MPI_Comm comm);
/** Replaces MPI_Neighbor_alltoallw: one block for each neighbour of comm. Each block has its own type, and
 * displacements are in bytes. */
NUICE_API int nuice_neighbor_alltoallw(const void* send, const int send_counts[],
                                       const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                       void* receive, const int receive_counts[],
                                       const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                       MPI_Comm comm);
/** nuice_neighbor_alltoallw() with 64-bit counts. */
NUICE_API int nuice_neighbor_alltoallw_c(const void* send, const MPI_Count send_counts[],
                                         const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                         void* receive, const MPI_Count receive_counts[],
                                         const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                         MPI_Comm comm);
/** Carries out any of the calls without init, with the arguments of nuice_alltoallv_init_f(). */
NUICE_API int nuice_alltoallv_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                nuice_fint comm, const char* fault);

/** The messages that a call of nuice_sparse_alltoallv() has received. */
typedef struct nuice_received nuice_received;
/** Collective over comm. Sends num_messages messages, and receives all messages that are sent to this rank.
 * Receivers need not know senders and sizes. Message i goes to rank ranks[i] and has counts[i] elements,
 * which begin displs[i] elements after the address send. Several messages to one rank, and messages to the
 * calling rank, are allowed. Messages of 0 elements are not sent. Free *received by nuice_received_free().
 * Errors: as nuice::mpi::sparse_alltoallv (nuice/mpi/sparse_alltoallv.hpp). */
NUICE_API int nuice_sparse_alltoallv(const void* send, int num_messages, const int ranks[],
                                     const int counts[], const int displs[], MPI_Datatype type, MPI_Comm comm,
                                     nuice_received** received);
/** nuice_sparse_alltoallv() for other languages. Message i has counts[i] elements of types[i], at
 * addresses[i]. */
NUICE_API int nuice_sparse_alltoallv_f(int num_messages, const int ranks[], const void* const addresses[],
                                       const int64_t counts[], const nuice_fint types[], nuice_fint comm,
                                       nuice_received** received);
/** Not collective. Gets the number of received messages. */
NUICE_API int nuice_received_size(const nuice_received* received, int* num_messages);
/** Not collective. Gets message i: its sender, its size in bytes, and its data. The data are aligned to 16
 * bytes and valid until nuice_received_free(). Messages are sorted by sender; messages of one sender are in
 * the order in which the sender listed them. */
NUICE_API int nuice_received_message(const nuice_received* received, int i, int* rank, int64_t* bytes,
                                     const void** data);
/** Not collective. Frees the messages and sets *received to NULL; does nothing for NULL. */
NUICE_API int nuice_received_free(nuice_received** received);

/* ---- Halos: the messages for the needed entries of a distributed array are found and planned once ------ */

/** Collective over comm. Makes a halo. Rank r owns the global indices begins[r] .. begins[r + 1] - 1; begins
 * has num_ranks + 1 entries and must be equal on all ranks. needed: the num_needed global indices with which
 * this rank works, in any order; indices that this rank owns are allowed. entry_bytes: the usual size of an
 * entry in bytes, such as 8; some schedulers use this size. Errors: NUICE_ERR_PARSE if `options` has a syntax
 * error; otherwise the errors of nuice::mpi::Halo (nuice/mpi/halo.hpp). */
NUICE_API int nuice_halo_create_ranges(MPI_Comm comm, const int64_t begins[], int64_t num_needed,
                                       const int64_t needed[], int64_t entry_bytes, const char* options,
                                       nuice_halo** halo);
/** nuice_halo_create_ranges() with an integer handle of comm. */
NUICE_API int nuice_halo_create_ranges_f(nuice_fint comm, const int64_t begins[], int64_t num_needed,
                                         const int64_t needed[], int64_t entry_bytes, const char* options,
                                         nuice_halo** halo);
/** Collective over comm. Makes a halo. Global index g < num_indices belongs to rank owners[g]; owners must be
 * equal on all ranks. The other arguments are as for nuice_halo_create_ranges(). */
NUICE_API int nuice_halo_create_owners(MPI_Comm comm, int64_t num_indices, const int owners[],
                                       int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                       const char* options, nuice_halo** halo);
/** nuice_halo_create_owners() with an integer handle of comm. */
NUICE_API int nuice_halo_create_owners_f(nuice_fint comm, int64_t num_indices, const int owners[],
                                         int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                         const char* options, nuice_halo** halo);
/** Collective over comm. Makes a halo. This rank owns the global indices owned[0 .. num_owned); no rank needs
 * to know which indices other ranks own. The other arguments are as for nuice_halo_create_ranges(). */
NUICE_API int nuice_halo_create_list(MPI_Comm comm, int64_t num_owned, const int64_t owned[],
                                     int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                     const char* options, nuice_halo** halo);
/** nuice_halo_create_list() with an integer handle of comm. */
NUICE_API int nuice_halo_create_list_f(nuice_fint comm, int64_t num_owned, const int64_t owned[],
                                       int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                       const char* options, nuice_halo** halo);
/** Not collective. Gets the numbers of this rank's owned entries and ghosts. */
NUICE_API int nuice_halo_num_entries(const nuice_halo* halo, int64_t* num_owned, int64_t* num_ghosts);
/** Not collective. Gets the global indices of the ghosts, sorted by owner, then by index. ghosts: an array of
 * num_ghosts entries. */
NUICE_API int nuice_halo_ghosts(const nuice_halo* halo, int64_t ghosts[]);
/** Not collective. Translates num_indices global indices to local indices. If this rank owns globals[j],
 * locals[j] becomes a number from 0 to num_owned - 1. If globals[j] is ghost k, locals[j] becomes num_owned +
 * k. Both arguments may be the same array. Errors: NUICE_ERR_INVALID_ARGUMENT for an index that this rank
 * neither owns nor has as a ghost. */
NUICE_API int nuice_halo_local_indices(const nuice_halo* halo, int64_t num_indices, const int64_t globals[],
                                       int64_t locals[]);
/** Not collective, but the arguments must be equal on all ranks. Sets how fields are sent in all exchanges
 * that are bound later. Field f is sent as wires[f] if f < num_fields, and unchanged otherwise. Only doubles
 * are converted. In a gather the entry_bytes of a converted field must be a multiple of 8; in a scatter
 * fields of other types are sent unchanged. nuice_halo_bind_*() reports an invalid wire. */
NUICE_API int nuice_halo_set_wires(nuice_halo* halo, int num_fields, const nuice_wire wires[]);
/** Collective. Binds a gather, which fetches the ghost values of num_fields arrays at once. Entry i of field
 * f lies i * entry_bytes[f] bytes after owned[f]; ghost k lies k * entry_bytes[f] bytes after ghosts[f]. */
NUICE_API int nuice_halo_bind_gather(nuice_halo* halo, int num_fields, const void* const owned[],
                                     void* const ghosts[], const int64_t entry_bytes[],
                                     nuice_exchange** exchange);
/** Collective. Binds a scatter, which sends the ghost values of num_fields arrays to the owners at once. The
 * owner computes owned = op(owned, ghost) for every ghost, by ascending rank. Field f has components[f]
 * values of type types[f] per entry. types: integers of 32 or 64 bits, or real or complex numbers, of C or
 * Fortran. op: MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX or MPI_REPLACE. Errors: NUICE_ERR_NOT_APPLICABLE for other
 * types and operations. */
NUICE_API int nuice_halo_bind_scatter(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                      void* const owned[], const int components[], const MPI_Datatype types[],
                                      MPI_Op op, nuice_exchange** exchange);
/** nuice_halo_bind_scatter() with integer handles of types and op. */
NUICE_API int nuice_halo_bind_scatter_f(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                        void* const owned[], const int components[], const nuice_fint types[],
                                        nuice_fint op, nuice_exchange** exchange);
/** Collective. Checks that no rank has found an error and that all ranks pass the same value. This function
 * is for bindings of other languages, which check arrays themselves. value: a number, at least 0. error: the
 * error that this rank has found, or NULL. Errors: NUICE_ERR_INVALID_ARGUMENT with the text of a rank that
 * has found an error; NUICE_ERR_MISMATCH if values differ. The halo stays usable. */
NUICE_API int nuice_halo_agree(nuice_halo* halo, int64_t value, const char* error);
/** Makes nuice_halo_bind_*() of the other ranks fail, as nuice_plan_refuse() does for plans. A rank that has
 * found an error calls this function while the other ranks call nuice_halo_bind_*(). */
NUICE_API int nuice_halo_refuse(nuice_halo* halo, const char* error);
/** Collective. Frees the halo and sets *halo to NULL; does nothing for NULL. Bound exchanges stay usable. */
NUICE_API int nuice_halo_free(nuice_halo** halo);
#endif

/* ---- The planner, without MPI. Not collective ---------------------------------------------------------- */

/** Makes a matrix from num_messages entries. Entry j is a message of bytes[j] bytes from src[j] to dst[j].
 * Entries of 0 bytes and entries from a rank to itself do not count as messages. Errors:
 * NUICE_ERR_INVALID_ARGUMENT for an invalid rank, a negative size, or a pair of ranks given twice;
 * NUICE_ERR_LIMIT for too many ranks or bytes. */
NUICE_API int nuice_matrix_create(int num_ranks, int64_t num_messages, const int src[], const int dst[],
                                  const int64_t bytes[], nuice_matrix** matrix);
/** Reads a Matrix Market file (docs/reference/formats.md). Errors: NUICE_ERR_IO, NUICE_ERR_PARSE,
 * NUICE_ERR_LIMIT. */
NUICE_API int nuice_matrix_load(const char* path, nuice_matrix** matrix);
/** Writes a Matrix Market file. Errors: NUICE_ERR_IO. */
NUICE_API int nuice_matrix_save(const nuice_matrix* matrix, const char* path);
/** Gets the numbers of ranks and messages. */
NUICE_API int nuice_matrix_size(const nuice_matrix* matrix, int* num_ranks, int64_t* num_messages);
/** Gets all messages, by ascending src, then dst. src, dst, bytes: arrays of num_messages entries, or NULL.
 * */
NUICE_API int nuice_matrix_messages(const nuice_matrix* matrix, int src[], int dst[], int64_t bytes[]);
/** Frees the matrix and sets *matrix to NULL; does nothing for NULL. */
NUICE_API int nuice_matrix_free(nuice_matrix** matrix);

/** Makes and checks a schedule. options: "scheduler=NAME seed=N phase_cost=BYTES prefer_pairs=BOOL
 * topology=SPEC"; NULL or "" means the scheduler rs_n. Errors: NUICE_ERR_PARSE, NUICE_ERR_INVALID_ARGUMENT,
 * NUICE_ERR_NOT_APPLICABLE, NUICE_ERR_LIMIT. */
NUICE_API int nuice_schedule_create(const nuice_matrix* matrix, const char* options,
                                    nuice_schedule** schedule);
/** Reads a file that nuice_schedule_save() or `nuice plan` wrote. Errors: NUICE_ERR_IO, NUICE_ERR_PARSE;
 * NUICE_ERR_MISMATCH if the schedule was made for another matrix. */
NUICE_API int nuice_schedule_load(const nuice_matrix* matrix, const char* path, nuice_schedule** schedule);
/** Writes a file (docs/reference/formats.md). Errors: NUICE_ERR_IO; NUICE_ERR_MISMATCH if the schedule was
 * made for another matrix. */
NUICE_API int nuice_schedule_save(const nuice_schedule* schedule, const nuice_matrix* matrix,
                                  const char* path);
/** Verifies that the schedule delivers the matrix and keeps the guarantees of its scheduler. Errors:
 * NUICE_ERR_MISMATCH; the text describes the first violation. */
NUICE_API int nuice_schedule_check(const nuice_schedule* schedule, const nuice_matrix* matrix);
/** Gets the number of phases, and the number of pieces in all transfers. */
NUICE_API int nuice_schedule_size(const nuice_schedule* schedule, int64_t* num_phases, int64_t* num_pieces);
/** Gets all pieces, by ascending phase. Piece p travels in phase[p] from src[p] to dst[p]. It consists of
 * bytes offset[p] .. offset[p] + bytes[p] - 1 of the message from message_src[p] to message_dst[p]. Each
 * argument is an array of num_pieces entries, or NULL. */
NUICE_API int nuice_schedule_pieces(const nuice_schedule* schedule, int64_t phase[], int src[], int dst[],
                                    int message_src[], int message_dst[], int64_t offset[], int64_t bytes[]);
/** Frees the schedule and sets *schedule to NULL; does nothing for NULL. */
NUICE_API int nuice_schedule_free(nuice_schedule** schedule);

/** Finds out which scheduler and executor suit a matrix. options: "machine=NAME_OR_FILE reuse=N seed=N"; NULL
 * or "" means the machine ethernet-10g. Errors: NUICE_ERR_PARSE, NUICE_ERR_IO, NUICE_ERR_INVALID_ARGUMENT,
 * NUICE_ERR_MISMATCH, NUICE_ERR_NOT_APPLICABLE. */
NUICE_API int nuice_advice_create(const nuice_matrix* matrix, const char* options, nuice_advice** advice);
/** Gets a string by name: scheduler, executor, sentence (the reason), text (a readable table), json
 * (docs/explanation/advise.md). Errors: NUICE_ERR_INVALID_ARGUMENT for an unknown name. */
NUICE_API int nuice_advice_text(const nuice_advice* advice, const char* name, const char** text);
/** Frees the advice and sets *advice to NULL; does nothing for NULL. */
NUICE_API int nuice_advice_free(nuice_advice** advice);

/* ---- Names. Not collective ----------------------------------------------------------------------------- */

/** Returns the version, such as "0.3.0". Never returns NULL. */
NUICE_API const char* nuice_version(void);
/** Returns the name of the MPI for which this library was built: "openmpi", "mpich", "mpi_abi" (the ABI of
 * MPI 5), or "" for a library without MPI. The program must use the same MPI. Never returns NULL. */
NUICE_API const char* nuice_mpi_name(void);
/** Returns the name of a status, such as "invalid_argument" for NUICE_ERR_INVALID_ARGUMENT; "unknown" for a
 * number that is not a status. Never returns NULL. */
NUICE_API const char* nuice_status_name(int status);
/** Gets the name and the one-line summary of entry `index` of a registry. table: "schedulers", "executors"
 * or, if the library has MPI, "options" (of plans). If index is beyond the last entry, both strings become
 * NULL. The strings must not be freed. Errors: NUICE_ERR_INVALID_ARGUMENT for an unknown registry or a
 * negative index. */
NUICE_API int nuice_table_row(const char* table, int64_t index, const char** name, const char** summary);

#ifdef __cplusplus
}
#endif
#endif
