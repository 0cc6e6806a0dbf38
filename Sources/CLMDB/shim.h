// liblmdb as Debian ships it, and the one call that Swift's Glibc module leaves out: statfs, which tells where a file is.
// Macros that Swift cannot import are repeated here as constants or inline functions.
#pragma once
#include <lmdb.h>
#include <sys/vfs.h>
