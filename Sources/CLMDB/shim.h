// liblmdb as Debian ships it, and the one call that Swift's Glibc module leaves out: statfs, which tells where a file is.
// Macros that Swift cannot import are repeated here as constants or inline functions.
#pragma once
#include <lmdb.h>
#include <sys/vfs.h>
#include <string.h>

// Asks the processor for memory that is soon looked at. Any address will do.
static inline void tarn_prefetch(const void *address) { __builtin_prefetch(address); }

// As a function that is called: nothing of it is bridged.
static inline int tarn_memcmp(const void *a, const void *b, size_t count) { return count == 0 ? 0 : memcmp(a, b, count); }
