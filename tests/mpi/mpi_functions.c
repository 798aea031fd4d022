// Functions as an MPI library has them: each under its name for tools, too. Never called: only its
// ELF file is read.

void PMPI_Recv(void);
void PMPI_Recv(void) {}
void PMPI_Sendrecv(void);
void PMPI_Sendrecv(void) {}
void PMPI_Ssend(void);
void PMPI_Ssend(void) {}
void PMPI_Wait(void);
void PMPI_Wait(void) {}
void PMPI_Probe(void);
void PMPI_Probe(void) {}
void PMPI_Waitany(void);
void PMPI_Waitany(void) {}
void PMPI_Barrier(void);
void PMPI_Barrier(void) {}
void PMPI_Comm_create_group(void);
void PMPI_Comm_create_group(void) {}
void PMPI_Recv_c(void);
void PMPI_Recv_c(void) {}
int PMPI_data;
void MPI_of_the_program(void);
void MPI_of_the_program(void) {}
