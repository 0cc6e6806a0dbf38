// The places of fields in a body, and the fields that have none.

package import TarnStore

extension BodyWriter {
    /// Returns the fields among the given ones that no body can contain, with the reasons.
    ///
    /// - Parameter options: the places of fields and the forms of references.
    /// - Throws: `BodyError`.
    package func unsendable(
        among names: [String], of entity: Catalog.Entity, _ options: BodyOptions
    ) throws -> [String: String] {
        var reasons: [String: String] = [:]
        for field in try plan(entity, options).fields where names.contains(field.name) {
            if case .none(let reason) = field.place { reasons[field.name] = reason }
        }
        return reasons
    }

    /// Returns the places of the fields that the body of a record has: keys, outermost first.
    ///
    /// - Throws: `BodyError`.
    package func places(of record: Record, _ options: BodyOptions) throws -> [[String]] {
        guard let entity = catalog.entity(record.entity) else { throw BodyError.unknownEntity(record.entity) }
        return try plan(entity, options).fields.filter { field in
            !options.omitted.contains(field.name)
                && (options.fields.map { $0.contains(field.name) } ?? (record[field.name] != nil))
        }.compactMap(\.keys)
    }

    /// Returns the other fields that have places in the lists of the given ones.
    ///
    /// A server replaces a list as a whole: without them, it would lose their values.
    ///
    /// - Throws: `BodyError`.
    package func fieldsBeside(
        _ names: Set<String>, of entity: Catalog.Entity, _ options: BodyOptions
    ) throws -> Set<String> {
        guard !options.places.values.allSatisfy(\.isPlain) else { return [] }
        let fields = try plan(entity, options).fields.filter(\.isInList)
        let lists = Set(fields.filter { names.contains($0.name) }.compactMap(\.keys))
        return Set(fields.filter { $0.keys.map(lists.contains) ?? false }.map(\.name)).subtracting(names)
    }
}
