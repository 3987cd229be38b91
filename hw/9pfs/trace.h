#include "trace/trace-hw_9pfs.h"
