// liblmdb as Debian ships it, and calls of Linux that Swift's Glibc module leaves out.
// Macros that Swift cannot import are repeated here as constants or inline functions.
#pragma once
#include <lmdb.h>
#include <sys/vfs.h>
#include <string.h>

// Asks the processor for memory that is soon looked at. Any address will do.
static inline void tarn_prefetch(const void *address) { __builtin_prefetch(address); }

// As a function that is called: nothing of it is bridged.
static inline int tarn_memcmp(const void *a, const void *b, size_t count) { return count == 0 ? 0 : memcmp(a, b, count); }

// fcntl.h and unistd.h of Linux, behind _GNU_SOURCE.
static const int tarn_o_path = 010000000, tarn_seek_data = 3, tarn_seek_hole = 4;

// Gives a file room on the disk for its first bytes. 0, or -1 with `errno`: fallocate(2).
static inline int tarn_allocate(int file, off_t size) {
    extern int fallocate(int, int, off_t, off_t);
    return fallocate(file, 0, 0, size);
}

// Renames a file or directory unless something has the new name: EEXIST. 0, or -1 with `errno`: renameat2(2).
static inline int tarn_rename_exclusively(const char *from, const char *to) {
    extern int renameat2(int, const char *, int, const char *, unsigned int);
    return renameat2(-100 /* AT_FDCWD */, from, -100, to, 1 /* RENAME_NOREPLACE */);
}
