// A library to be preloaded: the n-th call that writes to a file below a directory fails, is short,
// or ends the process.
//
//     FAULT_DIRECTORY   the real path of a directory; calls on other files are not counted
//     FAULT_AT          n, from 1; 0 or nothing: no fault
//     FAULT_KIND        ENOSPC, EIO, EINVAL
//                                     nothing is done, and the call fails with that; EINVAL: the file system lacks the call
//                       short         half of the bytes are written, and the call reports that (writing calls only)
//                       late          everything is done, and the call fails with EIO nevertheless
//                       kill          nothing is done, and the process is killed
//                       tear          half of the bytes are written, and the process is killed
//     FAULT_STICKY      anything: every call from the n-th on, not that one alone
//     FAULT_LOG         a file that gets a line for each counted call: number, name, bytes, file, and the kind if it was a fault
//     FAULT_WRITES      a file that gets every write to data.mdb, with its bytes, every barrier, and the output on standard output, in
//                       order: what a disk may hold after a loss of power is made of it. For each: u8 kind, u64 offset, u32 length, bytes
//                       (little-endian). Kinds: W a write, D one on a descriptor with O_DSYNC or O_SYNC (a barrier of its own), T a new length (in place of
//                       the offset), B a barrier (fsync, fdatasync), A output
//
// Calls: write, pwrite, writev, pwritev, fsync, fdatasync, ftruncate, rename and renameat2 (of the
// new name), and msync, which has no file and is always counted. Files below the directory are not
// really flushed: a test that ends a process needs no flush, and thousands of flushes are slow.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

// Through the kernel and not through the functions that this file replaces.
static long through(long number, long a, long b, long c, long d) { return syscall(number, a, b, c, d, 0L); }

// Returns whether the descriptor is of a file below the directory, and its path.
static int is_inside(int fd, char path[PATH_MAX]) {
    const char *directory = getenv("FAULT_DIRECTORY");
    char link[64];
    if (!directory) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(directory);
    return strncmp(path, directory, prefix) == 0 && path[prefix] == '/';
}

static void note(int number, const char *name, size_t bytes, const char *path, const char *kind) {
    const char *log = getenv("FAULT_LOG");
    if (!log) return;
    char line[PATH_MAX + 100];
    int length = snprintf(line, sizeof line, "%d %s %zu %s %s\n", number, name, bytes, path, kind);
    long fd = through(SYS_openat, AT_FDCWD, (long)log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return;
    through(SYS_write, fd, (long)line, length, 0);
    through(SYS_close, fd, 0, 0, 0);
}

// Adds an event to the log of writes: in one call, so that events of several threads do not mix.
static void remember(char kind, int fd, const char *path, off64_t offset, const struct iovec *parts, int number, size_t bytes) {
    const char *log = getenv("FAULT_WRITES");
    size_t length = path ? strlen(path) : 0;
    if (!log || (path && (length < 9 || strcmp(path + length - 9, "/data.mdb") != 0))) return;
    if (kind == 'W' && offset < 0) offset = through(SYS_lseek, fd, 0, SEEK_CUR, 0);
    if (kind == 'W' && through(SYS_fcntl, fd, F_GETFL, 0, 0) & O_DSYNC) kind = 'D';
    char *event = malloc(13 + bytes), *end = event + 13;
    uint64_t place = (uint64_t)offset;
    uint32_t size = (uint32_t)bytes;
    if (!event) abort();
    event[0] = kind;
    memcpy(event + 1, &place, 8);
    memcpy(event + 9, &size, 4);
    for (int i = 0; i < number && bytes > 0; i++) {
        size_t part = parts[i].iov_len < bytes ? parts[i].iov_len : bytes;
        memcpy(end, parts[i].iov_base, part);
        end += part;
        bytes -= part;
    }
    long file = through(SYS_openat, AT_FDCWD, (long)log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || through(SYS_write, file, (long)event, end - event, 0) != end - event) abort();
    through(SYS_close, file, 0, 0, 0);
    free(event);
}

// The fault of this call, or "".
static const char *fault(const char *name, size_t bytes, const char *path) {
    int number = atomic_fetch_add(&calls, 1) + 1;
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    int first = at ? atoi(at) : 0;
    if (!kind || first == 0 || (getenv("FAULT_STICKY") ? number < first : number != first)) kind = "";
    note(number, name, bytes, path, kind);
    return kind;
}

static int is(const char *kind, const char *name) { return strcmp(kind, name) == 0; }

// Whether the kind is an error in place of the call; sets errno.
static int fails_with(const char *kind) {
    int code = is(kind, "ENOSPC") ? ENOSPC : is(kind, "EIO") ? EIO : is(kind, "EINVAL") ? EINVAL : 0;
    if (code != 0) errno = code;
    return code != 0;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// A call that writes `bytes` bytes; `perform` writes the first `count` of them.
#define WRITING(name, fd, bytes, offset, parts, number, perform)                     \
    do {                                                                             \
        char path[PATH_MAX];                                                         \
        size_t all = (bytes), count = all;                                           \
        if (!is_inside(fd, path)) {                                                  \
            if (fd == 1) remember('A', fd, NULL, 0, parts, number, all);             \
            return perform;                                                          \
        }                                                                            \
        const char *kind = fault(name, all, path);                                   \
        if (fails_with(kind)) return -1;                                             \
        if (is(kind, "kill")) die();                                                 \
        if (is(kind, "short") || is(kind, "tear")) count = all / 2;                  \
        remember('W', fd, path, offset, parts, number, count);                       \
        ssize_t done = perform;                                                      \
        if (is(kind, "tear")) die();                                                 \
        if (is(kind, "late")) {                                                      \
            errno = EIO;                                                             \
            return -1;                                                               \
        }                                                                            \
        return done;                                                                 \
    } while (0)

// A call that writes no bytes of its own: it cannot be short.
#define OTHER(name, inside, event, place, perform)                                   \
    do {                                                                             \
        char path[PATH_MAX] = "-";                                                   \
        if (!(inside)) return (int)(perform);                                        \
        const char *kind = fault(name, 0, path);                                     \
        if (fails_with(kind)) return -1;                                             \
        if (is(kind, "kill") || is(kind, "tear")) die();                             \
        int result = (int)(perform);                                                 \
        remember(event, -1, path, place, NULL, 0, 0);                                \
        if (is(kind, "late")) {                                                      \
            errno = EIO;                                                             \
            return -1;                                                               \
        }                                                                            \
        return result;                                                               \
    } while (0)

ssize_t write(int fd, const void *data, size_t bytes) {
    struct iovec part = {(void *)data, bytes};
    WRITING("write", fd, bytes, -1, &part, 1, through(SYS_write, fd, (long)data, (long)count, 0));
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset) {
    struct iovec part = {(void *)data, bytes};
    WRITING("pwrite", fd, bytes, offset, &part, 1, through(SYS_pwrite64, fd, (long)data, (long)count, offset));
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) { return pwrite64(fd, data, bytes, offset); }

static size_t sum(const struct iovec *parts, int number) {
    size_t bytes = 0;
    for (int i = 0; i < number; i++) bytes += parts[i].iov_len;
    return bytes;
}

// Writes the first bytes of the parts, at an offset or (-1) at the descriptor's.
static ssize_t write_parts(int fd, const struct iovec *parts, int number, size_t bytes, off64_t offset) {
    struct iovec some[IOV_MAX];
    int used = 0;
    if (number > IOV_MAX) {
        errno = EINVAL;
        return -1;
    }
    for (; used < number && bytes > 0; used++) {
        some[used] = parts[used];
        if (some[used].iov_len > bytes) some[used].iov_len = bytes;
        bytes -= some[used].iov_len;
    }
    if (offset < 0) return through(SYS_writev, fd, (long)some, used, 0);
    return through(SYS_pwritev, fd, (long)some, used, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int number) {
    WRITING("writev", fd, sum(parts, number), -1, parts, number, write_parts(fd, parts, number, count, -1));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int number, off64_t offset) {
    WRITING("pwritev", fd, sum(parts, number), offset, parts, number, write_parts(fd, parts, number, count, offset));
}

ssize_t pwritev(int fd, const struct iovec *parts, int number, off_t offset) { return pwritev64(fd, parts, number, offset); }

int fsync(int fd) { OTHER("fsync", is_inside(fd, path), 'B', 0, *path == '/' ? 0 : through(SYS_fsync, fd, 0, 0, 0)); }

int fdatasync(int fd) { OTHER("fdatasync", is_inside(fd, path), 'B', 0, *path == '/' ? 0 : through(SYS_fdatasync, fd, 0, 0, 0)); }

int ftruncate64(int fd, off64_t length) { OTHER("ftruncate", is_inside(fd, path), 'T', length, through(SYS_ftruncate, fd, length, 0, 0)); }

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

// No event of FAULT_WRITES: what is logged there stays under its name.
static int renaming(const char *from, const char *to, unsigned int flags) {
    const char *directory = getenv("FAULT_DIRECTORY");
    size_t prefix = directory ? strlen(directory) : 0;
    const char *kind = "";
    if (directory && strncmp(to, directory, prefix) == 0 && to[prefix] == '/') kind = fault("rename", 0, to);
    if (fails_with(kind)) return -1;
    if (is(kind, "kill") || is(kind, "tear")) die();
    int result = (int)syscall(SYS_renameat2, (long)AT_FDCWD, from, (long)AT_FDCWD, to, (long)flags);
    if (!is(kind, "late")) return result;
    errno = EIO;
    return -1;
}

int rename(const char *from, const char *to) { return renaming(from, to, 0); }

// Names in the working directory, as in all renames here.
int renameat2(int old, const char *from, int new, const char *to, unsigned int flags) {
    if (old == AT_FDCWD && new == AT_FDCWD) return renaming(from, to, flags);
    return (int)syscall(SYS_renameat2, (long)old, from, (long)new, to, (long)flags);
}

int msync(void *start, size_t length, int flags) {
    OTHER("msync", getenv("FAULT_DIRECTORY") != NULL, 'B', 0, through(SYS_msync, (long)start, (long)length, flags, 0));
}
