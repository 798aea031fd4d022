#include "tests/inferiors/oracle_log.h"

#include "tests/inferiors/job_files.h"

#include <stdio.h>
#include <stdlib.h>

static FILE* out = NULL;

void oracle_begin(const char* directory, int rank) {
  out = job_open(directory, "oracle", rank);
}

static void print_name(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Comm_get_name(comm, name, &length);
  fprintf(out, "\"communicator\":\"%.*s\"", length, name);
}

static int world_rank_in(MPI_Group group, int local_rank) {
  MPI_Group world = MPI_GROUP_NULL;
  int global_rank = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &local_rank, world, &global_rank);
  MPI_Group_free(&world);
  return global_rank;
}

static int world_rank_of(MPI_Comm comm, int local_rank) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  const int global_rank = world_rank_in(group, local_rank);
  MPI_Group_free(&group);
  return global_rank;
}

void oracle_communicator(MPI_Comm comm) {
  int rank = -1;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fprintf(out, "{\"line\":\"communicator\",");
  print_name(comm);
  fprintf(out, ",\"local_rank\":%d,\"size\":%d,\"group\":[", rank, size);
  for (int i = 0; i < size; ++i)
    fprintf(out, "%s%d", i ? "," : "", world_rank_of(comm, i));
  fprintf(out, "]}\n");
}

// A peer's rank in MPI_COMM_WORLD. Those of an intercommunicator are in its remote group.
static int peers_world_rank(MPI_Comm comm, int peer) {
  int is_inter = 0;
  MPI_Comm_test_inter(comm, &is_inter);
  if (!is_inter)
    return world_rank_of(comm, peer);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_remote_group(comm, &group);
  const int global_rank = world_rank_in(group, peer);
  MPI_Group_free(&group);
  return global_rank;
}

static void print_peer(const char* name, MPI_Comm comm, int peer) {
  if (peer == MPI_ANY_SOURCE)
    fprintf(out, ",\"%s\":{\"any\":true,\"local_rank\":null,\"global_rank\":null}", name);
  else {
    fprintf(out, ",\"%s\":{\"any\":false,\"local_rank\":%d,\"global_rank\":%d}", name, peer,
            peers_world_rank(comm, peer));
  }
}

void oracle_internal_communicators(int count) {
  fprintf(out, "{\"line\":\"internal\",\"count\":%d}\n", count);
}

static void print_data(const struct posted_operation* operation) {
  if (operation->length < 0)
    fprintf(out, ",\"length\":null");
  else
    fprintf(out, ",\"length\":%ld", operation->length);
  if (operation->buffer == NULL)
    fprintf(out, ",\"buffer\":null");
  else if (!operation->buffer_unknown)
    fprintf(out, ",\"buffer\":\"%p\"", operation->buffer);
  static const char* const delivered[] = {"null", "false", "true"};
  fprintf(out, ",\"system_buffer\":%s,\"delivered\":%s",
          operation->system_buffer ? "true" : "false", delivered[operation->delivery]);
}

void oracle_operation(const struct posted_operation* operation) {
  fprintf(out, "{\"line\":\"operation\",\"queue\":\"%s\",", operation->queue);
  print_name(operation->comm);
  fprintf(out, ",\"kind\":\"%s\"", operation->kind ? operation->kind : operation->queue);
  static const char* const statuses[] = {"pending", "matched", "complete", "inactive"};
  fprintf(out, ",\"status\":\"%s\"", statuses[operation->status]);
  print_peer("peer", operation->comm, operation->peer);
  if (operation->tag == MPI_ANY_TAG)
    fprintf(out, ",\"tag\":{\"any\":true,\"value\":null}");
  else
    fprintf(out, ",\"tag\":{\"any\":false,\"value\":%d}", operation->tag);
  print_data(operation);
  if (operation->has_actual) {
    fprintf(out, ",\"actual\":{\"local_rank\":%d,\"global_rank\":%d,\"tag\":%d,\"length\":%ld}",
            operation->actual_peer, world_rank_of(operation->comm, operation->actual_peer),
            operation->actual_tag, operation->actual_length);
  }
  fprintf(out, "}\n");
}

void oracle_end(void) {
  if (fclose(out) != 0) {
    perror("oracle");
    exit(8);
  }
  out = NULL;
}
