#ifndef MQBRIDGE_DLL_RECORDER_FUNCTIONS_H
#define MQBRIDGE_DLL_RECORDER_FUNCTIONS_H

/* The MPI functions that the layout names by numbers. New ones are appended: a reader takes a
 * number that it does not know for a function that it cannot name. */

#include <stdint.h>

/* clang-format off */
#define MQR_FUNCTIONS(F)                                                                           \
  F(Init) F(Init_thread) F(Finalize) F(Abort)                                                      \
  F(Send) F(Bsend) F(Ssend) F(Rsend) F(Isend) F(Ibsend) F(Issend) F(Irsend)                        \
  F(Recv) F(Irecv) F(Sendrecv) F(Sendrecv_replace)                                                 \
  F(Probe) F(Iprobe) F(Mprobe) F(Improbe) F(Mrecv) F(Imrecv)                                       \
  F(Send_init) F(Bsend_init) F(Ssend_init) F(Rsend_init) F(Recv_init) F(Start) F(Startall)         \
  F(Wait) F(Waitall) F(Waitany) F(Waitsome) F(Test) F(Testall) F(Testany) F(Testsome)              \
  F(Cancel) F(Request_free) F(Buffer_detach)                                                       \
  F(Comm_dup) F(Comm_dup_with_info) F(Comm_idup) F(Comm_create) F(Comm_create_group)               \
  F(Comm_split) F(Comm_split_type) F(Intercomm_create) F(Intercomm_merge)                          \
  F(Cart_create) F(Cart_sub) F(Graph_create) F(Dist_graph_create) F(Dist_graph_create_adjacent)    \
  F(Comm_spawn) F(Comm_spawn_multiple) F(Comm_connect) F(Comm_accept) F(Comm_join)                 \
  F(Comm_disconnect) F(Comm_free)                                                                  \
  F(Barrier) F(Bcast) F(Gather) F(Gatherv) F(Scatter) F(Scatterv) F(Allgather) F(Allgatherv)       \
  F(Alltoall) F(Alltoallv) F(Alltoallw) F(Reduce) F(Allreduce) F(Reduce_scatter)                   \
  F(Reduce_scatter_block) F(Scan) F(Exscan) F(Neighbor_allgather) F(Neighbor_allgatherv)           \
  F(Neighbor_alltoall) F(Neighbor_alltoallv) F(Neighbor_alltoallw)                                 \
  F(Ibarrier) F(Ibcast) F(Igather) F(Igatherv) F(Iscatter) F(Iscatterv) F(Iallgather)              \
  F(Iallgatherv) F(Ialltoall) F(Ialltoallv) F(Ialltoallw) F(Ireduce) F(Iallreduce)                 \
  F(Ireduce_scatter) F(Ireduce_scatter_block) F(Iscan) F(Iexscan) F(Ineighbor_allgather)           \
  F(Ineighbor_allgatherv) F(Ineighbor_alltoall) F(Ineighbor_alltoallv) F(Ineighbor_alltoallw)      \
  F(Win_create) F(Win_allocate) F(Win_allocate_shared) F(Win_create_dynamic) F(Win_free)           \
  F(Win_fence) F(Win_post) F(Win_start) F(Win_complete) F(Win_wait) F(Win_test)                    \
  F(Win_lock) F(Win_lock_all) F(Win_unlock) F(Win_unlock_all)                                      \
  F(Win_flush) F(Win_flush_all) F(Win_flush_local) F(Win_flush_local_all)                \
  F(Request_get_status) F(Grequest_start) F(Rput) F(Rget) F(Raccumulate) F(Rget_accumulate)        \
  F(File_iread) F(File_iwrite) F(File_iread_at) F(File_iwrite_at) F(File_iread_all)                \
  F(File_iwrite_all) F(File_iread_at_all) F(File_iwrite_at_all) F(File_iread_shared)               \
  F(File_iwrite_shared) \
  F(Barrier_init) F(Bcast_init) F(Gather_init) F(Gatherv_init) F(Scatter_init) F(Scatterv_init) \
  F(Allgather_init) F(Allgatherv_init) F(Alltoall_init) F(Alltoallv_init) F(Alltoallw_init) \
  F(Reduce_init) F(Allreduce_init) F(Reduce_scatter_init) F(Reduce_scatter_block_init) F(Scan_init) \
  F(Exscan_init) F(Neighbor_allgather_init) F(Neighbor_allgatherv_init) F(Neighbor_alltoall_init) \
  F(Neighbor_alltoallv_init) F(Neighbor_alltoallw_init) F(Psend_init) F(Precv_init) F(Isendrecv) \
  F(Isendrecv_replace) \
  F(File_open) F(File_close) F(File_delete) F(File_set_size) F(File_preallocate) F(File_get_size) F(File_set_info) F(File_set_view) \
  F(File_read_at) F(File_read_at_all) F(File_write_at) F(File_write_at_all) F(File_read) F(File_read_all) F(File_write) F(File_write_all) \
  F(File_seek) F(File_read_shared) F(File_write_shared) F(File_read_ordered) F(File_write_ordered) F(File_seek_shared) \
  F(File_get_position_shared) F(File_read_at_all_begin) F(File_read_at_all_end) F(File_write_at_all_begin) F(File_write_at_all_end) \
  F(File_read_all_begin) F(File_read_all_end) F(File_write_all_begin) F(File_write_all_end) F(File_read_ordered_begin) \
  F(File_read_ordered_end) F(File_write_ordered_begin) F(File_write_ordered_end) F(File_set_atomicity) F(File_sync)
/* clang-format on */

enum mqr_function {
  MQR_NO_FUNCTION,
#define MQR_NUMBER(name) MQR_##name,
  MQR_FUNCTIONS(MQR_NUMBER)
#undef MQR_NUMBER
      MQR_FUNCTION_NUMBERS /* the first that is none */
};

/* "MPI_Send". NULL: no such number is known. */
static inline const char* mqr_function_name(uint32_t number) {
#define MQR_NAME(name) "MPI_" #name,
  static const char* const names[] = {0, MQR_FUNCTIONS(MQR_NAME)};
#undef MQR_NAME
  return number < MQR_FUNCTION_NUMBERS ? names[number] : 0;
}

#endif
