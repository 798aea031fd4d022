/* [MQD 5.7 - 5.9] The setup from the host's callbacks to a process whose recorder was found. */

#include "dll/queues/errors.h"
#include "dll/queues/info.h"

#include <stdint.h>

const mqs_basic_callbacks* queues_host;

/* [MQD 5.7.1] The table belongs to the host. */
void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  queues_host = callbacks;
}

/* [MQD 5.7.2] */
char* mqs_version_string(void) {
  return "mqbridge-queues, recorder layout " MQR_VERSION;
}

/* [MQD 5.7.3] */
int mqs_version_compatibility(void) {
  return MQS_INTERFACE_COMPATIBILITY;
}

/* [MQD 5.7.4] This is the host's width, not the target's. */
int mqs_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}

/* [MQD 5.8.1] */
int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  mqs_image_info* const info = queues_host->mqs_malloc_fp(sizeof *info);
  if (info == NULL)
    return QUEUES_NO_MEMORY;
  *info = (mqs_image_info){callbacks, 0};
  queues_host->mqs_put_image_info_fp(image, info);
  return mqs_ok;
}

/* [MQD 5.8.2] An image only has to have the symbol: the layout needs no types. */
int mqs_image_has_queues(mqs_image* image, char** message) {
  static char symbol[] = MQR_ROOT_SYMBOL;
  *message = NULL;
  mqs_image_info* const info = queues_host->mqs_get_image_info_fp(image);
  if (info == NULL)
    return QUEUES_NOT_SET_UP;
  if (info->callbacks->mqs_find_symbol_fp(image, symbol, &info->root) == mqs_ok)
    return mqs_ok;
  *message = "%s has no symbol " MQR_ROOT_SYMBOL ": stripped of it, or without the recorder";
  return QUEUES_NO_RECORDER;
}

/* [MQD 5.8.3] */
int mqs_destroy_image_info(mqs_image_info* info) {
  queues_host->mqs_free_fp(info);
  return mqs_ok;
}

/* [MQD 5.9.1] The type sizes are asked for here: their callback belongs to the image, and wants a
 * process. */
int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  const mqs_image_info* const image =
      queues_host->mqs_get_image_info_fp(callbacks->mqs_get_image_fp(process));
  if (image == NULL)
    return QUEUES_NOT_SET_UP;
  mqs_process_info* const info = queues_host->mqs_malloc_fp(sizeof *info);
  if (info == NULL)
    return QUEUES_NO_MEMORY;
  mqs_target_type_sizes sizes = {0};
  image->callbacks->mqs_get_type_sizes_fp(process, &sizes);
  *info = (mqs_process_info){
      .target = {process, callbacks, sizes.pointer_size},
      .root_at = image->root,
  };
  queues_host->mqs_put_process_info_fp(process, info);
  return mqs_ok;
}

/* [MQD 5.9.2] */
int mqs_process_has_queues(mqs_process* process, char** message) {
  *message = NULL;
  mqs_process_info* const info = queues_host->mqs_get_process_info_fp(process);
  return info != NULL ? queues_read_root(info) : QUEUES_NOT_SET_UP;
}

/* [MQD 5.9.3] */
int mqs_destroy_process_info(mqs_process_info* info) {
  queues_host->mqs_free_fp(info);
  return mqs_ok;
}
