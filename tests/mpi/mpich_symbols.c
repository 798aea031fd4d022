// The symbols of an MPICH built with --enable-debuginfo, of version 4.0 or (SINCE_4_1) later. Never
// loaded: only its ELF file is read.

char MPII_Version_string[16];
char MPII_Version_device[32];
char MPIR_dll_name[64];
int MPIR_debug_state;
char MPIR_All_communicators[16];
void* MPIR_Sendq_head;

// In .symtab alone, as in the real one.
static char MPIR_Datatype_direct[64 * 16];
#if defined(SINCE_4_1)
void* MPIR_Recvq_head;
void* MPIR_Unexpq_head;
#else
static void* MPID_Recvq_posted_head_ptr;
static void* MPID_Recvq_unexpected_head_ptr;
#endif

const void* const local_symbols[] = {
    MPIR_Datatype_direct,
#if !defined(SINCE_4_1)
    &MPID_Recvq_posted_head_ptr,
    &MPID_Recvq_unexpected_head_ptr,
#endif
};
