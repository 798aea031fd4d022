/* [MQD 5.10.1 - 5.10.5] The communicators of a process, their names and groups. */

#include "dll/queues/errors.h"
#include "dll/queues/info.h"

#include <string.h>

int queues_read_root(mqs_process_info* info) {
  const int code = root_read(&info->target, info->root_at, &info->root);
  return code == mqs_ok ? mqs_ok : queues_fault(code, MQR_ROOT_SYMBOL, info->root_at);
}

/* [MQD 5.10.1] Called whenever the process has stopped again: nothing of an earlier stop is kept.
 */
int mqs_update_communicator_list(mqs_process* process) {
  mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  info->at_communicator = 0;
  info->communicator_cursor = info->operation_cursor = (struct cursor){0};
  returned_close(info);
  return queues_read_root(info);
}

static int next_communicator(mqs_process_info* info) {
  unsigned char bytes[sizeof(struct mqr_communicator)] = {0};
  mqs_taddr_t address = 0;
  info->at_communicator = 0;
  int code = cursor_advance(&info->communicator_cursor, &info->target, bytes,
                            info->root.communicator_size, &address);
  if (code != mqs_ok)
    return code;
  code = communicator_decode(&info->target, bytes, &info->communicator);
  if (code != mqs_ok)
    return queues_fault(code, "communicator", address);
  info->at_communicator = 1;
  return mqs_ok;
}

/* [MQD 5.10.2] */
int mqs_setup_communicator_iterator(mqs_process* process) {
  mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  info->communicator_cursor = cursor_at(info->root.communicators, "communicator",
                                        MQR_MAGIC_COMMUNICATOR, info->root.updating);
  return next_communicator(info);
}

/* [MQD 5.10.5] */
int mqs_next_communicator(mqs_process* process) {
  mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  return info != NULL ? next_communicator(info) : QUEUES_NOT_SET_UP;
}

/* Cuts a name to the interface's room, between two characters of UTF-8. */
static void cut_name(char* name, size_t size) {
  size_t end = strnlen(name, size - 1);
  if (end == size - 1)
    while (end > 0 && ((unsigned char)name[end] & 0xc0) == 0x80)
      --end;
  name[end] = '\0';
}

/* [MQD 5.10.3] If the name cannot be read, only the name is missing, not the queues. */
int mqs_get_communicator(mqs_process* process, mqs_communicator* out) {
  const mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  const struct communicator* const current = &info->communicator;
  if (!info->at_communicator)
    return QUEUES_PAST_END;
  out->unique_id = current->id;
  out->local_rank = current->local_rank;
  out->size = current->size;
  _Static_assert(sizeof out->name <= MQR_NAME_SIZE, "a name in the target is as long, or longer");
  if (target_fetch(&info->target, "name of a communicator", current->name, sizeof out->name,
                   out->name) == mqs_ok)
    cut_name(out->name, sizeof out->name);
  else
    out->name[0] = '\0';
  return mqs_ok;
}

/* [MQD 5.10.4] The interface knows one group only, and debuggers take it for that of the peers,
 * too. For an intercommunicator that would be wrong: its operations tell their global ranks. */
int mqs_get_comm_group(mqs_process* process, int* ranks) {
  const mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  const struct communicator* const current = &info->communicator;
  if (!info->at_communicator)
    return QUEUES_PAST_END;
  if (current->inter || current->group == 0)
    return mqs_no_information;
  _Static_assert(sizeof *ranks == sizeof(int32_t), "ranks are converted where they are");
  const size_t size = (size_t)current->size;
  const int code = target_fetch(&info->target, "group of a communicator", current->group,
                                size * sizeof *ranks, ranks);
  if (code != mqs_ok)
    return code;
  for (size_t i = 0; i < size; ++i)
    ranks[i] = target_i32(&info->target, &ranks[i]);
  return mqs_ok;
}
