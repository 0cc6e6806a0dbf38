// A mutex that is held over a whole transaction, whose result need not be sendable (which `Mutex.withLock` asks for).

import Glibc

final class Lock: @unchecked Sendable {
    // A pthread mutex is made to be shared between threads; its address stays the same for the object's life.
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
