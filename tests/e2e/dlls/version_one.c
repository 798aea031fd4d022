/* A debug DLL of the interface's level 1, which no host understands any more. Nothing else of it is
 * ever called. */

#include "dll/mqs_interface.h"

#include <stdlib.h>

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  (void)callbacks;
}

char* mqs_version_string(void) {
  static char text[] = "a debug DLL of level 1";
  return text;
}

int mqs_version_compatibility(void) {
  return 1;
}

int mqs_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}

char* mqs_dll_error_string(int error_code) {
  (void)error_code;
  static char text[] = "level 1";
  return text;
}

/* A host that comes this far has not looked at the level. */
#define NEVER_CALLED(declaration)                                                                  \
  declaration {                                                                                    \
    abort();                                                                                       \
  }

#pragma GCC diagnostic ignored "-Wunused-parameter"
NEVER_CALLED(int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks))
NEVER_CALLED(int mqs_image_has_queues(mqs_image* image, char** message))
NEVER_CALLED(int mqs_destroy_image_info(mqs_image_info* info))
NEVER_CALLED(int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks))
NEVER_CALLED(int mqs_process_has_queues(mqs_process* process, char** message))
NEVER_CALLED(int mqs_destroy_process_info(mqs_process_info* info))
NEVER_CALLED(int mqs_update_communicator_list(mqs_process* process))
NEVER_CALLED(int mqs_setup_communicator_iterator(mqs_process* process))
NEVER_CALLED(int mqs_get_communicator(mqs_process* process, mqs_communicator* communicator))
NEVER_CALLED(int mqs_next_communicator(mqs_process* process))
NEVER_CALLED(int mqs_setup_operation_iterator(mqs_process* process, int op_class))
NEVER_CALLED(int mqs_next_operation(mqs_process* process, mqs_pending_operation* operation))
