/* Sends that have returned: MPI has taken their messages, and nobody here knows whether these have
 * arrived. */

#include "dll/queues/returned.h"

#include "dll/queues/errors.h"
#include "dll/queues/info.h"
#include "dll/queues/lines.h"
#include "dll/recorder/functions.h"

#include <stdio.h>

#define RETURNED(bytes, member) MEMBER(bytes, mqr_returned, member)

static const char what[] = "ring of returned sends";

/* The index in the ring of the n-th oldest send: the oldest one is overwritten next. */
static uint32_t index_of(const mqs_process_info* info, uint32_t place) {
  return (info->communicator.returned + place) % MQR_RETURNED;
}

static const unsigned char* send_at(const mqs_process_info* info, uint32_t place) {
  return info->returned.ring + index_of(info, place) * sizeof(struct mqr_returned);
}

void returned_close(mqs_process_info* info) {
  info->returned.next = info->returned.end = 0;
  info->returned.code = mqs_ok;
}

void returned_open(mqs_process_info* info) {
  struct returned_walk* const walk = &info->returned;
  walk->newest_is_pending = 0;
  for (size_t i = 0; i < RETURNED_PEERS; ++i)
    walk->known[i].peer = MQR_NO_PEER;
  if (info->communicator.returned_sends == 0)
    return;
  walk->code = target_fetch(&info->target, what, info->communicator.returned_sends,
                            sizeof walk->ring, walk->ring);
  if (walk->code != mqs_ok)
    return;
  walk->next = info->root.updating ? 1 : 0; /* the oldest may be half overwritten */
  walk->end = MQR_RETURNED;
}

/* Between the two stores of an update a send is in the ring and still pending. */
void returned_note(mqs_process_info* info, const unsigned char* operation) {
  struct returned_walk* const walk = &info->returned;
  const struct target* const target = &info->target;
  if (!info->root.updating || walk->end == 0)
    return;
  const unsigned char* const newest = send_at(info, MQR_RETURNED - 1);
  const uint32_t flags = target_u32(target, MEMBER(operation, mqr_operation, flags));
  if ((flags & MQR_INACTIVE) == 0 &&
      target_i32(target, MEMBER(operation, mqr_operation, peer)) ==
          target_i32(target, RETURNED(newest, peer)) &&
      target_u32(target, MEMBER(operation, mqr_operation, number)) ==
          target_u32(target, RETURNED(newest, number)))
    walk->newest_is_pending = 1;
}

static int fetch_world_rank(const mqs_process_info* info, int32_t peer) {
  const struct communicator* const of = &info->communicator;
  const mqs_taddr_t group = of->inter ? of->remote_group : of->group;
  int32_t rank = 0;
  if (group == 0 ||
      target_fetch(&info->target, "group of a communicator",
                   group + (mqs_taddr_t)peer * sizeof rank, sizeof rank, &rank) != mqs_ok)
    return MQR_WORLD_RANK_UNKNOWN;
  return target_i32(&info->target, &rank);
}

static int world_rank(mqs_process_info* info, int32_t peer) {
  const size_t place = (uint32_t)peer % RETURNED_PEERS;
  if (info->returned.known[place].peer != peer) {
    info->returned.known[place].world = fetch_world_rank(info, peer);
    info->returned.known[place].peer = peer;
  }
  return info->returned.known[place].world;
}

static int decode(mqs_process_info* info, const unsigned char* bytes, mqs_pending_operation* out) {
  const struct target* const target = &info->target;
  const struct communicator* const of = &info->communicator;
  const int32_t peer = target_i32(target, RETURNED(bytes, peer));
  const uint64_t length = target_u64(target, RETURNED(bytes, length));
  const int is_send = target_u32(target, RETURNED(bytes, function)) != 0;
  if (!is_send || peer < 0 || peer >= (of->inter ? of->remote_size : of->size) ||
      length > INT64_MAX)
    return QUEUES_CORRUPT;
  *out = (mqs_pending_operation){.status = MQR_COMPLETE};
  out->desired_local_rank = out->actual_local_rank = peer;
  out->desired_global_rank = out->actual_global_rank = world_rank(info, peer);
  out->desired_tag = out->actual_tag = target_i32(target, RETURNED(bytes, tag));
  out->desired_length = out->actual_length = (mqs_tword_t)length;
  return mqs_ok;
}

static void describe(const mqs_process_info* info, const unsigned char* bytes, mqs_taddr_t address,
                     mqs_pending_operation* out) {
  const char* const call = mqr_function_name(target_u32(&info->target, RETURNED(bytes, function)));
  int line = 0;
  if (call != NULL)
    snprintf(out->extra_text[line++], MQS_EXTRA_LENGTH, "%s", call);
  snprintf(out->extra_text[line++], MQS_EXTRA_LENGTH, QUEUES_RETURNED);
  queues_node_line(out->extra_text[line], address);
}

static int is_none(const mqs_process_info* info, uint32_t place) {
  return target_i32(&info->target, RETURNED(send_at(info, place), peer)) == MQR_NO_PEER ||
         (place == MQR_RETURNED - 1 && info->returned.newest_is_pending);
}

int returned_next(mqs_process_info* info, mqs_pending_operation* out) {
  struct returned_walk* const walk = &info->returned;
  if (walk->code != mqs_ok) {
    const int code = walk->code;
    walk->code = mqs_ok; /* asked again, the list is at its end */
    return code;
  }
  while (walk->next < walk->end && is_none(info, walk->next))
    ++walk->next;
  if (walk->next >= walk->end)
    return mqs_end_of_list;
  const uint32_t place = walk->next++;
  const mqs_taddr_t address =
      info->communicator.returned_sends + index_of(info, place) * sizeof(struct mqr_returned);
  const int code = decode(info, send_at(info, place), out);
  if (code != mqs_ok) {
    walk->next = walk->end; /* asked again, the list is at its end */
    return queues_fault(code, what, address);
  }
  describe(info, send_at(info, place), address, out);
  return mqs_ok;
}
