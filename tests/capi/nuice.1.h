/* SPDX-License-Identifier: BSD-3-Clause */
// clang-format off
#ifndef NUICE_NUICE_H
#define NUICE_NUICE_H
#include <stdint.h>
#ifndef NUICE_NO_MPI
#include <mpi.h>
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
typedef enum nuice_status {
  NUICE_OK = 0,
  NUICE_ERR_INVALID_ARGUMENT = 1,
  NUICE_ERR_PARSE = 2,
  NUICE_ERR_IO = 3,
  NUICE_ERR_NOT_APPLICABLE = 4,
  NUICE_ERR_LIMIT = 5,
  NUICE_ERR_MISMATCH = 6,
  NUICE_ERR_STATE = 7,
  NUICE_ERR_MPI = 8,
  NUICE_ERR_TIMEOUT = 9,
  NUICE_ERR_DEVICE = 10
} nuice_status;
typedef enum nuice_direction
#ifdef __cplusplus
    : int
#endif
{
  NUICE_FORWARDS = 0,
  NUICE_BACKWARDS = 1
} nuice_direction;
typedef enum nuice_wire
#ifdef __cplusplus
    : int
#endif
{
  NUICE_WIRE_AS_IS = 0,
  NUICE_WIRE_FLOAT32 = 1,
  NUICE_WIRE_BFLOAT16 = 2
} nuice_wire;
#define NUICE_ANY_ROOM ((int64_t)-1)
typedef struct nuice_plan nuice_plan;
typedef struct nuice_exchange nuice_exchange;
typedef struct nuice_halo nuice_halo;
typedef struct nuice_matrix nuice_matrix;
typedef struct nuice_schedule nuice_schedule;
typedef struct nuice_advice nuice_advice;
typedef enum nuice_region {
  NUICE_REGION_PLAN = 0,
  NUICE_REGION_EXCHANGE = 1,
  NUICE_REGION_PHASE = 2
} nuice_region;
typedef struct nuice_observer {
  void (*begin)(void* data, nuice_region region, int64_t which);
  void (*end)(void* data, nuice_region region, int64_t which);
  void* data;
} nuice_observer;
NUICE_API const char* nuice_error_text(void);
#ifndef NUICE_NO_MPI
NUICE_API int nuice_observe(const nuice_observer* observer);
NUICE_API int nuice_plan_create(MPI_Comm comm, int num_destinations, const int ranks[], const int64_t bytes[],
                                const char* options, nuice_plan** plan);
NUICE_API int nuice_plan_create_f(nuice_fint comm, int num_destinations, const int ranks[],
                                  const int64_t bytes[], const char* options, nuice_plan** plan);
NUICE_API int nuice_plan_create_from_schedule(MPI_Comm comm, const nuice_matrix* matrix,
                                              const nuice_schedule* schedule, const char* options,
                                              nuice_plan** plan);
NUICE_API int nuice_plan_create_from_schedule_f(nuice_fint comm, const nuice_matrix* matrix,
                                                const nuice_schedule* schedule, const char* options,
                                                nuice_plan** plan);
NUICE_API int nuice_plan_follow(const nuice_plan* plan, int num_destinations, const int ranks[],
                                const int64_t bytes[], nuice_plan** followed);
NUICE_API int nuice_plan_follow_on(const nuice_plan* plan, MPI_Comm comm, nuice_plan** followed);
NUICE_API int nuice_plan_follow_on_f(const nuice_plan* plan, nuice_fint comm, nuice_plan** followed);
NUICE_API int nuice_plan_num_partners(const nuice_plan* plan, int* num_destinations, int* num_sources);
NUICE_API int nuice_plan_destinations(const nuice_plan* plan, int ranks[], int64_t bytes[]);
NUICE_API int nuice_plan_sources(const nuice_plan* plan, int ranks[], int64_t bytes[]);
NUICE_API int nuice_plan_figure(const nuice_plan* plan, const char* name, double* value);
NUICE_API int nuice_plan_text(const nuice_plan* plan, const char* name, const char** text);
NUICE_API int nuice_plan_free(nuice_plan** plan);
NUICE_API int nuice_plan_bind(nuice_plan* plan, const void* const send[], void* const receive[],
                              nuice_direction direction, nuice_exchange** exchange);
NUICE_API int nuice_plan_bind_array(nuice_plan* plan, const void* send, int64_t send_bytes,
                                    const int64_t send_offsets[], void* receive, int64_t receive_bytes,
                                    const int64_t receive_offsets[], nuice_direction direction,
                                    nuice_exchange** exchange);
NUICE_API int nuice_plan_bind_fields(nuice_plan* plan, int num_fields, const void* const send[],
                                     const MPI_Datatype send_types[], const int64_t send_counts[],
                                     const int64_t send_offsets[], void* const receive[],
                                     const MPI_Datatype receive_types[], const int64_t receive_counts[],
                                     const int64_t receive_offsets[], nuice_direction direction,
                                     nuice_exchange** exchange);
NUICE_API int nuice_plan_bind_fields_f(nuice_plan* plan, int num_fields, const void* const send[],
                                       const nuice_fint send_types[], const int64_t send_counts[],
                                       const int64_t send_offsets[], void* const receive[],
                                       const nuice_fint receive_types[], const int64_t receive_counts[],
                                       const int64_t receive_offsets[], nuice_direction direction,
                                       nuice_exchange** exchange);
NUICE_API int nuice_plan_refuse(nuice_plan* plan, const char* error);
NUICE_API int nuice_exchange_start(nuice_exchange* exchange);
NUICE_API int nuice_exchange_start_on(nuice_exchange* exchange, void* stream);
NUICE_API int nuice_exchange_wait_on(nuice_exchange* exchange, void* stream);
NUICE_API int nuice_exchange_test(nuice_exchange* exchange, int* done);
NUICE_API int nuice_exchange_wait(nuice_exchange* exchange);
NUICE_API int nuice_exchange_next(nuice_exchange* exchange, int* partner);
NUICE_API int nuice_exchange_poll(nuice_exchange* exchange, int* partner);
NUICE_API int nuice_exchange_is_under_way(const nuice_exchange* exchange, int* under_way);
NUICE_API int nuice_exchange_text(const nuice_exchange* exchange, const char* name, const char** text);
NUICE_API int nuice_exchange_free(nuice_exchange** exchange);
typedef nuice_exchange* nuice_request;
NUICE_API int nuice_alltoallv_init(const void* send, const int send_counts[], const int send_displs[],
                                   MPI_Datatype send_type, void* receive, const int receive_counts[],
                                   const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm,
                                   MPI_Info info, nuice_request* request);
NUICE_API int nuice_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                     const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                     const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                     MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                     nuice_request* request);
NUICE_API int nuice_alltoallw_init(const void* send, const int send_counts[], const int send_displs[],
                                   const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                                   const int receive_displs[], const MPI_Datatype receive_types[],
                                   MPI_Comm comm, MPI_Info info, nuice_request* request);
NUICE_API int nuice_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                     const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                     void* receive, const MPI_Count receive_counts[],
                                     const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                     MPI_Comm comm, MPI_Info info, nuice_request* request);
NUICE_API int nuice_neighbor_alltoallv_init(const void* send, const int send_counts[],
                                            const int send_displs[], MPI_Datatype send_type, void* receive,
                                            const int receive_counts[], const int receive_displs[],
                                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                            nuice_request* request);
NUICE_API int nuice_neighbor_alltoallv_init_c(const void* send, const MPI_Count send_counts[],
                                              const MPI_Aint send_displs[], MPI_Datatype send_type,
                                              void* receive, const MPI_Count receive_counts[],
                                              const MPI_Aint receive_displs[], MPI_Datatype receive_type,
                                              MPI_Comm comm, MPI_Info info, nuice_request* request);
NUICE_API int nuice_neighbor_alltoallw_init(const void* send, const int send_counts[],
                                            const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                            void* receive, const int receive_counts[],
                                            const MPI_Aint receive_displs[],
                                            const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Info info,
                                            nuice_request* request);
NUICE_API int nuice_neighbor_alltoallw_init_c(const void* send, const MPI_Count send_counts[],
                                              const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                              void* receive, const MPI_Count receive_counts[],
                                              const MPI_Aint receive_displs[],
                                              const MPI_Datatype receive_types[], MPI_Comm comm,
                                              MPI_Info info, nuice_request* request);
enum {
  NUICE_CALL_NEIGHBOR = 1,
  NUICE_CALL_TYPES = 2
};
typedef struct nuice_blocks_f {
  const void* data;
  int64_t bytes;
  int64_t stride;
  int64_t num_blocks;
  const void* counts;
  const void* displs;
  int count_bytes;
  int displ_bytes;
  int64_t num_types;
  const nuice_fint* types;
} nuice_blocks_f;
NUICE_API int nuice_alltoallv_init_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                     nuice_fint comm, const char* options, const char* fault,
                                     nuice_request* request);
NUICE_API int nuice_start(nuice_request request);
NUICE_API int nuice_test(nuice_request request, int* done);
NUICE_API int nuice_wait(nuice_request request);
NUICE_API int nuice_ready(nuice_request request, int i);
NUICE_API int nuice_arrived(nuice_request request, int i, int* arrived);
NUICE_API int nuice_free(nuice_request* request);
NUICE_API int nuice_waitall(int count, const nuice_request requests[]);
NUICE_API int nuice_waitall_mpi(int count, const nuice_request requests[], int mpi_count,
                                MPI_Request mpi_requests[], MPI_Status statuses[]);
NUICE_API int nuice_waitall_mpi_f(int count, const nuice_request requests[], int mpi_count,
                                  nuice_fint mpi_requests[]);
NUICE_API int nuice_waitany(int count, const nuice_request requests[], int* index);
NUICE_API int nuice_testsome(int count, const nuice_request requests[], int* num_done, int indices[]);
NUICE_API int nuice_alltoallv(const void* send, const int send_counts[], const int send_displs[],
                              MPI_Datatype send_type, void* receive, const int receive_counts[],
                              const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
NUICE_API int nuice_alltoallv_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                                MPI_Datatype send_type, void* receive, const MPI_Count receive_counts[],
                                const MPI_Aint receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
NUICE_API int nuice_alltoallw(const void* send, const int send_counts[], const int send_displs[],
                              const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                              const int receive_displs[], const MPI_Datatype receive_types[], MPI_Comm comm);
NUICE_API int nuice_alltoallw_c(const void* send, const MPI_Count send_counts[], const MPI_Aint send_displs[],
                                const MPI_Datatype send_types[], void* receive,
                                const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                const MPI_Datatype receive_types[], MPI_Comm comm);
NUICE_API int nuice_neighbor_alltoallv(const void* send, const int send_counts[], const int send_displs[],
                                       MPI_Datatype send_type, void* receive, const int receive_counts[],
                                       const int receive_displs[], MPI_Datatype receive_type, MPI_Comm comm);
NUICE_API int nuice_neighbor_alltoallv_c(const void* send, const MPI_Count send_counts[],
                                         const MPI_Aint send_displs[], MPI_Datatype send_type, void* receive,
                                         const MPI_Count receive_counts[], const MPI_Aint receive_displs[],
                                         MPI_Datatype receive_type, MPI_Comm comm);
NUICE_API int nuice_neighbor_alltoallw(const void* send, const int send_counts[],
                                       const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                       void* receive, const int receive_counts[],
                                       const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                       MPI_Comm comm);
NUICE_API int nuice_neighbor_alltoallw_c(const void* send, const MPI_Count send_counts[],
                                         const MPI_Aint send_displs[], const MPI_Datatype send_types[],
                                         void* receive, const MPI_Count receive_counts[],
                                         const MPI_Aint receive_displs[], const MPI_Datatype receive_types[],
                                         MPI_Comm comm);
NUICE_API int nuice_alltoallv_f(int call, const nuice_blocks_f* send, const nuice_blocks_f* receive,
                                nuice_fint comm, const char* fault);
typedef struct nuice_received nuice_received;
NUICE_API int nuice_sparse_alltoallv(const void* send, int num_messages, const int ranks[],
                                     const int counts[], const int displs[], MPI_Datatype type, MPI_Comm comm,
                                     nuice_received** received);
NUICE_API int nuice_sparse_alltoallv_f(int num_messages, const int ranks[], const void* const addresses[],
                                       const int64_t counts[], const nuice_fint types[], nuice_fint comm,
                                       nuice_received** received);
NUICE_API int nuice_received_size(const nuice_received* received, int* num_messages);
NUICE_API int nuice_received_message(const nuice_received* received, int i, int* rank, int64_t* bytes,
                                     const void** data);
NUICE_API int nuice_received_free(nuice_received** received);
NUICE_API int nuice_halo_create_ranges(MPI_Comm comm, const int64_t begins[], int64_t num_needed,
                                       const int64_t needed[], int64_t entry_bytes, const char* options,
                                       nuice_halo** halo);
NUICE_API int nuice_halo_create_ranges_f(nuice_fint comm, const int64_t begins[], int64_t num_needed,
                                         const int64_t needed[], int64_t entry_bytes, const char* options,
                                         nuice_halo** halo);
NUICE_API int nuice_halo_create_owners(MPI_Comm comm, int64_t num_indices, const int owners[],
                                       int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                       const char* options, nuice_halo** halo);
NUICE_API int nuice_halo_create_owners_f(nuice_fint comm, int64_t num_indices, const int owners[],
                                         int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                         const char* options, nuice_halo** halo);
NUICE_API int nuice_halo_create_list(MPI_Comm comm, int64_t num_owned, const int64_t owned[],
                                     int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                     const char* options, nuice_halo** halo);
NUICE_API int nuice_halo_create_list_f(nuice_fint comm, int64_t num_owned, const int64_t owned[],
                                       int64_t num_needed, const int64_t needed[], int64_t entry_bytes,
                                       const char* options, nuice_halo** halo);
NUICE_API int nuice_halo_num_entries(const nuice_halo* halo, int64_t* num_owned, int64_t* num_ghosts);
NUICE_API int nuice_halo_ghosts(const nuice_halo* halo, int64_t ghosts[]);
NUICE_API int nuice_halo_local_indices(const nuice_halo* halo, int64_t num_indices, const int64_t globals[],
                                       int64_t locals[]);
NUICE_API int nuice_halo_set_wires(nuice_halo* halo, int num_fields, const nuice_wire wires[]);
NUICE_API int nuice_halo_bind_gather(nuice_halo* halo, int num_fields, const void* const owned[],
                                     void* const ghosts[], const int64_t entry_bytes[],
                                     nuice_exchange** exchange);
NUICE_API int nuice_halo_bind_scatter(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                      void* const owned[], const int components[], const MPI_Datatype types[],
                                      MPI_Op op, nuice_exchange** exchange);
NUICE_API int nuice_halo_bind_scatter_f(nuice_halo* halo, int num_fields, const void* const ghosts[],
                                        void* const owned[], const int components[], const nuice_fint types[],
                                        nuice_fint op, nuice_exchange** exchange);
NUICE_API int nuice_halo_agree(nuice_halo* halo, int64_t value, const char* error);
NUICE_API int nuice_halo_refuse(nuice_halo* halo, const char* error);
NUICE_API int nuice_halo_free(nuice_halo** halo);
#endif
NUICE_API int nuice_matrix_create(int num_ranks, int64_t num_messages, const int src[], const int dst[],
                                  const int64_t bytes[], nuice_matrix** matrix);
NUICE_API int nuice_matrix_load(const char* path, nuice_matrix** matrix);
NUICE_API int nuice_matrix_save(const nuice_matrix* matrix, const char* path);
NUICE_API int nuice_matrix_size(const nuice_matrix* matrix, int* num_ranks, int64_t* num_messages);
NUICE_API int nuice_matrix_messages(const nuice_matrix* matrix, int src[], int dst[], int64_t bytes[]);
NUICE_API int nuice_matrix_free(nuice_matrix** matrix);
NUICE_API int nuice_schedule_create(const nuice_matrix* matrix, const char* options,
                                    nuice_schedule** schedule);
NUICE_API int nuice_schedule_load(const nuice_matrix* matrix, const char* path, nuice_schedule** schedule);
NUICE_API int nuice_schedule_save(const nuice_schedule* schedule, const nuice_matrix* matrix,
                                  const char* path);
NUICE_API int nuice_schedule_check(const nuice_schedule* schedule, const nuice_matrix* matrix);
NUICE_API int nuice_schedule_size(const nuice_schedule* schedule, int64_t* num_phases, int64_t* num_pieces);
NUICE_API int nuice_schedule_pieces(const nuice_schedule* schedule, int64_t phase[], int src[], int dst[],
                                    int message_src[], int message_dst[], int64_t offset[], int64_t bytes[]);
NUICE_API int nuice_schedule_free(nuice_schedule** schedule);
NUICE_API int nuice_advice_create(const nuice_matrix* matrix, const char* options, nuice_advice** advice);
NUICE_API int nuice_advice_text(const nuice_advice* advice, const char* name, const char** text);
NUICE_API int nuice_advice_free(nuice_advice** advice);
NUICE_API const char* nuice_version(void);
NUICE_API const char* nuice_mpi_name(void);
NUICE_API const char* nuice_status_name(int status);
NUICE_API int nuice_table_row(const char* table, int64_t index, const char** name, const char** summary);
#ifdef __cplusplus
}
#endif
#endif
