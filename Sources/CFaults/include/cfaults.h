// Handlers for the signals by which a damaged data file ends a process that has mapped it.
#pragma once
#include <stdbool.h>

// Handles SIGBUS, SIGSEGV and SIGABRT from now on, and gives the calling thread a separate stack for the handlers.
//
// A fault at an address in the map of a `data.mdb`, and any fault or abort inside of liblmdb while one is mapped, ends the process
// with `status`, and with a message on standard error that names the store. Every other signal has the effect that it would have
// without the handlers. `erases` tells whether a line of progress may have to be erased on the terminal.
//
// On other threads than the calling one, an overflow of the stack ends the process by SIGSEGV.
void tarn_handle_damaged_pages(int status, bool erases);
