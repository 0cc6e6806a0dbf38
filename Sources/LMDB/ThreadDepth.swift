import CLMDB
import Glibc

/// The nesting depth of the calling thread in transactions of one environment.
struct ThreadDepth: Sendable {
    /// The depth that a write adds: more than any number of reads.
    static let write = 1 << 32

    private let key: pthread_key_t

    init?() {
        var key = pthread_key_t()
        guard pthread_key_create(&key, nil) == 0 else { return nil }
        self.key = key
    }

    var value: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        nonmutating set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }

    var isInsideWrite: Bool { value >= ThreadDepth.write }

    func delete() { pthread_key_delete(key) }
}
