/* Four processes, all communicators that they can make, and all collectives: ids that the members
 * agree on, groups, and how many collectives each has entered. */

#include "tests/recorder/programs/expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, size;
static int made; /* communicators so far: the next one's name */

static const int32_t* ranks_at(const struct mqr_slot* slot) {
  return (const int32_t*)slot->word;
}

static void check_group(MPI_Group group, int count, const int32_t* recorded) {
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  REQUIRE(recorded != NULL);
  for (int i = 0; i < count; ++i) {
    int rank = MPI_UNDEFINED;
    MPI_Group_translate_ranks(group, 1, &i, world, &rank);
    REQUIRE(recorded[i] == rank);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&group);
}

/* On its members, and no other communicator of this process has it. */
static void check_id(MPI_Comm comm, const struct mqr_communicator* seen) {
  unsigned long long ids[64], mine = seen->id;
  MPI_Group group;
  int inter = 0, count = 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    MPI_Comm_remote_size(comm, &count);
  else
    MPI_Comm_size(comm, &count);
  MPI_Allgather(&mine, 1, MPI_UNSIGNED_LONG_LONG, ids, 1, MPI_UNSIGNED_LONG_LONG, comm);
  for (int i = 0; i < count; ++i)
    REQUIRE(ids[i] == mine);
  uint32_t same = 0;
  for (const struct mqr_communicator* one =
           (const struct mqr_communicator*)recorder()->communicators.first.word;
       one != NULL; one = (const struct mqr_communicator*)one->node.next.word)
    same += one->id == seen->id;
  REQUIRE(same == 1);
  MPI_Comm_group(comm, &group);
  check_group(group, seen->size, ranks_at(&seen->group));
  if (inter) {
    MPI_Comm_remote_group(comm, &group);
    check_group(group, seen->remote_size, ranks_at(&seen->remote_group));
  }
}

/* A communicator of the constructor `how`. */
static void check_made(MPI_Comm comm, const char* how) {
  char name[32];
  if (comm == MPI_COMM_NULL)
    return;
  snprintf(name, sizeof name, "%s %d", how, made++);
  MPI_Comm_set_name(comm, name);
  if (recorder() == NULL)
    return;
  const struct mqr_communicator* const seen = recorded_communicator(name);
  int inter = 0, count = 0, rank = 0;
  REQUIRE(seen != NULL);
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_size(comm, &count);
  MPI_Comm_rank(comm, &rank);
  REQUIRE(seen->size == count && seen->local_rank == rank);
  REQUIRE(seen->node.kind == (inter ? MQR_INTER : MQR_INTRA));
  REQUIRE(seen->flags == MQR_NAMED);
  REQUIRE(seen->collectives == 0);
  check_id(comm, seen);
  REQUIRE(seen->collectives == 1);
}

static void check_freed(MPI_Comm* comm) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  if (*comm == MPI_COMM_NULL)
    return;
  MPI_Comm_get_name(*comm, name, &length);
  MPI_Comm_free(comm);
  if (recorder() != NULL)
    REQUIRE(recorded_communicator(name) == NULL);
}

/* `call` makes `comm` as the next collective of "parent". */
#define MADE(how, call)                                                                            \
  do {                                                                                             \
    MPI_Comm comm = MPI_COMM_NULL;                                                                 \
    call;                                                                                          \
    expect_collectives("parent", 1);                                                               \
    CHECK();                                                                                       \
    check_made(comm, how);                                                                         \
    check_freed(&comm);                                                                            \
    CHECK();                                                                                       \
  } while (0)

static void from_one_parent(MPI_Comm parent) {
  const int dims[2] = {2, 2}, periods[2] = {0, 0}, remain[2] = {1, 0};
  const int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2};
  const int next = (me + 1) % size, before = (me + size - 1) % size, one = 1;
  MPI_Group group, half;
  MPI_Request request;
  MPI_Comm_group(parent, &group);
  const int members[2] = {3, 1};
  MPI_Group_incl(group, 2, members, &half);
  MADE("dup", MPI_Comm_dup(parent, &comm));
  MADE("dup", MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &comm));
  MADE("idup", MPI_Comm_idup(parent, &comm, &request); MPI_Wait(&request, MPI_STATUS_IGNORE));
  MADE("create", MPI_Comm_create(parent, half, &comm));
  MADE("split", MPI_Comm_split(parent, me % 2, -me, &comm));
  MADE("split", MPI_Comm_split(parent, me == 0 ? MPI_UNDEFINED : 1, 0, &comm));
  MADE("shared", MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
  MADE("cart", MPI_Cart_create(parent, 2, dims, periods, 0, &comm));
  MADE("graph", MPI_Graph_create(parent, 4, index, edges, 0, &comm));
  MADE("dist graph",
       MPI_Dist_graph_create(parent, 1, &me, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  MADE("dist graph", MPI_Dist_graph_create_adjacent(parent, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                                    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  MPI_Comm grid, row;
  MPI_Cart_create(parent, 2, dims, periods, 0, &grid);
  expect_collectives("parent", 1);
  check_made(grid, "grid");
  MPI_Cart_sub(grid, remain, &row);
  check_made(row, "row");
  check_freed(&row);
  check_freed(&grid);
  MPI_Group_free(&half);
  MPI_Group_free(&group);
}

/* Made by some members only, whatever others make at the same time. */
static void from_groups(MPI_Comm parent) {
  MPI_Group all, group;
  MPI_Comm comm;
  MPI_Comm_group(parent, &all);
  for (int round = 0; round < 3; ++round) {
    const int with[2] = {0, 1 + round};
    MPI_Group_incl(all, 2, with, &group);
    for (int twice = 0; twice < 2 && (me == 0 || me == with[1]); ++twice) {
      MPI_Comm_create_group(parent, group, 5, &comm);
      check_made(comm, "group");
      check_freed(&comm);
    }
    MPI_Group_free(&group);
  }
  MPI_Group_free(&all);
  CHECK();
}

static void intercommunicators(MPI_Comm parent) {
  MPI_Comm half, across, merged;
  MPI_Comm_split(parent, me % 2, me, &half);
  expect_collectives("parent", 1);
  check_made(half, "half");
  for (int twice = 0; twice < 2; ++twice) {
    MPI_Intercomm_create(half, 0, parent, 1 - me % 2, 8, &across);
    check_made(across, "across");
    MPI_Intercomm_merge(across, me % 2, &merged);
    check_made(merged, "merged");
    check_freed(&merged);
    int number = 7;
    MPI_Bcast(&number, 1, MPI_INT, me % 2 == 1 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, across);
    MPI_Comm dup;
    MPI_Comm_dup(across, &dup);
    check_made(dup, "dup across");
    check_freed(&dup);
    MPI_Request request;
    int other = -1;
    MPI_Irecv(&other, 1, MPI_INT, me / 2, 3, across, &request);
    MPI_Send(&me, 1, MPI_INT, me / 2, 3, across);
    if (recorder() != NULL && recorded_operation("half", MQR_RECEIVE, 3) == NULL) {
      char name[MPI_MAX_OBJECT_NAME];
      int length = 0;
      MPI_Comm_get_name(across, name, &length);
      REQUIRE(recorded_operation(name, MQR_RECEIVE, 3)->peer_world == me + 1 - me % 2 * 2);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    REQUIRE(other == me + 1 - me % 2 * 2);
    MPI_Comm_disconnect(&across);
  }
  check_freed(&half);
  CHECK();
}

/* Each collective and its nonblocking twin count once. */
#define COUNTED(call)                                                                              \
  do {                                                                                             \
    call;                                                                                          \
    expect_collectives("parent", 1);                                                               \
    CHECK();                                                                                       \
  } while (0)
#define FINISHED(call)                                                                             \
  COUNTED({                                                                                        \
    MPI_Request request;                                                                           \
    call;                                                                                          \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                                         \
  })

static void collectives(MPI_Comm comm) {
  int a[16] = {0}, b[16] = {0};
  const int each[4] = {1, 1, 1, 1}, at[4] = {0, 1, 2, 3};
  const int places[4] = {0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int)};
  const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  for (int i = 0; i < 4; ++i)
    a[i] = me;
  COUNTED(MPI_Barrier(comm));
  COUNTED(MPI_Bcast(b, 1, MPI_INT, 2, comm));
  COUNTED(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 1, comm));
  COUNTED(MPI_Gatherv(a, 1, MPI_INT, b, each, at, MPI_INT, 1, comm));
  COUNTED(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, 0, comm));
  REQUIRE(b[0] == 0);
  COUNTED(MPI_Scatterv(a, each, at, MPI_INT, b, 1, MPI_INT, 3, comm));
  REQUIRE(b[0] == 3);
  COUNTED(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, comm));
  REQUIRE(b[3] == 3);
  b[me] = me + 10;
  COUNTED(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm));
  REQUIRE(b[3] == 13);
  COUNTED(MPI_Allgatherv(a, 1, MPI_INT, b, each, at, MPI_INT, comm));
  COUNTED(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm));
  COUNTED(MPI_Alltoallv(a, each, at, MPI_INT, b, each, at, MPI_INT, comm));
  COUNTED(MPI_Alltoallw(a, each, places, types, b, each, places, types, comm));
  REQUIRE(b[2] == 2);
  COUNTED(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, comm));
  COUNTED(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, comm));
  REQUIRE(b[0] == 6);
  COUNTED(MPI_Reduce_scatter(a, b, each, MPI_INT, MPI_SUM, comm));
  COUNTED(MPI_Reduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, comm));
  REQUIRE(b[0] == 6);
  COUNTED(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, comm));
  COUNTED(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, comm));
  FINISHED(MPI_Ibarrier(comm, &request));
  FINISHED(MPI_Ibcast(b, 1, MPI_INT, 2, comm, &request));
  FINISHED(MPI_Igather(a, 1, MPI_INT, b, 1, MPI_INT, 1, comm, &request));
  FINISHED(MPI_Igatherv(a, 1, MPI_INT, b, each, at, MPI_INT, 1, comm, &request));
  FINISHED(MPI_Iscatter(a, 1, MPI_INT, b, 1, MPI_INT, 0, comm, &request));
  FINISHED(MPI_Iscatterv(a, each, at, MPI_INT, b, 1, MPI_INT, 3, comm, &request));
  REQUIRE(b[0] == 3);
  FINISHED(MPI_Iallgather(a, 1, MPI_INT, b, 1, MPI_INT, comm, &request));
  FINISHED(MPI_Iallgatherv(a, 1, MPI_INT, b, each, at, MPI_INT, comm, &request));
  FINISHED(MPI_Ialltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm, &request));
  FINISHED(MPI_Ialltoallv(a, each, at, MPI_INT, b, each, at, MPI_INT, comm, &request));
  FINISHED(MPI_Ialltoallw(a, each, places, types, b, each, places, types, comm, &request));
  FINISHED(MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, 0, comm, &request));
  FINISHED(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
  REQUIRE(b[0] == 6);
  FINISHED(MPI_Ireduce_scatter(a, b, each, MPI_INT, MPI_SUM, comm, &request));
  FINISHED(MPI_Ireduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
  FINISHED(MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
  FINISHED(MPI_Iexscan(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
}

static void neighbours(MPI_Comm parent) {
  const int four = 4, periods = 1, each[2] = {1, 1}, at[2] = {0, 1};
  const MPI_Aint places[2] = {0, sizeof(int)};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  int a[2] = {me, me}, b[2] = {0, 0};
  MPI_Comm comm;
  MPI_Cart_create(parent, 1, &four, &periods, 0, &comm);
  expect_collectives("parent", 1);
  MPI_Comm_set_name(comm, "ring");
  expect_communicator(comm, "ring");
#undef COUNTED
#define COUNTED(call)                                                                              \
  do {                                                                                             \
    call;                                                                                          \
    expect_collectives("ring", 1);                                                                 \
    CHECK();                                                                                       \
  } while (0)
  COUNTED(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, comm));
  COUNTED(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, each, at, MPI_INT, comm));
  COUNTED(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm));
  COUNTED(MPI_Neighbor_alltoallv(a, each, at, MPI_INT, b, each, at, MPI_INT, comm));
  COUNTED(MPI_Neighbor_alltoallw(a, each, places, types, b, each, places, types, comm));
  REQUIRE(b[0] == (me + 3) % 4 && b[1] == (me + 1) % 4);
  FINISHED(MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, comm, &request));
  FINISHED(MPI_Ineighbor_allgatherv(a, 1, MPI_INT, b, each, at, MPI_INT, comm, &request));
  FINISHED(MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm, &request));
  FINISHED(MPI_Ineighbor_alltoallv(a, each, at, MPI_INT, b, each, at, MPI_INT, comm, &request));
  FINISHED(MPI_Ineighbor_alltoallw(a, each, places, types, b, each, places, types, comm, &request));
  MPI_Comm_free(&comm);
  expect_freed("ring");
}

static void under_way(MPI_Comm comm) {
  MPI_Request request;
  if (me != 0) {
    MPI_Ibarrier(comm, &request);
    expect_collectives("parent", 1);
    expect_under_way("parent", 1);
    CHECK(); /* the first one has not come yet */
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(comm, &request);
    expect_collectives("parent", 1);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_under_way("parent", 0);
  CHECK();
}

static void windows(MPI_Comm comm) {
  MPI_Win window, allocated;
  MPI_Group group;
  void* base = NULL;
  int number = 0, flag = 0;
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, comm, &window);
  MPI_Win_allocate(sizeof number, 1, MPI_INFO_NULL, comm, &base, &allocated);
  expect_collectives("parent", 2);
  MPI_Win_fence(0, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock_all(0, allocated);
  MPI_Win_flush_all(allocated);
  MPI_Win_flush_local(0, allocated);
  MPI_Win_unlock_all(allocated);
  MPI_Comm_group(comm, &group);
  MPI_Win_post(group, 0, window);
  MPI_Win_start(group, 0, window);
  MPI_Win_complete(window);
  while (!flag)
    MPI_Win_test(window, &flag);
  MPI_Win_free(&window);
  MPI_Win_free(&allocated);
  MPI_Group_free(&group);
  CHECK();
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size == 4);
  if (recorder() != NULL)
    REQUIRE(recorded_communicator("MPI_COMM_WORLD")->id == 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_name(parent, "parent");
  expect_communicator(parent, "parent");
  from_one_parent(parent);
  from_groups(parent);
  intercommunicators(parent);
  collectives(parent);
  neighbours(parent);
  under_way(parent);
  windows(parent);
  MPI_Comm_free(&parent);
  expect_freed("parent");
  MPI_Finalize();
  passed("together");
  return 0;
}
