// The symbols by which an MPI is recognised, and nothing of the MPI. Never loaded: only its ELF
// file is read.

#if defined(LIKE_MPICH)
char MPII_Version_string[16];
int MPIR_Process;
#elif defined(LIKE_OPENMPI_5)
char ompi_version_string[16];
void* ompi_mpi_communicators[8];
int ompi_mpi_state;
char ompi_mpi_instance_null[512];
#elif defined(LIKE_OPENMPI) || defined(LIKE_OB1)
char ompi_version_string[16];
char ompi_mpi_communicators[128];
char ompi_mpi_windows[128];
int ompi_mpi_state;
#endif
#if defined(LIKE_OB1)
char mca_pml_base_send_requests[512];
char mca_pml_base_recv_requests[512];
char mca_pml_base_selected_component[128];
char mca_pml_ob1[1024];
char opal_list_t_class[64];
char opal_free_list_t_class[64];
char mca_pml_ob1_comm_t_class[64];
char mca_pml_ob1_comm_proc_t_class[64];
char mca_pml_ob1_recv_frag_t_class[64];
char mca_pml_ob1_recv_request_t_class[64];
char mca_pml_ob1_send_request_t_class[64];
#endif
#if defined(LIKE_RECORDED_OPENMPI)
char ompi_version_string[16];
int ompi_mpi_communicators;
char mqbridge_recorder_version[4];
char mqbridge_recorder[40];
#endif
#if defined(LIKE_RECORDER)
char mqbridge_recorder_version[4];
char mqbridge_recorder[72];
#endif
#if defined(LIKE_RECORDER) || defined(LIKE_ANY_MPI)
int PMPI_Init;
#endif
#if !defined(LIKE_NOTHING) && !defined(LIKE_ANY_MPI)
char MPIR_dll_name[64];
char** mpidbg_dll_locations;
#endif

int anything;
