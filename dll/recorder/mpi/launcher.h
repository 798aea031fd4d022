#ifndef MQBRIDGE_DLL_RECORDER_MPI_LAUNCHER_H
#define MQBRIDGE_DLL_RECORDER_MPI_LAUNCHER_H

/* Tells readers the launcher's name of the job, if no environment variable has it. */
void mqr_name_job(void);

/* The mpiexec of Hydra that has started this process on its own computer: "HOST.PID". `group`
 * becomes the number of the process's group: 0 is the job, 1 the processes spawned first. To be
 * called after mqr_name_job(). NULL: not known. */
const char* mqr_hydra(int* group);

#endif
