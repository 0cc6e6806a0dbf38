import Locking

/// The lock of the tests: one that the thread sanitizer sees, unlike `Synchronization.Mutex`.
typealias Mutex<Value> = Guarded<Value>
