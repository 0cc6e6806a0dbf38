// The sanitizers that this process was built with.

import Glibc

/// Whether the thread sanitizer watches: it needs most of the address space, and ends a forked child
/// that starts a thread.
package let isThreadSanitized = dlsym(nil, "__tsan_init") != nil

/// Whether any sanitizer watches: everything takes several times as long, and as much memory and
/// address space.
package let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil
