/* Fields by their types, and objects by their handles (src/include/mpir_objects.h). */

#include "dll/handles/mpich/layout.h"

/* Two bits of a handle tell where its object is, four tell the object's kind. */
enum { PLACE_SHIFT = 30, BUILTIN = 1, DIRECT = 2, INDIRECT = 3, KIND_SHIFT = 26, KIND_BITS = 0xf };
enum { DIRECT_BITS = 0x3ffffff, BLOCK_SHIFT = 12, INDEX_BITS = 0xfff };
enum { MOST_OBJECTS = 1 << 20, REQUEST_KINDS = 13 };

struct field {
  const char* type;
  const char* name;
  int bytes;
};
static const struct field fields[] = {
#define FIELD(constant, type, field, bytes) {type, field, bytes},
    MPICH_FIELDS
#undef FIELD
};

mqs_taddr_t mpich_at(const struct mpich* mpich, mqs_taddr_t object, enum mpich_field field) {
  const int offset = mpich->offsets[field];
  return object != 0 && offset >= 0 ? object + (unsigned)offset : 0;
}

int mpich_word(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t object,
               enum mpich_field field, uint64_t* value) {
  const mqs_taddr_t at = mpich_at(mpich, object, field);
  const int bytes = fields[field].bytes;
  if (at == 0 || bytes < 0)
    return 0;
  return bytes == 0 ? handles_pointer(process, at, value) : handles_word(process, at, bytes, value);
}

int mpich_int(const mqs_process_info* process, const struct mpich* mpich, mqs_taddr_t object,
              enum mpich_field field, int* value) {
  uint64_t word = 0;
  if (!mpich_word(process, mpich, object, field, &word))
    return 0;
  *value = fields[field].bytes == 2 ? (int16_t)word : (int32_t)(uint32_t)word;
  return 1;
}

/* MPIR_Object_alloc_t, which MPICH keeps for the objects of each kind. No debug information
 * describes it: an address, an int, an address, five ints, an address, an int. It is only believed
 * if its values agree with known facts about these objects. */
static void find_blocks(const mqs_process_info* process, mqs_taddr_t allocator,
                        struct mpich_pool* pool) {
  enum { BLOCKS, ALLOCATED, KIND = 3, SIZE };
  const unsigned word = (unsigned)process->target.address_size;
  int* const ints = handles_ints(process, allocator + 3 * word, SIZE + 1);
  const mqs_taddr_t direct = (3 * word + 5 * sizeof(int32_t) + word - 1) / word * word;
  mqs_taddr_t array = 0;
  int directs = 0;
  if (ints == NULL)
    return;
  if (ints[KIND] == pool->kind && ints[SIZE] == pool->object_size &&
      handles_pointer(process, allocator + direct, &array) && array == pool->direct &&
      handles_int(process, allocator + direct + word, &directs) && directs >= 0 &&
      directs < MOST_OBJECTS && ints[BLOCKS] >= 0 && ints[ALLOCATED] < MOST_OBJECTS &&
      handles_pointer(process, allocator + 2 * word, &pool->blocks)) {
    pool->directs = directs;
    pool->block_count = ints[BLOCKS];
    if (ints[BLOCKS] > 0 && ints[ALLOCATED] > directs)
      pool->block_size = (ints[ALLOCATED] - directs) / ints[BLOCKS];
  } else {
    pool->object_size = 0;
  }
  handles_host->mqs_free_fp(ints);
}

static void find_pool(const mqs_process_info* process, const char* type, const char* builtin,
                      const char* direct, const char* allocator, struct mpich_pool* pool) {
  const mqs_taddr_t at = handles_symbol(process, allocator);
  pool->object_size = handles_size(process, type);
  pool->builtin = handles_symbol(process, builtin);
  pool->direct = handles_symbol(process, direct);
  if (pool->object_size <= 0 || pool->builtin == 0 || pool->direct == 0 || at == 0)
    pool->object_size = 0;
  else
    find_blocks(process, at, pool);
}

/* There is a predefined complete request of each kind, in order: MPICH 4.0 has this many kinds. */
static int has_kinds_of_4_0(const mqs_process_info* process, const struct mpich* mpich) {
  enum { FIRST_COMPLETE = 0x6c000000 };
  const mqs_taddr_t size = (unsigned)mpich->requests.object_size;
  for (int i = 0; i <= REQUEST_KINDS; ++i) {
    const mqs_taddr_t request = mpich->requests.builtin + (unsigned)i * size;
    int kind = -1;
    const int is_there = mpich_handle(process, request) == (unsigned)(FIRST_COMPLETE + i) &&
                         mpich_int(process, mpich, request, REQUEST_KIND, &kind) && kind == i;
    if (is_there != (i < REQUEST_KINDS))
      return 0;
  }
  return 1;
}

int mpich_open(const mqs_process_info* process, void** state) {
  struct mpich* const mpich = handles_allocate(sizeof *mpich);
  if (mpich == NULL)
    return MPIDBG_ERR_NO_MEM;
  for (int i = 0; i < MPICH_FIELD_COUNT; ++i)
    mpich->offsets[i] = handles_offset(process, fields[i].type, fields[i].name);
  mpich->comms = (struct mpich_pool){
      .kind = MPICH_COMM, .builtins = 3, .block_mask = 0x3fff, .builtin_mask = DIRECT_BITS};
  mpich->errhandlers = (struct mpich_pool){
      .kind = MPICH_ERRHANDLER, .builtins = 3, .block_mask = 0x3fff, .builtin_mask = 3};
  mpich->requests = (struct mpich_pool){
      .kind = MPICH_REQUEST, .builtins = 17, .block_mask = 0xff, .builtin_mask = DIRECT_BITS};
  find_pool(process, "MPIR_Comm", "MPIR_Comm_builtin", "MPIR_Comm_direct", "MPIR_Comm_mem",
            &mpich->comms);
  find_pool(process, "MPIR_Errhandler", "MPIR_Errhandler_builtin", "MPIR_Errhandler_direct",
            "MPIR_Errhandler_mem", &mpich->errhandlers);
  find_pool(process, "MPIR_Request", "MPIR_Request_builtins", "MPIR_Request_direct",
            "MPIR_Request_mem", &mpich->requests);
  mpich->knows_kinds = mpich->requests.object_size > 0 && has_kinds_of_4_0(process, mpich);
  if (mpich->comms.object_size == 0 || mpich->offsets[OBJECT_REFERENCES] < 0 ||
      mpich->offsets[COMM_KIND] < 0) {
    handles_host->mqs_free_fp(mpich);
    return MPIDBG_ERR_UNAVAILABLE;
  }
  *state = mpich;
  return MPIDBG_SUCCESS;
}

mqs_taddr_t mpich_handle(const mqs_process_info* process, mqs_taddr_t object) {
  uint64_t handle = 0;
  return handles_word(process, object, sizeof(int32_t), &handle) ? handle : 0;
}

static int find_in_block(const mqs_process_info* process, const struct mpich_pool* pool,
                         unsigned handle, mqs_taddr_t* place) {
  const unsigned index = handle & INDEX_BITS;
  const unsigned block = handle >> BLOCK_SHIFT & pool->block_mask;
  const unsigned word = (unsigned)process->target.address_size;
  mqs_taddr_t first = 0;
  if (block >= (unsigned)pool->block_count || index >= (unsigned)pool->block_size)
    return MPIDBG_ERR_NOT_FOUND;
  if (!handles_pointer(process, pool->blocks + (mqs_taddr_t)block * word, &first) || first == 0)
    return MPIDBG_ERR_UNAVAILABLE;
  *place = first + (mqs_taddr_t)index * (unsigned)pool->object_size;
  return MPIDBG_SUCCESS;
}

static int find_place(const mqs_process_info* process, const struct mpich_pool* pool,
                      unsigned handle, mqs_taddr_t* place) {
  const unsigned size = (unsigned)pool->object_size;
  const unsigned builtin = handle & pool->builtin_mask;
  const unsigned direct = handle & DIRECT_BITS;
  switch (handle >> PLACE_SHIFT) {
  case BUILTIN:
    *place = pool->builtin + (mqs_taddr_t)builtin * size;
    return builtin < (unsigned)pool->builtins ? MPIDBG_SUCCESS : MPIDBG_ERR_NOT_FOUND;
  case DIRECT:
    *place = pool->direct + (mqs_taddr_t)direct * size;
    return direct < (unsigned)pool->directs ? MPIDBG_SUCCESS : MPIDBG_ERR_NOT_FOUND;
  case INDIRECT:
    return find_in_block(process, pool, handle, place);
  default:
    return MPIDBG_ERR_NOT_FOUND;
  }
}

int mpich_find(const mqs_process_info* process, const struct mpich* mpich,
               const struct mpich_pool* pool, mqs_taddr_t handle, mqs_taddr_t* object) {
  uint64_t said = 0;
  int references = 0;
  *object = 0;
  if (pool->object_size == 0)
    return MPIDBG_ERR_UNAVAILABLE;
  if (handle > UINT32_MAX || (handle >> KIND_SHIFT & KIND_BITS) != (unsigned)pool->kind)
    return MPIDBG_ERR_NOT_FOUND;
  const int code = find_place(process, pool, (unsigned)handle, object);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (!handles_word(process, *object, sizeof(int32_t), &said) ||
      !mpich_int(process, mpich, *object, OBJECT_REFERENCES, &references))
    return MPIDBG_ERR_UNAVAILABLE;
  /* An object that MPICH has freed has no references. References to predefined objects are not
   * counted. */
  const int lives = handle >> PLACE_SHIFT == BUILTIN || references > 0;
  return said == handle && lives ? MPIDBG_SUCCESS : MPIDBG_ERR_NOT_FOUND;
}

mqs_taddr_t mpich_object(const mqs_process_info* process, const struct mpich* mpich,
                         const struct mpich_pool* pool, mqs_taddr_t handle) {
  mqs_taddr_t object = 0;
  return mpich_find(process, mpich, pool, handle, &object) == MPIDBG_SUCCESS ? object : 0;
}

int mpich_list(const mqs_process_info* process, const struct mpich* mpich,
               const struct mpich_pool* pool, struct handle_list* list) {
  const unsigned kind = (unsigned)pool->kind << KIND_SHIFT;
  const int counts[] = {pool->builtins, pool->directs, pool->block_count * pool->block_size};
  int code = pool->object_size > 0 ? MPIDBG_SUCCESS : MPIDBG_ERR_UNAVAILABLE;
  for (unsigned place = BUILTIN; place <= INDIRECT && pool->object_size > 0; ++place) {
    for (int i = 0; i < counts[place - 1]; ++i) {
      const unsigned block = place == INDIRECT ? (unsigned)(i / pool->block_size) : 0;
      const unsigned index = place == INDIRECT ? (unsigned)(i % pool->block_size) : (unsigned)i;
      const unsigned handle = place << PLACE_SHIFT | kind | block << BLOCK_SHIFT | index;
      mqs_taddr_t object = 0;
      int found = mpich_find(process, mpich, pool, handle, &object);
      if (found == MPIDBG_SUCCESS)
        found = handles_list_add(list, handle);
      if (found != MPIDBG_ERR_NOT_FOUND && found != MPIDBG_SUCCESS)
        code = found;
    }
  }
  return code;
}
