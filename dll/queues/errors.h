#ifndef MQBRIDGE_DLL_QUEUES_ERRORS_H
#define MQBRIDGE_DLL_QUEUES_ERRORS_H

#include "dll/queues/interface.h"

/* Result codes of this DLL [MQD 5.4.5]; mqs_dll_error_string() has a text for each. */
enum {
  QUEUES_NO_MEMORY = mqs_first_user_code,
  QUEUES_NOT_SET_UP,
  QUEUES_NO_RECORDER,
  QUEUES_UNREADABLE,
  QUEUES_BAD_MAGIC,
  QUEUES_BYTE_ORDER,
  QUEUES_ADDRESS_SIZE,
  QUEUES_VERSION,
  QUEUES_SIZES,
  QUEUES_NOT_INITIALIZED,
  QUEUES_FINALIZED,
  QUEUES_CORRUPT,
  QUEUES_CYCLE,
  QUEUES_TOO_LONG,
  QUEUES_TOO_SHORT,
  QUEUES_PAST_END,
  QUEUES_GAPS,
  QUEUES_CODES /* the first that has no text */
};

/* Prints the code's text and where in the target it was met, through the host's mqs_dprints:
 * mqs_dll_error_string() knows the code alone. Returns the code. */
int queues_fault(int code, const char* what, mqs_taddr_t address);

#endif
