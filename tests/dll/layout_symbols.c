// What a process with the recorder exports. Never loaded: only its ELF file is read.

#include "dll/recorder/layout.h"

struct mqr_root mqbridge_recorder;
