// A growable buffer of trivial values.

internal import Glibc

/// A growable buffer of trivial values, without reference counting: an array in an object is
/// checked for other owners with every change.
@usableFromInline
struct TrivialBuffer<Element: BitwiseCopyable>: ~Copyable {
    /// Allocated by malloc.
    @usableFromInline var base: UnsafeMutablePointer<Element>
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0

    init(capacity: Int = 32) {
        self.capacity = max(capacity, 1)
        base = TrivialBuffer.allocated(self.capacity, instead: nil)
    }

    deinit { free(base) }

    /// Traps if there is no memory, as the standard library's own allocation does.
    private static func allocated(
        _ capacity: Int, instead base: UnsafeMutablePointer<Element>?
    ) -> UnsafeMutablePointer<Element> {
        guard let memory = realloc(base, capacity * MemoryLayout<Element>.stride) else {
            preconditionFailure("out of memory")
        }
        return memory.assumingMemoryBound(to: Element.self)
    }

    @inlinable var isEmpty: Bool { count == 0 }

    @inlinable var last: Element? { count == 0 ? nil : base[count - 1] }

    /// The elements. Valid until the next change.
    @inlinable
    var elements: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: base, count: count) }

    @inlinable
    subscript(_ index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return base[index]
        }
        set {
            precondition(index >= 0 && index < count)
            base[index] = newValue
        }
    }

    @inlinable
    mutating func removeAll() { count = 0 }

    @inlinable
    mutating func append(_ element: Element) {
        if count == capacity { grow(1) }
        base[count] = element
        count += 1
    }

    /// Makes the buffer one of `count` equal elements.
    mutating func fill(_ count: Int, with element: Element) {
        self.count = 0
        if count > capacity { grow(count) }
        base.update(repeating: element, count: count)
        self.count = count
    }

    @usableFromInline
    mutating func grow(_ additional: Int) {
        capacity = max(capacity * 2, count + additional)
        base = TrivialBuffer.allocated(capacity, instead: base)
    }
}
