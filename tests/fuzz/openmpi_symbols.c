// The symbols of an Open MPI that mqbridge itself reads through, of some size. Never loaded: only
// its ELF file is read.

struct class_object {
  const void* words[8];
  unsigned long size;
};

char ompi_version_string[16];
char MPIR_dll_name[64];
int ompi_mpi_state;
char ompi_mpi_communicators[64];
char mca_pml_base_send_requests[256];
char mca_pml_base_recv_requests[256];
char mca_pml_base_selected_component[128];
struct class_object opal_free_list_t_class;
struct class_object opal_list_t_class;
struct class_object ompi_request_t_class;
struct class_object ompi_communicator_t_class;
