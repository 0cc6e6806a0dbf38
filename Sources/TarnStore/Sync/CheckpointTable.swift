// The table of checkpoints.

internal import LMDB

/// The table of checkpoints in a transaction.
package struct CheckpointTable {
    private let raw: RawTransaction
    private let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    /// The key of a checkpoint: a long name becomes a digest, as a long primary key does.
    private static func key(_ name: String) -> [UInt8] { RecordKey(name).storageKey }

    package func checkpoint(_ name: String) throws -> Checkpoint? {
        try checkpoint(key: CheckpointTable.key(name))
    }

    /// The sequence of the commit that has stored a checkpoint; nil if there is none.
    ///
    /// A commit without changes of records has the sequence of the next one that has some.
    package func sequence(of name: String) throws -> UInt64? {
        try CheckpointTable.key(name).withUnsafeBytes { key in
            try raw.systemRow(of: key, in: state.checkpoints, "checkpoints")?.version
        }
    }

    /// Calls the closure with every checkpoint and its name.
    func forEach(_ body: (String, Checkpoint) throws -> Void) throws {
        let cursor = try raw.cursor(state.checkpoints)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            if let checkpoint = Checkpoint(try raw.systemRow(value, "checkpoints", key)) {
                try body(RecordKey(storageKey: key)?.description ?? "(a long name)", checkpoint)
            }
            entry = try cursor.next()
        }
    }

    /// Calls the closure with the checkpoints whose names begin with a text, in the order of names.
    ///
    /// Names that are stored as digests are left out. The work is that for the found checkpoints.
    package func forEach(withPrefix prefix: String, _ body: (String, Checkpoint) throws -> Void) throws {
        try forEachKey(withPrefix: prefix) { key, checkpoint in
            if let name = RecordKey(storageKey: key)?.description { try body(name, checkpoint) }
        }
    }

    /// Calls the closure with the keys of checkpoints whose names begin with a text, long names
    /// included: the key of one has its beginning.
    func forEachKey(withPrefix prefix: String, _ body: (Bytes, Checkpoint) throws -> Void) throws {
        var start = ByteWriter()
        start.appendTuple(.string(prefix))
        // Without the end of the text.
        start.truncate(to: start.count - 1)
        let cursor = try raw.cursor(state.checkpoints)
        defer { cursor.close() }
        var entry = try cursor.seek(start.bytes)
        while let (key, value) = entry, key.hasPrefix(start.bytes) {
            if let checkpoint = Checkpoint(try raw.systemRow(value, "checkpoints", key)) { try body(key, checkpoint) }
            entry = try cursor.next()
        }
    }

    /// For each list, by the identity in its responses, the key of the checkpoint that has its last
    /// whole scan.
    func wholeLists() throws -> [String: [UInt8]] {
        let cursor = try raw.cursor(state.checkpoints)
        defer { cursor.close() }
        var keys: [String: [UInt8]] = [:], entry = try cursor.first()
        while let (key, value) = entry {
            if let whole = Checkpoint(try raw.systemRow(value, "checkpoints", key))?.whole {
                keys[whole.identity] = Array(key)
            }
            entry = try cursor.next()
        }
        return keys
    }

    /// The checkpoint with a key of ``wholeLists()``.
    func checkpoint(key: [UInt8]) throws -> Checkpoint? {
        try key.withUnsafeBytes { key in
            try raw.systemRow(of: key, in: state.checkpoints, "checkpoints").flatMap { Checkpoint($0) }
        }
    }

    func remove(_ name: String) throws {
        _ = try CheckpointTable.key(name).withUnsafeBytes { try raw.delete(state.checkpoints, $0) }
    }

    func put(_ checkpoint: Checkpoint, _ name: String, sequence: UInt64) throws {
        try put(checkpoint, key: CheckpointTable.key(name), sequence: sequence)
    }

    func put(_ checkpoint: Checkpoint, key: [UInt8], sequence: UInt64) throws {
        try key.withUnsafeBytes { try checkpoint.store(raw, state.checkpoints, $0, sequence: sequence) }
    }
}
