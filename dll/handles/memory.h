#ifndef MQBRIDGE_DLL_HANDLES_MEMORY_H
#define MQBRIDGE_DLL_HANDLES_MEMORY_H

/* The DLL is compiled with everything hidden: its entry points alone are to be found by dlsym(). */
#pragma GCC visibility push(default)
#include "dll/mpidbg_interface.h"
#pragma GCC visibility pop

#include "dll/queues/target.h"

#include <stddef.h>
#include <stdint.h>

struct reader;
enum { HANDLES_READERS = 3 }; /* at most, of one process */

/* The host's table: set before anything else is called. */
extern const mqs_basic_callbacks* handles_host;

/* What the DLL keeps with an image; memory of the host's. */
struct mqs_image_info_ {
  const mqs_image_callbacks* callbacks;
};

/* What the DLL keeps with a process. */
struct mqs_process_info_ {
  struct target target; /* process, callbacks, bytes of an address */
  mqs_image* image;
  const mqs_image_callbacks* image_callbacks;
  mqs_target_type_sizes sizes;
  int world_rank; /* -1: not known */
  struct {
    const struct reader* reader;
    void* state;
  } open[HANDLES_READERS];
  int readers;
};

/* Zeroed memory of the host's, which it owns once it is handed out. NULL: it has none. */
void* handles_allocate(size_t size);
/* An array of `count` elements, and room for one at least: NULL means not known. */
void* handles_array(size_t count, size_t size);
char* handles_text(const char* text);

/* 0: there is no such symbol. */
mqs_taddr_t handles_symbol(const mqs_process_info* process, const char* name);
/* NULL: not known. */
mqs_type* handles_type(const mqs_process_info* process, const char* name);
/* Bytes from the beginning of `type`; -1: not known. */
int handles_offset(const mqs_process_info* process, const char* type, const char* field);
/* -1: not known. */
int handles_size(const mqs_process_info* process, const char* type);

/* Read memory of the target as it is there. All of these functions return 1 if it was read, else 0,
 * and print nothing: "no handle is at this address" is an answer, not a fault. */
int handles_fetch(const mqs_process_info* process, mqs_taddr_t address, size_t size, void* into);
/* An unsigned integer of 1, 2, 4 or 8 bytes. */
int handles_word(const mqs_process_info* process, mqs_taddr_t address, int size, uint64_t* value);
int handles_int(const mqs_process_info* process, mqs_taddr_t address, int* value);
int handles_pointer(const mqs_process_info* process, mqs_taddr_t address, mqs_taddr_t* value);
/* The address in fetched bytes; the target decides its width. */
mqs_taddr_t handles_address_in(const mqs_process_info* process, const void* bytes);
/* A string of the target, cut to size - 1 bytes and terminated. It may begin just before memory
 * that cannot be read. */
int handles_string(const mqs_process_info* process, mqs_taddr_t address, char* into, size_t size);
/* int[count] of the target, in the host's byte order; from handles_array(). NULL: not read, or no
 * memory. */
int* handles_ints(const mqs_process_info* process, mqs_taddr_t address, int count);

/* Handles that are found one after the other. */
struct handle_list {
  mqs_taddr_t* handles;
  int count, room;
};
enum { HANDLES_LISTED = 1 << 20 }; /* handles of a kind; further ones are not listed */
/* MPIDBG_SUCCESS; MPIDBG_ERR_UNAVAILABLE: there are too many; MPIDBG_ERR_NO_MEM. */
int handles_list_add(struct handle_list* list, mqs_taddr_t handle);
void handles_list_sort(struct handle_list* list);
/* How often a handle is there. */
int handles_list_count(const struct handle_list* sorted, mqs_taddr_t handle);

#endif
