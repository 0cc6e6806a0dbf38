internal import LMDB

/// When commits were made.
struct CommitTimes {
    struct Mark: Equatable {
        var sequence: UInt64
        var time: Int64
    }

    private static let most = 256
    /// Which part of the age lies between two marks.
    static let parts: Int64 = 64

    var marks: [Mark] = []

    init(_ bytes: Bytes?) {
        guard let bytes else { return }
        for offset in stride(from: 0, to: bytes.count - 15, by: 16) {
            marks.append(
                Mark(
                    sequence: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
                    time: Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int64.self))))
        }
    }

    /// Whether a commit at this time has to be noted; asked of the bytes, before anything is copied.
    static func isDue(_ bytes: Bytes?, age: Int64, now: Int64) -> Bool {
        guard let bytes, bytes.count >= 16 else { return true }
        let last = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: Int64.self))
        return Timestamp(microseconds: now).elapsed(since: Timestamp(microseconds: last)) >= age / parts
    }

    /// Notes a commit, and forgets what no longer helps.
    mutating func add(_ sequence: UInt64, _ now: Int64, trimmed: UInt64) {
        while marks.count > 1, marks[1].sequence <= (trimmed == .max ? trimmed : trimmed + 1) { marks.removeFirst() }
        // What was between the first two is then taken to be as young as what comes behind.
        if marks.count >= CommitTimes.most { marks.removeFirst() }
        marks.append(Mark(sequence: sequence, time: now))
    }

    /// The newest commit, before a certain one, that is older than the age.
    func expired(age: Int64, now: Int64, before first: UInt64) -> UInt64 {
        var result: UInt64 = 0
        for (index, mark) in marks.enumerated() {
            let next = index + 1 < marks.count ? marks[index + 1].sequence : first
            guard mark.time <= now - age - age / CommitTimes.parts else { break }
            // A sequence of 0, which no commit has, is a damaged one.
            result = max(result, max(min(next, first), 1) - 1)
        }
        return result
    }

    var encoded: ByteWriter {
        var writer = ByteWriter(capacity: marks.count * 16)
        for mark in marks {
            writer.appendBigEndian(mark.sequence)
            writer.appendBigEndian(mark.time)
        }
        return writer
    }
}
