// A mutex that may be held during a whole transaction.

import Glibc

/// A lock that is taken and released by calls, not for the duration of a closure.
package final class Lock: @unchecked Sendable {
    // A pthread mutex is shared between threads; its address is constant for the object's life.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }
    package func unlock() { pthread_mutex_unlock(mutex) }
    /// Takes the lock if that needs no waiting; returns whether it did.
    package func lockIfAvailable() -> Bool { pthread_mutex_trylock(mutex) == 0 }
}
