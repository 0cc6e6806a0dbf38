// Pages with the same elements, of lists whose records have their positions as keys.

internal import TarnStore

extension Importer {
    /// Returns a digest of the elements of a document's list as the server sent them; nil if the
    /// keys of its records tell equal pages from different ones.
    ///
    /// They do not if they contain the position in the list: then equal elements at other positions
    /// are other records. They do if they contain a value that the document has beside its list:
    /// then a page may have equal elements and its own value. The digest is of this process.
    package func listDigest(of body: [UInt8], records: JSONPath, entity: String) -> Int? {
        guard let position = plan.position(of: entity), plan.distinguishesPositionsOnly(position) else { return nil }
        return body.withUnsafeBytes { text in
            var walk = ElementWalk(text), hasher = Hasher()
            let list = records.isPlain ? walk.value(at: records.keys) : nil
            hasher.combine(bytes: list.map { text.slice($0) } ?? text)
            return hasher.finalize()
        }
    }
}
