// SPDX-License-Identifier: BSD-3-Clause
// The calls of MPI that may wait for other ranks and cannot be turned into a loop of tests: whoever enters one leaves his exchanges that are
// under way to MPI (background.hpp). Elsewhere are those that are replaced, too: the all-to-alls, and what makes neighbourhoods.
//
// CALL(Name, parameters, arguments). COUNTED ones have a form with large counts, too
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
#define COUNTED_COLLECTIVE_CALLS(CALL)                                                                    \
  CALL(Allgather, (OUT_BUFFER, IN_BUFFER, MPI_Comm comm), (sb, sc, st, rb, rc, rt, comm))                 \
  CALL(Allgatherv,                                                                                        \
       (OUT_BUFFER, void* rb, const Count* rcs, const Displacement* rds, MPI_Datatype rt, MPI_Comm comm), \
       (sb, sc, st, rb, rcs, rds, rt, comm))                                                              \
  CALL(Allreduce, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                    \
       (sb, rb, count, type, op, comm))                                                                   \
  CALL(Reduce_scatter, (REDUCED, const Count counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),      \
       (sb, rb, counts, type, op, comm))                                                                  \
  CALL(Reduce_scatter_block, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),         \
       (sb, rb, count, type, op, comm))

#define TO_RANK (OUT_BUFFER, int to, int tag, MPI_Comm comm)
#define TO_RANK_ARGS (sb, sc, st, to, tag, comm)

#define COUNTED_BLOCKING_CALLS(CALL)                                                                        \
  CALL(Send, TO_RANK, TO_RANK_ARGS)                                                                         \
  CALL(Ssend, TO_RANK, TO_RANK_ARGS)                                                                        \
  CALL(Rsend, TO_RANK, TO_RANK_ARGS)                                                                        \
  CALL(Bsend, TO_RANK, TO_RANK_ARGS)                                                                        \
  CALL(Recv, (IN_BUFFER, int from, int tag, MPI_Comm comm, MPI_Status* status),                             \
       (rb, rc, rt, from, tag, comm, status))                                                               \
  CALL(Bcast, (IN_BUFFER, int root, MPI_Comm comm), (rb, rc, rt, root, comm))                               \
  CALL(Gather, (OUT_BUFFER, IN_BUFFER, int root, MPI_Comm comm), (sb, sc, st, rb, rc, rt, root, comm))      \
  CALL(Gatherv,                                                                                             \
       (OUT_BUFFER, void* rb, const Count* rcs, const Displacement* rds, MPI_Datatype rt, int root,         \
        MPI_Comm comm),                                                                                     \
       (sb, sc, st, rb, rcs, rds, rt, root, comm))                                                          \
  CALL(Scatter, (OUT_BUFFER, IN_BUFFER, int root, MPI_Comm comm), (sb, sc, st, rb, rc, rt, root, comm))     \
  CALL(Scatterv,                                                                                            \
       (const void* sb, const Count* scs, const Displacement* sds, MPI_Datatype st, IN_BUFFER, int root,    \
        MPI_Comm comm),                                                                                     \
       (sb, scs, sds, st, rb, rc, rt, root, comm))                                                          \
  CALL(Reduce, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),               \
       (sb, rb, count, type, op, root, comm))                                                               \
  CALL(Scan, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                           \
       (sb, rb, count, type, op, comm))                                                                     \
  CALL(Exscan, (REDUCED, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                         \
       (sb, rb, count, type, op, comm))                                                                     \
  CALL(Sendrecv,                                                                                            \
       (OUT_BUFFER, int to, int stag, IN_BUFFER, int from, int rtag, MPI_Comm comm, MPI_Status* status),    \
       (sb, sc, st, to, stag, rb, rc, rt, from, rtag, comm, status))                                        \
  CALL(Sendrecv_replace,                                                                                    \
       (IN_BUFFER, int to, int stag, int from, int rtag, MPI_Comm comm, MPI_Status* status),                \
       (rb, rc, rt, to, stag, from, rtag, comm, status))                                                    \
  CALL(Mrecv, (IN_BUFFER, MPI_Message * message, MPI_Status * status), (rb, rc, rt, message, status))       \
  CALL(Neighbor_allgather, (OUT_BUFFER, IN_BUFFER, MPI_Comm comm), (sb, sc, st, rb, rc, rt, comm))          \
  CALL(Neighbor_allgatherv,                                                                                 \
       (OUT_BUFFER, void* rb, const Count* rcs, const Displacement* rds, MPI_Datatype rt, MPI_Comm comm),   \
       (sb, sc, st, rb, rcs, rds, rt, comm))                                                                \
  CALL(Put, (OUT_BUFFER, AT_WINDOW, MPI_Win win), (sb, sc, st, target, at, tc, tt, win))                    \
  CALL(Get, (IN_BUFFER, AT_WINDOW, MPI_Win win), (rb, rc, rt, target, at, tc, tt, win))                     \
  CALL(Accumulate, (OUT_BUFFER, AT_WINDOW, MPI_Op op, MPI_Win win),                                         \
       (sb, sc, st, target, at, tc, tt, op, win))                                                           \
  CALL(Get_accumulate, (OUT_BUFFER, IN_BUFFER, AT_WINDOW, MPI_Op op, MPI_Win win),                          \
       (sb, sc, st, rb, rc, rt, target, at, tc, tt, op, win))                                               \
  CALL(File_read_all, (MPI_File file, IN_BUFFER, MPI_Status * status), (file, rb, rc, rt, status))          \
  CALL(File_write_all, (MPI_File file, OUT_BUFFER, MPI_Status * status), (file, sb, sc, st, status))        \
  CALL(File_read_at_all, (MPI_File file, MPI_Offset offset, IN_BUFFER, MPI_Status * status),                \
       (file, offset, rb, rc, rt, status))                                                                  \
  CALL(File_write_at_all, (MPI_File file, MPI_Offset offset, OUT_BUFFER, MPI_Status * status),              \
       (file, offset, sb, sc, st, status))                                                                  \
  CALL(File_read_ordered, (MPI_File file, IN_BUFFER, MPI_Status * status), (file, rb, rc, rt, status))      \
  CALL(File_write_ordered, (MPI_File file, OUT_BUFFER, MPI_Status * status), (file, sb, sc, st, status))    \
  CALL(File_read_all_begin, (MPI_File file, IN_BUFFER), (file, rb, rc, rt))                                 \
  CALL(File_write_all_begin, (MPI_File file, OUT_BUFFER), (file, sb, sc, st))                               \
  CALL(File_read_at_all_begin, (MPI_File file, MPI_Offset offset, IN_BUFFER), (file, offset, rb, rc, rt))   \
  CALL(File_write_at_all_begin, (MPI_File file, MPI_Offset offset, OUT_BUFFER), (file, offset, sb, sc, st)) \
  CALL(File_read_ordered_begin, (MPI_File file, IN_BUFFER), (file, rb, rc, rt))                             \
  CALL(File_write_ordered_begin, (MPI_File file, OUT_BUFFER), (file, sb, sc, st))

#define OTHER_COLLECTIVE_CALLS(CALL) CALL(Barrier, (MPI_Comm comm), (comm))

#define OTHER_BLOCKING_CALLS(CALL)                                                                           \
  CALL(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status))             \
  CALL(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),                 \
       (from, tag, comm, message, status))                                                                   \
  CALL(Comm_dup, (MPI_Comm comm, MPI_Comm * made), (comm, made))                                             \
  CALL(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm * made), (comm, info, made))              \
  CALL(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm * made), (comm, group, made))                  \
  CALL(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),                         \
       (comm, group, tag, made))                                                                             \
  CALL(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))            \
  CALL(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),                   \
       (comm, type, key, info, made))                                                                        \
  CALL(Comm_accept, (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),              \
       (port, info, root, comm, made))                                                                       \
  CALL(Comm_connect, (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),             \
       (port, info, root, comm, made))                                                                       \
  CALL(Comm_join, (int socket, MPI_Comm* made), (socket, made))                                              \
  CALL(Comm_spawn,                                                                                           \
       (const char* command, char* argv[], int most, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made, \
        int codes[]),                                                                                        \
       (command, argv, most, info, root, comm, made, codes))                                                 \
  CALL(Comm_spawn_multiple,                                                                                  \
       (int count, char* commands[], char** argvs[], const int most[], const MPI_Info infos[], int root,     \
        MPI_Comm comm, MPI_Comm* made, int codes[]),                                                         \
       (count, commands, argvs, most, infos, root, comm, made, codes))                                       \
  CALL(Intercomm_create, (MPI_Comm comm, int leader, MPI_Comm peer, int other, int tag, MPI_Comm* made),     \
       (comm, leader, peer, other, tag, made))                                                               \
  CALL(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made), (comm, high, made))                       \
  CALL(Buffer_detach, (void* buffer, int* size), (buffer, size))                                             \
  CALL(Fetch_and_op, (REDUCED, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win win),          \
       (sb, rb, type, target, at, op, win))                                                                  \
  CALL(Compare_and_swap,                                                                                     \
       (const void* sb, const void* compared, void* rb, MPI_Datatype type, int target, MPI_Aint at,          \
        MPI_Win win),                                                                                        \
       (sb, compared, rb, type, target, at, win))                                                            \
  CALL(Win_create, (void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),       \
       (base, bytes, unit, info, comm, win))                                                                 \
  CALL(Win_allocate, (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),     \
       (bytes, unit, info, comm, base, win))                                                                 \
  CALL(Win_allocate_shared,                                                                                  \
       (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),                   \
       (bytes, unit, info, comm, base, win))                                                                 \
  CALL(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win * win), (info, comm, win))                 \
  CALL(Win_free, (MPI_Win * win), (win))                                                                     \
  CALL(Win_fence, (int assertion, MPI_Win win), (assertion, win))                                            \
  CALL(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))                    \
  CALL(Win_complete, (MPI_Win win), (win))                                                                   \
  CALL(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))                     \
  CALL(Win_wait, (MPI_Win win), (win))                                                                       \
  CALL(Win_lock, (int type, int rank, int assertion, MPI_Win win), (type, rank, assertion, win))             \
  CALL(Win_lock_all, (int assertion, MPI_Win win), (assertion, win))                                         \
  CALL(Win_unlock, (int rank, MPI_Win win), (rank, win))                                                     \
  CALL(Win_unlock_all, (MPI_Win win), (win))                                                                 \
  CALL(Win_flush, (int rank, MPI_Win win), (rank, win))                                                      \
  CALL(Win_flush_all, (MPI_Win win), (win))                                                                  \
  CALL(Win_flush_local, (int rank, MPI_Win win), (rank, win))                                                \
  CALL(Win_flush_local_all, (MPI_Win win), (win))                                                            \
  CALL(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),                \
       (comm, name, mode, info, file))                                                                       \
  CALL(File_close, (MPI_File * file), (file))                                                                \
  CALL(File_set_size, (MPI_File file, MPI_Offset bytes), (file, bytes))                                      \
  CALL(File_preallocate, (MPI_File file, MPI_Offset bytes), (file, bytes))                                   \
  CALL(File_set_info, (MPI_File file, MPI_Info info), (file, info))                                          \
  CALL(File_set_view,                                                                                        \
       (MPI_File file, MPI_Offset offset, MPI_Datatype etype, MPI_Datatype type, const char* form,           \
        MPI_Info info),                                                                                      \
       (file, offset, etype, type, form, info))                                                              \
  CALL(File_set_atomicity, (MPI_File file, int flag), (file, flag))                                          \
  CALL(File_sync, (MPI_File file), (file))                                                                   \
  CALL(File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))             \
  CALL(File_read_all_end, (MPI_File file, void* rb, MPI_Status* status), (file, rb, status))                 \
  CALL(File_write_all_end, (MPI_File file, const void* sb, MPI_Status* status), (file, sb, status))          \
  CALL(File_read_at_all_end, (MPI_File file, void* rb, MPI_Status* status), (file, rb, status))              \
  CALL(File_write_at_all_end, (MPI_File file, const void* sb, MPI_Status* status), (file, sb, status))       \
  CALL(File_read_ordered_end, (MPI_File file, void* rb, MPI_Status* status), (file, rb, status))             \
  CALL(File_write_ordered_end, (MPI_File file, const void* sb, MPI_Status* status), (file, sb, status))
// NOLINTEND(bugprone-macro-parentheses)
