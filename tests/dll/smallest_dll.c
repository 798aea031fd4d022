/* Every function of both interfaces of a debug DLL, by the installed headers alone. It knows of
 * no MPI: each answer says so. */
#include <mpidbg_interface.h>
#include <mqs_interface.h>

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  (void)callbacks;
}
char* mqs_version_string(void) {
  static char version[] = "the smallest debug DLL";
  return version;
}
int mqs_version_compatibility(void) {
  return MQS_INTERFACE_COMPATIBILITY;
}
int mqs_dll_taddr_width(void) {
  return (int)sizeof(mqs_taddr_t);
}
char* mqs_dll_error_string(int error_code) {
  static char text[] = "an error";
  (void)error_code;
  return text;
}
int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  (void)image, (void)callbacks;
  return mqs_ok;
}
int mqs_image_has_queues(mqs_image* image, char** message) {
  (void)image, (void)message;
  return mqs_no_information;
}
int mqs_destroy_image_info(mqs_image_info* info) {
  (void)info;
  return mqs_ok;
}
int mqs_setup_job(mqs_job* job, const mqs_job_callbacks* callbacks) {
  (void)job, (void)callbacks;
  return mqs_ok;
}
int mqs_destroy_job_info(mqs_job_info* info) {
  (void)info;
  return mqs_ok;
}
int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  (void)process, (void)callbacks;
  return mqs_ok;
}
int mqs_process_has_queues(mqs_process* process, char** message) {
  (void)process, (void)message;
  return mqs_no_information;
}
int mqs_destroy_process_info(mqs_process_info* info) {
  (void)info;
  return mqs_ok;
}
int mqs_update_communicator_list(mqs_process* process) {
  (void)process;
  return mqs_no_information;
}
int mqs_setup_communicator_iterator(mqs_process* process) {
  (void)process;
  return mqs_end_of_list;
}
int mqs_get_communicator(mqs_process* process, mqs_communicator* communicator) {
  (void)process, (void)communicator;
  return mqs_no_information;
}
int mqs_get_comm_group(mqs_process* process, int* ranks) {
  (void)process, (void)ranks;
  return mqs_no_information;
}
int mqs_next_communicator(mqs_process* process) {
  (void)process;
  return mqs_end_of_list;
}
int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
  (void)process, (void)op_class;
  return mqs_no_information;
}
int mqs_next_operation(mqs_process* process, mqs_pending_operation* operation) {
  (void)process, (void)operation;
  return mqs_end_of_list;
}

char mpidbg_dll_is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
char mpidbg_dll_bitness = 8 * sizeof(void*);
enum mpidbg_comm_capabilities_t mpidbg_comm_capabilities;
enum mpidbg_errhandler_capabilities_t mpidbg_errhandler_capabilities;
struct mpidbg_name_map_t* mpidbg_comm_name_map;
struct mpidbg_name_map_t* mpidbg_errhandler_name_map;

int mpidbg_init_once(const mqs_basic_callbacks* callbacks) {
  (void)callbacks;
  return MPIDBG_SUCCESS;
}
int mpidbg_interface_version_compatibility(void) {
  return MPIDBG_INTERFACE_VERSION;
}
char* mpidbg_version_string(void) {
  return mqs_version_string();
}
int mpidbg_dll_taddr_width(void) {
  return mqs_dll_taddr_width();
}
int mpidbg_init_per_image(mqs_image* image, const mqs_image_callbacks* callbacks,
                          struct mpidbg_handle_info_t* handle_types) {
  (void)image, (void)callbacks, (void)handle_types;
  return MPIDBG_ERR_NOT_SUPPORTED;
}
void mpidbg_finalize_per_image(mqs_image* image, mqs_image_info* image_info) {
  (void)image, (void)image_info;
}
int mpidbg_init_per_process(mqs_process* process, const mqs_process_callbacks* callbacks,
                            struct mpidbg_handle_info_t* handle_types) {
  (void)process, (void)callbacks, (void)handle_types;
  return MPIDBG_ERR_NOT_SUPPORTED;
}
void mpidbg_finalize_per_process(mqs_process* process, mqs_process_info* process_info) {
  (void)process, (void)process_info;
}
int mpidbg_extension_version(void) {
  return MPIDBG_EXTENSION_VERSION;
}

#define UNSUPPORTED(function, ...)                                                                 \
  int function(MPIDBG_OF, __VA_ARGS__) {                                                           \
    (void)image, (void)image_info, (void)process, (void)process_info;                              \
    (void)handle, (void)answer;                                                                    \
    return MPIDBG_ERR_NOT_SUPPORTED;                                                               \
  }
UNSUPPORTED(mpidbg_comm_query, mqs_taddr_t handle, struct mpidbg_comm_info_t** answer)
UNSUPPORTED(mpidbg_errhandler_query, mqs_taddr_t handle, struct mpidbg_errhandler_info_t** answer)
UNSUPPORTED(mpidbg_request_query, mqs_taddr_t handle, struct mpidbg_request_info_t** answer)
UNSUPPORTED(mpidbg_status_query, mqs_taddr_t handle, struct mpidbg_status_info_t** answer)
UNSUPPORTED(mpidbg_comm_f2c, mqs_taddr_t handle, mqs_taddr_t* answer)
UNSUPPORTED(mpidbg_errhandler_f2c, mqs_taddr_t handle, mqs_taddr_t* answer)
UNSUPPORTED(mpidbg_request_f2c, mqs_taddr_t handle, mqs_taddr_t* answer)
UNSUPPORTED(mpidbg_status_f2c, mqs_taddr_t handle, mqs_taddr_t* answer)
UNSUPPORTED(mpidbg_comm_describe, mqs_taddr_t handle, struct mpidbg_comm_description** answer)
UNSUPPORTED(mpidbg_request_describe, mqs_taddr_t handle, struct mpidbg_request_description** answer)
UNSUPPORTED(mpidbg_status_describe, mqs_taddr_t handle, struct mpidbg_status_description** answer)
UNSUPPORTED(mpidbg_comm_list, mqs_taddr_t** handle, int* answer)
UNSUPPORTED(mpidbg_request_list, mqs_taddr_t** handle, int* answer)
UNSUPPORTED(mpidbg_errhandler_list, mqs_taddr_t** handle, int* answer)
