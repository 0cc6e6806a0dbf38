// A mutex that is held during a whole transaction. `Mutex.withLock` would require a sendable
// result.

import Glibc

final class Lock: @unchecked Sendable {
    // A pthread mutex is shared between threads; its address is constant for the object's life.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
}
