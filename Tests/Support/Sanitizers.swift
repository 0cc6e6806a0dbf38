// The sanitizers that this process was built with.

import Glibc

/// Whether the thread sanitizer is on. It needs most of the address space, and aborts a forked
/// child that starts a thread.
package let isThreadSanitized = dlsym(nil, "__tsan_init") != nil

/// Whether any sanitizer is on. Everything then takes several times the time, memory and address
/// space.
package let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil
