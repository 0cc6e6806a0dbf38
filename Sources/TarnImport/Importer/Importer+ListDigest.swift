// Pages with the same elements: of lists whose records have their positions as keys, and of lists
// with elements that are not listed.

internal import TarnStore

extension Importer {
    /// Whether ``listDigest(of:records:entity:)`` tells equal pages of an entity's records from
    /// different ones, since the keys of the records do not.
    ///
    /// They do not if they contain the position in the list: then equal elements at other positions
    /// are other records. They do if they contain a value that the document has beside its list:
    /// then a page may have equal elements and its own value.
    package func digestsLists(of entity: String) -> Bool {
        plan.position(of: entity).map(plan.distinguishesPositionsOnly) ?? false
    }

    /// Returns a digest of the elements of a document's list as the server sent them; nil if the
    /// keys of its records tell equal pages from different ones.
    ///
    /// A checkpoint may keep the digest: it is the same in every process.
    package func listDigest(of body: [UInt8], records: JSONPath, entity: String) -> UInt64? {
        guard digestsLists(of: entity) else { return nil }
        return body.withUnsafeBytes { text in
            var walk = ElementWalk(text)
            let list = records.isPlain ? walk.value(at: records.keys) : nil
            return SHA256.prefix(of: list.map { text.slice($0) } ?? text)
        }
    }
}

extension Importer.Added {
    /// A digest of everything that was read from a list with elements that are not listed, such as
    /// records that are marked as deleted, or from a list of messages, which may be others about
    /// the same records; nil if all elements are listed records, or if some are unknown.
    ///
    /// A stored response may keep it: it is the same in every process.
    package var readDigest: UInt64? {
        guard !unlisted.isEmpty || !messages.isEmpty, skipped == 0, listed.count + unlisted.count == count else {
            return nil
        }
        var text = ByteWriter()
        for part in [listed, unlisted] {
            for record in part {
                text.appendBigEndian(record.entity)
                text.append(UInt8(truncatingIfNeeded: record.storageKey.count))
                text.append(record.storageKey)
            }
            text.append(0)
        }
        text.append(messages)
        return SHA256.prefix(of: text.bytes)
    }

    /// Notes an element that a hook has refused, or that is passed over.
    mutating func noteRefused(_ json: JSONValue) {
        unlisted.append(ListedRecord(entity: 0, storageKey: Importer.Added.digest(of: json)))
    }

    /// Notes an element that is a message about a record.
    mutating func noteMessage(_ json: JSONValue) { messages += Importer.Added.digest(of: json) }

    private static func digest(of json: JSONValue) -> [UInt8] {
        let digest = Array(json.text.utf8).withUnsafeBytes { SHA256.prefix(of: $0) }
        return withUnsafeBytes(of: digest.bigEndian) { Array($0) }
    }
}
