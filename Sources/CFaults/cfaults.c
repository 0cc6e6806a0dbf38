// liblmdb trusts the pages of a file: numbers and sizes in damaged ones lead it beyond the end of the file (SIGBUS), to any address
// (SIGSEGV), around a loop until its stack is full (SIGSEGV), or to an assertion (SIGABRT).
//
// In C, because a handler may only call functions that are async-signal-safe (signal-safety(7)): Swift's runtime may allocate memory
// or take a lock at any place. `backtrace` is safe once its library is loaded (backtrace(3)).
#define _GNU_SOURCE
#include "cfaults.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { path_size = 4096, message_size = 3 * path_size + 1024, stack_size = 1 << 18, frame_count = 64 };

typedef struct {
  uintptr_t start, end;
} address_range;

static struct sigaction previous[NSIG];
// The instructions of both libraries; empty if they are not libraries of their own.
static address_range liblmdb, libc;
static int exit_status;
static bool erases_line;
static atomic_flag is_reporting = ATOMIC_FLAG_INIT;

static bool contains(address_range range, uintptr_t address) { return address >= range.start && address < range.end; }

// MARK: - The data files that are mapped

// The data files of a process, from the lines of /proc/self/maps.
typedef struct {
  uintptr_t address;
  // Whether the address is in the map of a data file.
  bool is_within;
  // The number of data files, beside copies that are being written.
  int count;
  // The directory of the one that contains the address, else that of the first.
  char store[path_size];
} mapped_data_files;

// One line of /proc/self/maps: `start-end mode offset device inode path`.
typedef struct {
  address_range range;
  int field;
  size_t length;
  char path[path_size];
} map_line;

static bool ends_with(const char *text, size_t length, const char *end) {
  size_t count = strlen(end);
  return length >= count && memcmp(text + length - count, end, count) == 0;
}

static void take_line(mapped_data_files *files, map_line *line) {
  static const char deleted[] = " (deleted)", name[] = "/data.mdb";
  size_t length = line->length;
  if (ends_with(line->path, length, deleted)) length -= sizeof deleted - 1;
  if (!ends_with(line->path, length, name)) return;
  length -= sizeof name - 1;
  line->path[length] = 0;
  bool is_within = files->address != 0 && contains(line->range, files->address);
  // A copy has the damage of the store that it is made from.
  bool is_copy = strstr(line->path, ".unfinished") != NULL;
  if (files->count == 0 || (is_within && !is_copy)) memcpy(files->store, line->path, length + 1);
  if (is_within) files->is_within = true;
  if (!is_copy) files->count++;
}

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static void take_byte(mapped_data_files *files, map_line *line, char byte) {
  if (byte == '\n') {
    take_line(files, line);
    line->range = (address_range){0, 0};
    line->field = 0;
    line->length = 0;
  } else if (line->field == 0 && digit(byte) >= 0) {
    line->range.start = line->range.start << 4 | (uintptr_t)digit(byte);
  } else if (line->field == 0 && byte == '-') {
    line->field = 1;
  } else if (line->field == 1 && digit(byte) >= 0) {
    line->range.end = line->range.end << 4 | (uintptr_t)digit(byte);
  } else if (line->field < 6 && byte == ' ') {
    line->field++;
  } else if (line->field == 6 && !(line->length == 0 && byte == ' ') && line->length < path_size - 1) {
    line->path[line->length++] = byte;
  }
}

static void find_data_files(mapped_data_files *files) {
  static map_line line;
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char buffer[1024];
  memset(&line, 0, sizeof line);
  for (;;) {
    ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (ssize_t i = 0; i < count; i++) take_byte(files, &line, buffer[i]);
  }
  close(file);
}

// MARK: - The code that was running

static uintptr_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#else
  return 0;
#endif
}

// Whether the signal interrupted liblmdb, or a function of libc that liblmdb had called.
static bool is_in_liblmdb(const ucontext_t *context) {
  if (contains(liblmdb, instruction(context))) return true;
  void *frames[frame_count];
  int count = backtrace(frames, frame_count), first = 0;
  while (first < count && (uintptr_t)frames[first] != instruction(context)) first++;
  for (int i = first; i < count; i++) {
    // A return address is behind the call.
    uintptr_t address = (uintptr_t)frames[i] - (i > first ? 1 : 0);
    if (!contains(libc, address)) return contains(liblmdb, address);
  }
  return false;
}

// MARK: - The handler

typedef struct {
  size_t length;
  char bytes[message_size];
} message;

static void add(message *message, const char *text) {
  for (; *text && message->length < message_size; text++) message->bytes[message->length++] = *text;
}

// Adds a path without the control characters that a terminal would obey.
static void add_path(message *message, const char *path) {
  size_t start = message->length;
  add(message, path);
  for (size_t i = start; i < message->length; i++) {
    unsigned char byte = (unsigned char)message->bytes[i], before = i > start ? (unsigned char)message->bytes[i - 1] : 0;
    if (byte < 0x20 || byte == 0x7F || (before == 0xC2 && byte >= 0x80 && byte < 0xA0)) message->bytes[i] = '?';
  }
}

static void report(int number, const mapped_data_files *files) {
  static message text;
  add(&text, erases_line ? "\r\033[Ktarn: " : "tarn: ");
  add_path(&text, files->store);
  if (files->count > 1 && !files->is_within) add(&text, ", or another store that is open");
  add(&text, ": the data file is damaged, or another program has changed it: ");
  add(&text, number == SIGBUS ? "SIGBUS" : number == SIGSEGV ? "SIGSEGV" : "SIGABRT");
  add(&text, " while its pages were read. See `tarn inspect verify ");
  add_path(&text, files->store);
  add(&text, "`; restore a backup, or copy the readable records: `tarn inspect salvage ");
  add_path(&text, files->store);
  add(&text, " NEW`\n");
  for (size_t done = 0; done < text.length;) {
    ssize_t count = write(STDERR_FILENO, text.bytes + done, text.length - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += (size_t)count;
  }
  _exit(exit_status);
}

static bool is_damage(int number, const siginfo_t *info, const ucontext_t *context, mapped_data_files *files) {
  // Not from another process, nor by `raise`.
  bool is_own = number == SIGABRT ? info->si_code == SI_TKILL && info->si_pid == getpid() : info->si_code > 0;
  if (!is_own) return false;
  // The kernel does not know the address of a general protection fault.
  if (number != SIGABRT && info->si_code != SI_KERNEL) files->address = (uintptr_t)info->si_addr;
  find_data_files(files);
  bool is_of_liblmdb = is_in_liblmdb(context);
  // The map is read-only: code of Tarn that writes to it is a defect.
  bool is_write = number == SIGSEGV && info->si_code == SEGV_ACCERR;
  return files->is_within ? !is_write || is_of_liblmdb : is_of_liblmdb && files->count > 0;
}

static void handle(int number, siginfo_t *info, void *context) {
  static mapped_data_files files;
  int code = errno;
  // Another thread ends the process.
  while (atomic_flag_test_and_set(&is_reporting)) pause();
  if (is_damage(number, info, context, &files)) report(number, &files);
  atomic_flag_clear(&is_reporting);
  // An instruction that failed fails again when the handler returns; other signals are sent again.
  sigaction(number, &previous[number], NULL);
  if (info->si_code <= 0) raise(number);
  errno = code;
}

// MARK: - Installation

typedef struct {
  uintptr_t address;
  address_range range;
} sought_code;

static int find_code(struct dl_phdr_info *library, size_t size, void *context) {
  (void)size;
  sought_code *sought = context;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &library->dlpi_phdr[i];
    address_range range = {library->dlpi_addr + part->p_vaddr, library->dlpi_addr + part->p_vaddr + part->p_memsz};
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || !contains(range, sought->address)) continue;
    sought->range = range;
    return 1;
  }
  return 0;
}

// The instructions of the library with a function; an empty range if it is linked into the program.
static address_range code_of(const char *function) {
  sought_code sought = {(uintptr_t)dlsym(RTLD_DEFAULT, function), {0, 0}};
  if (sought.address != 0) dl_iterate_phdr(find_code, &sought);
  return contains(sought.range, (uintptr_t)code_of) ? (address_range){0, 0} : sought.range;
}

static void use_own_stack(void) {
  long page = sysconf(_SC_PAGESIZE);
  // The first page stays inaccessible: an overflow of this stack would change other memory.
  char *memory = mmap(NULL, stack_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + page, stack_size - page, PROT_READ | PROT_WRITE) != 0) return;
  stack_t stack = {.ss_sp = memory + page, .ss_size = stack_size - page};
  sigaltstack(&stack, NULL);
}

void tarn_handle_damaged_pages(int status, bool erases) {
  exit_status = status;
  erases_line = erases;
  liblmdb = code_of("mdb_env_open");
  libc = code_of("abort");
  // The first call loads a library, which allocates memory.
  void *frame;
  backtrace(&frame, 1);
  use_own_stack();
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  int numbers[] = {SIGBUS, SIGSEGV, SIGABRT};
  // A fault in the handler ends the process: a blocked signal of this kind has its default action.
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; i++) sigaddset(&action.sa_mask, numbers[i]);
  for (int i = 0; i < 3; i++) sigaction(numbers[i], &action, &previous[numbers[i]]);
}
