#include "dll/queues/errors.h"

#include "dll/queues/info.h"

#include <stdio.h>

/* The interface wants char*; nobody writes to them. */
static char* const texts[] = {
    [QUEUES_NO_MEMORY - mqs_first_user_code] = "the host has no memory",
    [QUEUES_NOT_SET_UP - mqs_first_user_code] = "this image or process was not set up",
    [QUEUES_NO_RECORDER - mqs_first_user_code] =
        "no mqbridge recorder: the symbol " MQR_ROOT_SYMBOL " is not in the process",
    [QUEUES_UNREADABLE - mqs_first_user_code] = "memory of the target cannot be read",
    [QUEUES_BAD_MAGIC - mqs_first_user_code] =
        "not what the layout has here (wrong magic number): corrupt memory, or another layout",
    [QUEUES_BYTE_ORDER - mqs_first_user_code] =
        "the recorder's byte order is not the one that the host takes the target to have",
    [QUEUES_ADDRESS_SIZE - mqs_first_user_code] =
        "the recorder's address size is not the one that the host takes the target to have",
    [QUEUES_VERSION - mqs_first_user_code] =
        "the recorder's layout is of another major version: a debug DLL of its release reads it",
    [QUEUES_SIZES - mqs_first_user_code] =
        "the recorder's structures are smaller than version 1.0 of the layout says",
    [QUEUES_NOT_INITIALIZED - mqs_first_user_code] =
        "the recorder is not initialized: there are no queues yet",
    [QUEUES_FINALIZED - mqs_first_user_code] =
        "the recorder is finalized: there are no queues any more",
    [QUEUES_CORRUPT - mqs_first_user_code] = "a value that the layout does not allow",
    [QUEUES_CYCLE - mqs_first_user_code] = "a list comes back to a node that was seen before",
    [QUEUES_TOO_LONG - mqs_first_user_code] = "a list has more nodes than its count says",
    [QUEUES_TOO_SHORT - mqs_first_user_code] = "a list has fewer nodes than its count says",
    [QUEUES_PAST_END - mqs_first_user_code] = "nothing is here: the iteration is at its end",
    [QUEUES_GAPS - mqs_first_user_code] = "operations may be missing: the recorder was switched "
                                          "off, or short of memory, or passed by",
};
_Static_assert(sizeof texts / sizeof *texts == QUEUES_CODES - mqs_first_user_code,
               "a text for each code");

/* [MQD 5.7.5] Strings of the DLL's; valid as long as it is loaded. */
char* mqs_dll_error_string(int error_code) {
  if (error_code >= mqs_first_user_code && error_code < QUEUES_CODES)
    return texts[error_code - mqs_first_user_code];
  switch (error_code) {
  case mqs_ok:
    return "no error";
  case mqs_no_information:
    return "no information";
  case mqs_end_of_list:
    return "end of list";
  default:
    return "unknown error code";
  }
}

int queues_fault(int code, const char* what, mqs_taddr_t address) {
  char line[256];
  snprintf(line, sizeof line, "%s at 0x%llx: %s\n", what, (unsigned long long)address,
           mqs_dll_error_string(code));
  queues_host->mqs_dprints_fp(line);
  return code;
}
