// The functions of libcurl that Tarn calls, each a jump into the shared library, which is loaded by
// the first call. `tools/dist` links it instead of libcurl: a command that needs no network then
// starts without libcurl and the 28 libraries that it brings along.
//
// The list is that of `grep -roh "curl_[a-z_]*(" Sources`; a function that is missing here is an
// error of the linker.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                                        \
    X(0, curl_easy_cleanup) X(1, curl_easy_getinfo) X(2, curl_easy_init) X(3, curl_easy_reset)              \
    X(4, curl_easy_setopt) X(5, curl_easy_strerror) X(6, curl_global_init) X(7, curl_multi_add_handle)      \
    X(8, curl_multi_cleanup) X(9, curl_multi_info_read) X(10, curl_multi_init) X(11, curl_multi_perform)    \
    X(12, curl_multi_poll) X(13, curl_multi_remove_handle) X(14, curl_multi_setopt)                         \
    X(15, curl_multi_strerror) X(16, curl_multi_wakeup) X(17, curl_slist_append)                            \
    X(18, curl_slist_free_all) X(19, curl_version) X(20, curl_version_info) X(21, curl_easy_perform)        \
    X(22, curl_free) X(23, curl_global_cleanup)

#define NAME(index, name) #name,
static const char *const names[] = {FUNCTIONS(NAME)};
enum { count = sizeof names / sizeof *names };

__attribute__((visibility("hidden"))) void *tarn_curl_functions[count];

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_GLOBAL);
    for (int i = 0; library && i < count; i++)
        if (!(tarn_curl_functions[i] = dlsym(library, names[i]))) library = NULL;
    if (library) return;
    const char *detail = dlerror();
    dprintf(2, "tarn: %s: install libcurl (Debian: libcurl4)\n", detail ? detail : "libcurl.so.4");
    _exit(1);
}

__attribute__((visibility("hidden"))) void tarn_load_curl(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

// Some of the functions are variadic, so every register of arguments is kept.
#if defined(__x86_64__)
__asm__(
    ".text\n"
    "tarn_load_curl_and_jump:\n"
    "    pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n pushq %r8\n pushq %r9\n pushq %rax\n pushq %r11\n"
    "    subq $136, %rsp\n"
    "    movups %xmm0, (%rsp)\n movups %xmm1, 16(%rsp)\n movups %xmm2, 32(%rsp)\n movups %xmm3, 48(%rsp)\n"
    "    movups %xmm4, 64(%rsp)\n movups %xmm5, 80(%rsp)\n movups %xmm6, 96(%rsp)\n movups %xmm7, 112(%rsp)\n"
    "    call tarn_load_curl\n"
    "    movups (%rsp), %xmm0\n movups 16(%rsp), %xmm1\n movups 32(%rsp), %xmm2\n movups 48(%rsp), %xmm3\n"
    "    movups 64(%rsp), %xmm4\n movups 80(%rsp), %xmm5\n movups 96(%rsp), %xmm6\n movups 112(%rsp), %xmm7\n"
    "    addq $136, %rsp\n"
    "    popq %r11\n popq %rax\n popq %r9\n popq %r8\n popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n"
    "    leaq tarn_curl_functions(%rip), %r10\n"
    "    jmp *(%r10,%r11,8)\n");
#define JUMP(index, name)                                                                              \
    __asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n"                               \
            "    movq tarn_curl_functions+8*" #index "(%rip), %r11\n"                                  \
            "    testq %r11, %r11\n    jz 1f\n    jmp *%r11\n"                                         \
            "1:  movl $" #index ", %r11d\n    jmp tarn_load_curl_and_jump\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    "tarn_load_curl_and_jump:\n"
    "    stp x29, x30, [sp, #-224]!\n"
    "    stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n stp x6, x7, [sp, #64]\n"
    "    str x17, [sp, #80]\n"
    "    stp q0, q1, [sp, #96]\n stp q2, q3, [sp, #128]\n stp q4, q5, [sp, #160]\n stp q6, q7, [sp, #192]\n"
    "    bl tarn_load_curl\n"
    "    ldp q0, q1, [sp, #96]\n ldp q2, q3, [sp, #128]\n ldp q4, q5, [sp, #160]\n ldp q6, q7, [sp, #192]\n"
    "    ldr x17, [sp, #80]\n"
    "    ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n ldp x4, x5, [sp, #48]\n ldp x6, x7, [sp, #64]\n"
    "    ldp x29, x30, [sp], #224\n"
    "    adrp x16, tarn_curl_functions\n add x16, x16, :lo12:tarn_curl_functions\n"
    "    ldr x16, [x16, x17, lsl #3]\n    br x16\n");
#define JUMP(index, name)                                                                              \
    __asm__(".globl " #name "\n.type " #name ", %function\n" #name ":\n"                               \
            "    adrp x16, tarn_curl_functions\n    add x16, x16, :lo12:tarn_curl_functions\n"         \
            "    ldr x16, [x16, #8*" #index "]\n    cbz x16, 1f\n    br x16\n"                         \
            "1:  mov x17, #" #index "\n    b tarn_load_curl_and_jump\n");
#else
#error "tools/lazy-curl.c has no jumps for this processor: let tools/dist link libcurl itself"
#endif

FUNCTIONS(JUMP)
