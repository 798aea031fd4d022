#ifndef MQBRIDGE_DLL_RECORDER_MPI_LAUNCHER_H
#define MQBRIDGE_DLL_RECORDER_MPI_LAUNCHER_H

/* Tells readers what the launcher calls the job, where its environment does not. */
void mqr_name_job(void);

/* Which mpiexec of Hydra's has started this process on its own computer, "HOST.PID", and as a
 * member of which group of processes: 0 is the job, 1 what was spawned first. After
 * mqr_name_job(). NULL: not known. */
const char* mqr_hydra(int* group);

#endif
