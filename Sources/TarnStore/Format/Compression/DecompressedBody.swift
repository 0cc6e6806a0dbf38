import CZstd

/// A compressed body, borrowed from a context until the context releases it.
struct DecompressedBody {
    enum State {
        case compressed, damaged
        /// The associated value is the size of the decompressed body in bytes.
        case whole(Int)
    }

    var stored = Bytes(start: nil, count: 0)
    var isWide = false
    /// The compression form in the row's header.
    var form = RowFormat.zstd
    var state = State.compressed
    var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    /// Unretained: the transaction retains the context and the dictionary, and outlives the body.
    private let context: Unmanaged<RowContext>
    var dictionary: Unmanaged<RowDictionary>

    init(_ context: Unmanaged<RowContext>, _ dictionary: Unmanaged<RowDictionary>) {
        self.context = context
        self.dictionary = dictionary
    }

    var isDamaged: Bool { if case .damaged = state { true } else { false } }

    /// Returns the whole body, which is decompressed once. Nil if it is damaged.
    mutating func whole() -> Bytes? {
        switch state {
        case .whole(let size): return Bytes(start: memory.baseAddress, count: size)
        case .damaged: return nil
        case .compressed:
            guard let whole = decompressed() else {
                state = .damaged
                return nil
            }
            state = .whole(whole.count)
            return whole
        }
    }

    private mutating func decompressed() -> Bytes? {
        context._withUnsafeGuaranteedRef { context in
            dictionary._withUnsafeGuaranteedRef { dictionary in
                if RowFormat.isDivided(form: form) {
                    return context.whole(stored, form, isWide: isWide, dictionary) { room(for: $0) }
                }
                guard let size = RowContext.contentSize(stored),
                    context.decompress(stored, into: room(for: size), size, dictionary)
                else { return nil }
                return Bytes(start: memory.baseAddress, count: size)
            }
        }
    }

    private mutating func room(for size: Int) -> UnsafeMutableRawBufferPointer {
        if memory.count < size {
            memory.deallocate()
            memory = .allocate(byteCount: size, alignment: 16)
        }
        return memory
    }
}
