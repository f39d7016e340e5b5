// SPDX-License-Identifier: BSD-3-Clause
// The calls of MPI that may wait for other ranks and cannot be turned into a loop of tests: whoever enters one leaves his exchanges that are
// under way to MPI (background.hpp). Elsewhere are those that are replaced or recorded, too: MPI_Send and its like, MPI_Recv, the
// all-to-alls, and what makes neighbourhoods.
//
// CALL(Name, name, NAME, arguments in Fortran, parameters, arguments), hidden lengths of strings counted. COUNTED ones have a form with large counts, too
// (MPI 4). Functions of MPI 4 that Open MPI 5 does not have are left out, as are MPI_*_init of other collectives: they wait for nobody in any MPI
// that we know of.
#pragma once

#include <mpi.h>

// NOLINTBEGIN(bugprone-macro-parentheses)
// Parts of parameter lists.
#define OUT_BUFFER const void *sb, Count sc, MPI_Datatype st
#define IN_BUFFER void *rb, Count rc, MPI_Datatype rt
#define REDUCED const void *sb, void *rb
#define AT_WINDOW int target, MPI_Aint at, Count tc, MPI_Datatype tt

// Every rank needs all others of one communicator, which is the last argument: to wait for them there asks nothing new of the program.
#define COUNTED_COLLECTIVE_CALLS(CALL)                                                                       \
  CALL(Allgather, allgather, ALLGATHER, 8, (OUT_BUFFER, IN_BUFFER, MPI_Comm comm),                           \
       (sb, sc, st, rb, rc, rt, comm))                                                                       \
  CALL(Allgatherv, allgatherv, ALLGATHERV, 9,                                                                \
       (OUT_BUFFER, void* rb, const Count* rcs, const Displacement* rds, MPI_Datatype rt, MPI_Comm comm),    \
       (sb, sc, st, rb, rcs, rds, rt, comm))                                                                 \
  CALL(Allreduce, allreduce, ALLREDUCE, 7,                                                                   \
       (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sb, rb, count, type, op, comm)) \
  CALL(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, 7,                                                    \
       (REDUCED, const Count counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),                         \
       (sb, rb, counts, type, op, comm))                                                                     \
  CALL(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, 7,                                  \
       (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sb, rb, count, type, op, comm))

#define COUNTED_BLOCKING_CALLS(CALL)                                                                        \
  CALL(Bcast, bcast, BCAST, 6, (IN_BUFFER, int root, MPI_Comm comm), (rb, rc, rt, root, comm))              \
  CALL(Gather, gather, GATHER, 9, (OUT_BUFFER, IN_BUFFER, int root, MPI_Comm comm),                         \
       (sb, sc, st, rb, rc, rt, root, comm))                                                                \
  CALL(Gatherv, gatherv, GATHERV, 10,                                                                       \
       (OUT_BUFFER, void* rb, const Count* rcs, const Displacement* rds, MPI_Datatype rt, int root,         \
        MPI_Comm comm),                                                                                     \
       (sb, sc, st, rb, rcs, rds, rt, root, comm))                                                          \
  CALL(Scatter, scatter, SCATTER, 9, (OUT_BUFFER, IN_BUFFER, int root, MPI_Comm comm),                      \
       (sb, sc, st, rb, rc, rt, root, comm))                                                                \
  CALL(Scatterv, scatterv, SCATTERV, 10,                                                                    \
       (const void* sb, const Count* scs, const Displacement* sds, MPI_Datatype st, IN_BUFFER, int root,    \
        MPI_Comm comm),                                                                                     \
       (sb, scs, sds, st, rb, rc, rt, root, comm))                                                          \
  CALL(Reduce, reduce, REDUCE, 8,                                                                           \
       (REDUCED, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),                       \
       (sb, rb, count, type, op, root, comm))                                                               \
  CALL(Scan, scan, SCAN, 7, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),            \
       (sb, rb, count, type, op, comm))                                                                     \
  CALL(Exscan, exscan, EXSCAN, 7, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),      \
       (sb, rb, count, type, op, comm))                                                                     \
  CALL(Sendrecv, sendrecv, SENDRECV, 13,                                                                    \
       (OUT_BUFFER, int to, int stag, IN_BUFFER, int from, int rtag, MPI_Comm comm, MPI_Status* status),    \
       (sb, sc, st, to, stag, rb, rc, rt, from, rtag, comm, status))                                        \
  CALL(Sendrecv_replace, sendrecv_replace, SENDRECV_REPLACE, 10,                                            \
       (IN_BUFFER, int to, int stag, int from, int rtag, MPI_Comm comm, MPI_Status* status),                \
       (rb, rc, rt, to, stag, from, rtag, comm, status))                                                    \
  CALL(Mrecv, mrecv, MRECV, 6, (IN_BUFFER, MPI_Message * message, MPI_Status * status),                     \
       (rb, rc, rt, message, status))                                                                       \
  CALL(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, 8,                                       \
       (OUT_BUFFER, IN_BUFFER, MPI_Comm comm), (sb, sc, st, rb, rc, rt, comm))                              \
  CALL(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, 9,                                    \
       (OUT_BUFFER, void* rb, const Count* rcs, const Displacement* rds, MPI_Datatype rt, MPI_Comm comm),   \
       (sb, sc, st, rb, rcs, rds, rt, comm))                                                                \
  CALL(Put, put, PUT, 9, (OUT_BUFFER, AT_WINDOW, MPI_Win win), (sb, sc, st, target, at, tc, tt, win))       \
  CALL(Get, get, GET, 9, (IN_BUFFER, AT_WINDOW, MPI_Win win), (rb, rc, rt, target, at, tc, tt, win))        \
  CALL(Accumulate, accumulate, ACCUMULATE, 10, (OUT_BUFFER, AT_WINDOW, MPI_Op op, MPI_Win win),             \
       (sb, sc, st, target, at, tc, tt, op, win))                                                           \
  CALL(Get_accumulate, get_accumulate, GET_ACCUMULATE, 13,                                                  \
       (OUT_BUFFER, IN_BUFFER, AT_WINDOW, MPI_Op op, MPI_Win win),                                          \
       (sb, sc, st, rb, rc, rt, target, at, tc, tt, op, win))                                               \
  CALL(File_read_all, file_read_all, FILE_READ_ALL, 6, (MPI_File file, IN_BUFFER, MPI_Status * status),     \
       (file, rb, rc, rt, status))                                                                          \
  CALL(File_write_all, file_write_all, FILE_WRITE_ALL, 6, (MPI_File file, OUT_BUFFER, MPI_Status * status), \
       (file, sb, sc, st, status))                                                                          \
  CALL(File_read_at_all, file_read_at_all, FILE_READ_AT_ALL, 7,                                             \
       (MPI_File file, MPI_Offset offset, IN_BUFFER, MPI_Status * status),                                  \
       (file, offset, rb, rc, rt, status))                                                                  \
  CALL(File_write_at_all, file_write_at_all, FILE_WRITE_AT_ALL, 7,                                          \
       (MPI_File file, MPI_Offset offset, OUT_BUFFER, MPI_Status * status),                                 \
       (file, offset, sb, sc, st, status))                                                                  \
  CALL(File_read_ordered, file_read_ordered, FILE_READ_ORDERED, 6,                                          \
       (MPI_File file, IN_BUFFER, MPI_Status * status), (file, rb, rc, rt, status))                         \
  CALL(File_write_ordered, file_write_ordered, FILE_WRITE_ORDERED, 6,                                       \
       (MPI_File file, OUT_BUFFER, MPI_Status * status), (file, sb, sc, st, status))                        \
  CALL(File_read_all_begin, file_read_all_begin, FILE_READ_ALL_BEGIN, 5, (MPI_File file, IN_BUFFER),        \
       (file, rb, rc, rt))                                                                                  \
  CALL(File_write_all_begin, file_write_all_begin, FILE_WRITE_ALL_BEGIN, 5, (MPI_File file, OUT_BUFFER),    \
       (file, sb, sc, st))                                                                                  \
  CALL(File_read_at_all_begin, file_read_at_all_begin, FILE_READ_AT_ALL_BEGIN, 6,                           \
       (MPI_File file, MPI_Offset offset, IN_BUFFER), (file, offset, rb, rc, rt))                           \
  CALL(File_write_at_all_begin, file_write_at_all_begin, FILE_WRITE_AT_ALL_BEGIN, 6,                        \
       (MPI_File file, MPI_Offset offset, OUT_BUFFER), (file, offset, sb, sc, st))                          \
  CALL(File_read_ordered_begin, file_read_ordered_begin, FILE_READ_ORDERED_BEGIN, 5,                        \
       (MPI_File file, IN_BUFFER), (file, rb, rc, rt))                                                      \
  CALL(File_write_ordered_begin, file_write_ordered_begin, FILE_WRITE_ORDERED_BEGIN, 5,                     \
       (MPI_File file, OUT_BUFFER), (file, sb, sc, st))

#define OTHER_COLLECTIVE_CALLS(CALL) CALL(Barrier, barrier, BARRIER, 2, (MPI_Comm comm), (comm))

#define OTHER_BLOCKING_CALLS(CALL)                                                                           \
  CALL(Probe, probe, PROBE, 5, (int from, int tag, MPI_Comm comm, MPI_Status* status),                       \
       (from, tag, comm, status))                                                                            \
  CALL(Mprobe, mprobe, MPROBE, 6,                                                                            \
       (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),                         \
       (from, tag, comm, message, status))                                                                   \
  CALL(Comm_dup, comm_dup, COMM_DUP, 3, (MPI_Comm comm, MPI_Comm * made), (comm, made))                      \
  CALL(Comm_dup_with_info, comm_dup_with_info, COMM_DUP_WITH_INFO, 4,                                        \
       (MPI_Comm comm, MPI_Info info, MPI_Comm * made), (comm, info, made))                                  \
  CALL(Comm_create, comm_create, COMM_CREATE, 4, (MPI_Comm comm, MPI_Group group, MPI_Comm * made),          \
       (comm, group, made))                                                                                  \
  CALL(Comm_create_group, comm_create_group, COMM_CREATE_GROUP, 5,                                           \
       (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made), (comm, group, tag, made))                  \
  CALL(Comm_split, comm_split, COMM_SPLIT, 5, (MPI_Comm comm, int color, int key, MPI_Comm* made),           \
       (comm, color, key, made))                                                                             \
  CALL(Comm_split_type, comm_split_type, COMM_SPLIT_TYPE, 6,                                                 \
       (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made), (comm, type, key, info, made))     \
  CALL(Comm_free, comm_free, COMM_FREE, 2, (MPI_Comm * comm), (comm))                                        \
  CALL(Comm_disconnect, comm_disconnect, COMM_DISCONNECT, 2, (MPI_Comm * comm), (comm))                      \
  CALL(Comm_accept, comm_accept, COMM_ACCEPT, 7,                                                             \
       (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),                           \
       (port, info, root, comm, made))                                                                       \
  CALL(Comm_connect, comm_connect, COMM_CONNECT, 7,                                                          \
       (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),                           \
       (port, info, root, comm, made))                                                                       \
  CALL(Comm_join, comm_join, COMM_JOIN, 3, (int socket, MPI_Comm* made), (socket, made))                     \
  CALL(Comm_spawn, comm_spawn, COMM_SPAWN, 11,                                                               \
       (const char* command, char* argv[], int most, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made, \
        int codes[]),                                                                                        \
       (command, argv, most, info, root, comm, made, codes))                                                 \
  CALL(Comm_spawn_multiple, comm_spawn_multiple, COMM_SPAWN_MULTIPLE, 12,                                    \
       (int count, char* commands[], char** argvs[], const int most[], const MPI_Info infos[], int root,     \
        MPI_Comm comm, MPI_Comm* made, int codes[]),                                                         \
       (count, commands, argvs, most, infos, root, comm, made, codes))                                       \
  CALL(Intercomm_create, intercomm_create, INTERCOMM_CREATE, 7,                                              \
       (MPI_Comm comm, int leader, MPI_Comm peer, int other, int tag, MPI_Comm* made),                       \
       (comm, leader, peer, other, tag, made))                                                               \
  CALL(Intercomm_merge, intercomm_merge, INTERCOMM_MERGE, 4, (MPI_Comm comm, int high, MPI_Comm* made),      \
       (comm, high, made))                                                                                   \
  CALL(Buffer_detach, buffer_detach, BUFFER_DETACH, 3, (void* buffer, int* size), (buffer, size))            \
  CALL(Fetch_and_op, fetch_and_op, FETCH_AND_OP, 8,                                                          \
       (REDUCED, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win win),                        \
       (sb, rb, type, target, at, op, win))                                                                  \
  CALL(Compare_and_swap, compare_and_swap, COMPARE_AND_SWAP, 8,                                              \
       (const void* sb, const void* compared, void* rb, MPI_Datatype type, int target, MPI_Aint at,          \
        MPI_Win win),                                                                                        \
       (sb, compared, rb, type, target, at, win))                                                            \
  CALL(Win_create, win_create, WIN_CREATE, 7,                                                                \
       (void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),                   \
       (base, bytes, unit, info, comm, win))                                                                 \
  CALL(Win_allocate, win_allocate, WIN_ALLOCATE, 7,                                                          \
       (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),                   \
       (bytes, unit, info, comm, base, win))                                                                 \
  CALL(Win_allocate_shared, win_allocate_shared, WIN_ALLOCATE_SHARED, 7,                                     \
       (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),                   \
       (bytes, unit, info, comm, base, win))                                                                 \
  CALL(Win_create_dynamic, win_create_dynamic, WIN_CREATE_DYNAMIC, 4,                                        \
       (MPI_Info info, MPI_Comm comm, MPI_Win * win), (info, comm, win))                                     \
  CALL(Win_free, win_free, WIN_FREE, 2, (MPI_Win * win), (win))                                              \
  CALL(Win_fence, win_fence, WIN_FENCE, 3, (int assertion, MPI_Win win), (assertion, win))                   \
  CALL(Win_start, win_start, WIN_START, 4, (MPI_Group group, int assertion, MPI_Win win),                    \
       (group, assertion, win))                                                                              \
  CALL(Win_complete, win_complete, WIN_COMPLETE, 2, (MPI_Win win), (win))                                    \
  CALL(Win_post, win_post, WIN_POST, 4, (MPI_Group group, int assertion, MPI_Win win),                       \
       (group, assertion, win))                                                                              \
  CALL(Win_wait, win_wait, WIN_WAIT, 2, (MPI_Win win), (win))                                                \
  CALL(Win_lock, win_lock, WIN_LOCK, 5, (int type, int rank, int assertion, MPI_Win win),                    \
       (type, rank, assertion, win))                                                                         \
  CALL(Win_lock_all, win_lock_all, WIN_LOCK_ALL, 3, (int assertion, MPI_Win win), (assertion, win))          \
  CALL(Win_unlock, win_unlock, WIN_UNLOCK, 3, (int rank, MPI_Win win), (rank, win))                          \
  CALL(Win_unlock_all, win_unlock_all, WIN_UNLOCK_ALL, 2, (MPI_Win win), (win))                              \
  CALL(Win_flush, win_flush, WIN_FLUSH, 3, (int rank, MPI_Win win), (rank, win))                             \
  CALL(Win_flush_all, win_flush_all, WIN_FLUSH_ALL, 2, (MPI_Win win), (win))                                 \
  CALL(Win_flush_local, win_flush_local, WIN_FLUSH_LOCAL, 3, (int rank, MPI_Win win), (rank, win))           \
  CALL(Win_flush_local_all, win_flush_local_all, WIN_FLUSH_LOCAL_ALL, 2, (MPI_Win win), (win))               \
  CALL(File_open, file_open, FILE_OPEN, 7,                                                                   \
       (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),                           \
       (comm, name, mode, info, file))                                                                       \
  CALL(File_close, file_close, FILE_CLOSE, 2, (MPI_File * file), (file))                                     \
  CALL(File_set_size, file_set_size, FILE_SET_SIZE, 3, (MPI_File file, MPI_Offset bytes), (file, bytes))     \
  CALL(File_preallocate, file_preallocate, FILE_PREALLOCATE, 3, (MPI_File file, MPI_Offset bytes),           \
       (file, bytes))                                                                                        \
  CALL(File_set_info, file_set_info, FILE_SET_INFO, 3, (MPI_File file, MPI_Info info), (file, info))         \
  CALL(File_set_view, file_set_view, FILE_SET_VIEW, 8,                                                       \
       (MPI_File file, MPI_Offset offset, MPI_Datatype etype, MPI_Datatype type, const char* form,           \
        MPI_Info info),                                                                                      \
       (file, offset, etype, type, form, info))                                                              \
  CALL(File_set_atomicity, file_set_atomicity, FILE_SET_ATOMICITY, 3, (MPI_File file, int flag),             \
       (file, flag))                                                                                         \
  CALL(File_sync, file_sync, FILE_SYNC, 2, (MPI_File file), (file))                                          \
  CALL(File_seek_shared, file_seek_shared, FILE_SEEK_SHARED, 4,                                              \
       (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))                               \
  CALL(File_read_all_end, file_read_all_end, FILE_READ_ALL_END, 4,                                           \
       (MPI_File file, void* rb, MPI_Status* status), (file, rb, status))                                    \
  CALL(File_write_all_end, file_write_all_end, FILE_WRITE_ALL_END, 4,                                        \
       (MPI_File file, const void* sb, MPI_Status* status), (file, sb, status))                              \
  CALL(File_read_at_all_end, file_read_at_all_end, FILE_READ_AT_ALL_END, 4,                                  \
       (MPI_File file, void* rb, MPI_Status* status), (file, rb, status))                                    \
  CALL(File_write_at_all_end, file_write_at_all_end, FILE_WRITE_AT_ALL_END, 4,                               \
       (MPI_File file, const void* sb, MPI_Status* status), (file, sb, status))                              \
  CALL(File_read_ordered_end, file_read_ordered_end, FILE_READ_ORDERED_END, 4,                               \
       (MPI_File file, void* rb, MPI_Status* status), (file, rb, status))                                    \
  CALL(File_write_ordered_end, file_write_ordered_end, FILE_WRITE_ORDERED_END, 4,                            \
       (MPI_File file, const void* sb, MPI_Status* status), (file, sb, status))
// NOLINTEND(bugprone-macro-parentheses)
