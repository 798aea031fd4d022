/* [MQD 5.10.6, 5.10.7] The three queues of the current communicator. */

#include "dll/queues/errors.h"
#include "dll/queues/info.h"
#include "dll/queues/lines.h"

#include <stdio.h>
#include <string.h>

#define OPERATION(bytes, member) MEMBER(bytes, mqr_operation, member)

_Static_assert((int)MQR_SEND == (int)mqs_pending_sends &&
                   (int)MQR_RECEIVE == (int)mqs_pending_receives &&
                   (int)MQR_UNEXPECTED == (int)mqs_unexpected_messages,
               "queues are numbered as op classes");
_Static_assert((int)MQR_PENDING == (int)mqs_st_pending && (int)MQR_MATCHED == (int)mqs_st_matched &&
                   (int)MQR_COMPLETE == (int)mqs_st_complete,
               "statuses, too");

/* [MQD 5.10.6] */
int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  if (!info->at_communicator)
    return QUEUES_PAST_END;
  if (op_class < 0 || op_class >= MQR_QUEUES)
    return mqs_no_information;
  info->op_class = op_class;
  info->operation_cursor = cursor_at(info->communicator.queues[op_class], "operation",
                                     MQR_MAGIC_OPERATION, info->root.updating);
  returned_close(info);
  if (op_class == mqs_pending_sends)
    returned_open(info);
  return mqs_ok;
}

/* The code behind the last operation. If some may be missing, no debugger may take the list for
 * whole. */
static int end_of_operations(mqs_process_info* info, mqs_pending_operation* out) {
  const int code = returned_next(info, out);
  if (code != mqs_end_of_list || (info->root.flags & (MQR_OFF | MQR_GAPS)) == 0 ||
      !info->at_communicator)
    return code;
  return QUEUES_GAPS;
}

/* Decodes the message's envelope. A send has one from its beginning, a receive from its match on
 * [MQD 5.5.2]. */
static void decode_actual(const struct target* target, const unsigned char* bytes,
                          mqs_pending_operation* out) {
  out->actual_local_rank = target_i32(target, OPERATION(bytes, actual_peer));
  out->actual_global_rank = target_i32(target, OPERATION(bytes, actual_peer_world));
  out->actual_tag = target_i32(target, OPERATION(bytes, actual_tag));
  out->actual_length = (mqs_tword_t)target_u64(target, OPERATION(bytes, actual_length));
}

/* Extra lines [MQD 5.5.2] end at the first empty one. The last line gives mqbridge the node's
 * address: mqbridge reads the facts there that the interface has no words for. */
static void describe(const struct target* target, const unsigned char* bytes, mqs_taddr_t address,
                     uint32_t flags, mqs_pending_operation* out) {
  char call[MQR_WORD_SIZE];
  char datatype[MQR_WORD_SIZE];
  memcpy(call, OPERATION(bytes, call), sizeof call);
  memcpy(datatype, OPERATION(bytes, datatype), sizeof datatype);
  call[sizeof call - 1] = datatype[sizeof datatype - 1] = '\0';
  int line = 0;
  if (call[0] != '\0')
    snprintf(out->extra_text[line++], MQS_EXTRA_LENGTH, "%s", call);
  if (datatype[0] != '\0')
    snprintf(out->extra_text[line++], MQS_EXTRA_LENGTH, "%llu" QUEUES_TIMES "%s",
             (unsigned long long)target_u64(target, OPERATION(bytes, count)), datatype);
  if ((flags & MQR_INACTIVE) != 0)
    snprintf(out->extra_text[line++], MQS_EXTRA_LENGTH, QUEUES_INACTIVE);
  else if ((flags & (MQR_PROBE | MQR_MPROBE)) != 0)
    snprintf(out->extra_text[line++], MQS_EXTRA_LENGTH, QUEUES_PROBE);
  queues_node_line(out->extra_text[line++], address);
  out->extra_text[line][0] = '\0';
}

void queues_node_line(char* line, mqs_taddr_t address) {
  snprintf(line, MQS_EXTRA_LENGTH, QUEUES_NODE "%llx", (unsigned long long)address);
}

static int decode(const mqs_process_info* info, const unsigned char* bytes, mqs_taddr_t address,
                  mqs_pending_operation* out) {
  const struct target* const target = &info->target;
  const uint32_t status = target_u32(target, OPERATION(bytes, status));
  const uint32_t flags = target_u32(target, OPERATION(bytes, flags));
  const uint64_t length = target_u64(target, OPERATION(bytes, length));
  const uint64_t actual_length = target_u64(target, OPERATION(bytes, actual_length));
  if (target_u32(target, OPERATION(bytes, node.kind)) != (uint32_t)info->op_class ||
      status > MQR_COMPLETE || length > INT64_MAX || actual_length > INT64_MAX)
    return QUEUES_CORRUPT;
  const int inactive = (flags & MQR_INACTIVE) != 0;
  out->status = inactive ? (int)MQR_COMPLETE : (int)status;
  out->desired_local_rank = target_i32(target, OPERATION(bytes, peer));
  out->desired_global_rank = target_i32(target, OPERATION(bytes, peer_world));
  out->tag_wild = (flags & MQR_ANY_TAG) != 0;
  out->desired_tag = target_i32(target, OPERATION(bytes, tag));
  out->desired_length = (mqs_tword_t)length;
  out->system_buffer = (flags & MQR_SYSTEM_BUFFER) != 0;
  out->buffer = target_u64(target, OPERATION(bytes, buffer));
  out->actual_local_rank = out->actual_global_rank = MQS_INVALID_PROCESS;
  out->actual_tag = 0;
  out->actual_length = 0;
  if (info->op_class == mqs_pending_sends ||
      (info->op_class == mqs_pending_receives && status != MQR_PENDING && !inactive))
    decode_actual(target, bytes, out);
  describe(target, bytes, address, flags, out);
  return mqs_ok;
}

/* [MQD 5.10.7] One fetch for each operation. */
int mqs_next_operation(mqs_process* process, mqs_pending_operation* out) {
  mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  unsigned char bytes[sizeof(struct mqr_operation)] = {0};
  mqs_taddr_t address = 0;
  int code = cursor_advance(&info->operation_cursor, &info->target, bytes,
                            info->root.operation_size, &address);
  if (code == mqs_end_of_list)
    return end_of_operations(info, out);
  if (code != mqs_ok) {
    returned_close(info); /* asked again, the list is at its end */
    return code;
  }
  returned_note(info, bytes);
  code = decode(info, bytes, address, out);
  return code == mqs_ok ? mqs_ok : queues_fault(code, "operation", address);
}
