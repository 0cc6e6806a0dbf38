// A condition variable whose timed waits do not go by the time of day.

import Glibc

/// A lock with a condition variable.
///
/// A timed wait of Foundation's `NSCondition` ends at a time of day: if the clock is set back
/// meanwhile, it lasts until the clock has caught up.
package final class ConditionVariable: @unchecked Sendable {
    // Both are shared between threads; their addresses are constant for the object's life.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }
    package func unlock() { pthread_mutex_unlock(mutex) }
    /// Wakes a waiting thread. The lock is held.
    package func signal() { pthread_cond_signal(condition) }
    /// Waits for a signal, without the lock meanwhile. It may end without one.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits for a signal until the time is over, without the lock meanwhile.
    ///
    /// - Returns: false if the time is over.
    package func wait(atMost time: Duration) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = max(time, .zero).components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(min(seconds, 1 << 32)) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        return pthread_cond_timedwait(condition, mutex, &end) == 0
    }
}
