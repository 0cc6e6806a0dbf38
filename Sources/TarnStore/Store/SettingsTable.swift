// The table `meta` in a transaction: sequence, incarnation and the texts that consumers save.

package import LMDB

/// The table `meta` in a transaction.
package struct SettingsTable {
    let raw: RawTransaction
    let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    /// The highest commit sequence that a store may have reached: imported records bring versions
    /// up to it. A higher one is damaged.
    static let highestSequence = UInt64(Int64.max)

    /// The commit sequence of the snapshot.
    package var sequence: UInt64 {
        get throws(LMDBError) { try raw.number(state.meta, key: MetaKey.sequence) }
    }

    func setSequence(_ sequence: UInt64) throws(LMDBError) {
        try raw.put(state.meta, key: MetaKey.sequence, number: sequence)
    }

    /// - Throws: `LMDBError.corrupted` if it is missing. Every store has one.
    var incarnation: String {
        get throws(LMDBError) {
            guard let text = try raw.get(state.meta, key: MetaKey.incarnation) else {
                throw state.meta.damage(Bytes(MetaKey.incarnation))
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// The incarnation that the scopes of responses are hashed with. A copy has that of the store
    /// that it was made from: its responses stay usable.
    var responseOrigin: String {
        get throws(LMDBError) {
            guard let origin = try raw.get(state.meta, key: MetaKey.responseOrigin) else { return try incarnation }
            return String(decoding: origin, as: UTF8.self)
        }
    }

    // MARK: - Notes of the layers above. Observers are not notified of them.

    /// The rate budgets of servers, which survive a restart; nil if there are none.
    package var requestBudgets: String? {
        get throws(LMDBError) { try text(MetaKey.requestBudgets) }
    }

    package func setRequestBudgets(_ text: String) throws(LMDBError) {
        try raw.put(state.meta, key: MetaKey.requestBudgets, text: text)
    }

    /// The sources of fields by the last sync of a description; nil if no sync has noted them.
    package var fieldSources: String? {
        get throws(LMDBError) { try text(MetaKey.fieldSources) }
    }

    package func setFieldSources(_ text: String) throws(LMDBError) {
        try raw.put(state.meta, key: MetaKey.fieldSources, text: text)
    }

    /// The lists that endpoints request by the last sync of a description; nil if no sync has noted
    /// them.
    package var requestedLists: String? {
        get throws(LMDBError) { try text(MetaKey.requestedLists) }
    }

    package func setRequestedLists(_ text: String) throws(LMDBError) {
        try raw.put(state.meta, key: MetaKey.requestedLists, text: text)
    }

    /// The newest unsafe requests.
    package var unsafeRequests: UnsafeRequests {
        get throws(LMDBError) {
            UnsafeRequests(try raw.get(state.meta, key: MetaKey.unsafeRequests).map { Array($0) } ?? [])
        }
    }

    /// Notes unsafe requests to resources.
    package func noteUnsafeRequests(_ resources: [UInt64]) throws(LMDBError) {
        guard !resources.isEmpty else { return }
        var requests = try unsafeRequests
        for resource in resources { requests.note(resource) }
        var writer = ByteWriter()
        requests.write(to: &writer)
        try raw.put(state.meta, Bytes(MetaKey.unsafeRequests), writer.bytes)
    }

    private func text(_ key: StaticString) throws(LMDBError) -> String? {
        try raw.get(state.meta, key: key).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Positions of consumers of the change log

    /// The token that was saved under a name. Nil if there is none.
    ///
    /// - Throws: `LMDBError.corrupted` if the saved text is no token. A consumer without a position
    ///   would begin anew.
    func changePosition(_ name: String) throws -> ChangeToken? {
        let key = SettingsTable.positionKey(name)
        guard let text = try raw.get(state.meta, key) else { return nil }
        guard let token = ChangeToken(String(decoding: text, as: UTF8.self)) else {
            throw key.withUnsafeBytes { state.meta.damage($0) }
        }
        return token
    }

    func setChangePosition(_ name: String, _ token: ChangeToken?) throws {
        guard let token else {
            _ = try raw.delete(state.meta, SettingsTable.positionKey(name))
            return
        }
        try raw.willAdd()
        var text = ByteWriter()
        text.append(token.description)
        try raw.put(state.meta, SettingsTable.positionKey(name), text.bytes)
    }

    /// The key of a position: a long name becomes a digest, as a long primary key does.
    private static func positionKey(_ name: String) -> [UInt8] {
        Array(MetaKey.positionPrefix.utf8) + RecordKey(name).storageKey
    }
}
