/// The approximate times of commits: marks at intervals of a 64th of the retention's age.
struct CommitTimes {
    struct Mark: Equatable {
        var sequence: UInt64
        var time: Int64
    }

    /// The maximum number of marks.
    private static let most = 256
    /// The number of intervals between marks in the retention's age.
    static let parts: Int64 = 64

    var marks: [Mark] = []

    init(_ bytes: Bytes?) {
        guard let bytes else { return }
        for offset in stride(from: 0, to: bytes.count - 15, by: 16) {
            marks.append(
                Mark(
                    sequence: bytes.loadBigEndian(offset, UInt64.self),
                    time: bytes.loadBigEndian(offset + 8, Int64.self)))
        }
    }

    /// Whether a commit at this time needs a mark, decided without decoding all marks.
    ///
    /// Without marks after the clock was set back, nothing would expire until it has caught up.
    static func isDue(_ bytes: Bytes?, age: Int64, now: Int64) -> Bool {
        guard let bytes, bytes.count >= 16 else { return true }
        let last = bytes.loadBigEndian(bytes.count - 8, Int64.self)
        let elapsed = Timestamp(microseconds: now).elapsed(since: Timestamp(microseconds: last))
        return elapsed >= age / parts || elapsed < -(age / parts)
    }

    /// Adds the mark of a commit, and removes marks of trimmed commits.
    mutating func add(_ sequence: UInt64, _ now: Int64, trimmed: UInt64) {
        while marks.count > 1, marks[1].sequence <= (trimmed == .max ? trimmed : trimmed + 1) { marks.removeFirst() }
        // Commits between the first two marks then count as young as those after the second.
        if marks.count >= CommitTimes.most { marks.removeFirst() }
        marks.append(Mark(sequence: sequence, time: now))
    }

    /// The newest commit before `first` that is older than the age.
    func expired(age: Int64, now: Int64, before first: UInt64) -> UInt64 {
        var result: UInt64 = 0
        for index in marks.indices {
            let next = index + 1 < marks.count ? marks[index + 1].sequence : first
            guard time(ofMark: index, now: now) <= now - age - age / CommitTimes.parts else { break }
            // No commit has the sequence 0: such a mark is damaged.
            result = max(result, max(min(next, first), 1) - 1)
        }
        return result
    }

    /// The time of a mark. If it is in the future, the clock was ahead, and that of a later mark
    /// counts: the commits were made before.
    private func time(ofMark index: Int, now: Int64) -> Int64 {
        let time = marks[index].time
        return time <= now ? time : marks[index...].first { $0.time <= now }?.time ?? time
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
