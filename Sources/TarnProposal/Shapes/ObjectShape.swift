// The shape of the objects at one place.

import Tarn

/// The fields of the objects at one place, and the objects themselves as samples.
final class ObjectShape {
    /// The number of objects.
    private(set) var count = 0
    /// The keys in the order of their first occurrence.
    private(set) var names: [String] = []
    private(set) var fields: [String: ValueShape] = [:]
    /// The first objects, for comparisons across fields.
    private(set) var samples: [JSONValue] = []
    /// The positions in ``samples`` at which the lists of the answers begin.
    private(set) var starts: [Int] = []
    /// Whether keys beyond ``fieldLimit`` were left out.
    private(set) var isTruncated = false
    /// The names of the values, if the records are rows; nil for objects.
    var columns: [String]?
    /// Whether the records are rows or columns with names.
    var isTable = false
    /// Whether the list has more records than the samples.
    var isPartial = false
    /// The name of the schema in a specification.
    var schemaName: String?
    /// The names of the schemas that the schema has under `allOf`.
    var bases: Set<String> = []
    /// The property that names the kind of an object in a specification, and its values.
    var discriminator: (property: String, values: [String])?
    /// Whether the kinds declare their `id` separately: two kinds may have the same one.
    var hasSeparateKeys = false

    /// The labels that tell the records apart, if each has a table; nil for others.
    private(set) var labels: SeriesLabels?
    /// The key of the objects within the record that has them as its table; nil for others.
    private(set) var rowKey: RowKey?

    /// Whether the records are in the lists of a map, of which each has a name.
    var isInNamedLists = false

    /// The maximum number of keys.
    static let fieldLimit = 400
    /// The maximum number of kept objects.
    static let sampleLimit = 20_000

    init() {}

    /// Adds an object. Of a key that occurs twice, the last value counts.
    func add(_ value: JSONValue, depth: Int = 0) {
        guard case .object(let members) = value else { return }
        count += 1
        if samples.count < ObjectShape.sampleLimit { samples.append(value) }
        var last: [String: Int] = [:]
        for (index, member) in members.enumerated() { last[member.key] = index }
        for (index, member) in members.enumerated() where last[member.key] == index {
            shape(of: member.key)?.add(member.value, depth: depth)
        }
    }

    /// Notes that each object has a table, whose rows are records if all keys are found.
    ///
    /// - Parameter name: the key of the rows, which are objects in the samples.
    func takeTable(_ name: String) {
        let tables = samples.compactMap { sample -> [JSONValue]? in
            guard let rows = sample[name]?.elements, !rows.isEmpty else { return nil }
            return rows
        }
        guard tables.allSatisfy({ $0.allSatisfy(\.isObject) }), let key = RowKey(of: tables),
            let rows = fields[name]?.element?.object
        else { return }
        let labels = SeriesLabels(of: samples), ends = starts.dropFirst() + [samples.count]
        let isLabelled = labels.map { labels in
            zip(starts, ends).allSatisfy { $0 <= $1 && labels.tellApart(Array(samples[$0..<$1])) }
        }
        guard hasOwnKey || isLabelled ?? false else { return }
        if isLabelled ?? false { self.labels = labels }
        rows.rowKey = key
    }

    /// Notes that the objects of another answer follow.
    func beginList() { starts.append(samples.count) }

    /// Returns the shape of a key's values, created if necessary; nil beyond the limit.
    func shape(of name: String) -> ValueShape? {
        if let known = fields[name] { return known }
        guard names.count < ObjectShape.fieldLimit else {
            isTruncated = true
            return nil
        }
        let new = ValueShape()
        fields[name] = new
        names.append(name)
        return new
    }

    /// Adds the declarations of another shape of the same objects.
    func addDeclarations(of other: ObjectShape, depth: Int = 0) {
        guard self !== other, depth < ValueShape.depthLimit else { return }
        if schemaName == nil { (schemaName, bases) = (other.schemaName, other.bases) }
        discriminator = discriminator ?? other.discriminator
        hasSeparateKeys = hasSeparateKeys || other.hasSeparateKeys
        isInNamedLists = isInNamedLists || other.isInNamedLists
        for name in other.names {
            guard let theirs = other.fields[name] else { continue }
            shape(of: name)?.addDeclarations(of: theirs, depth: depth + 1)
        }
    }

    private static let keyNames = ["id", "uuid", "_id", "guid"]

    /// Whether the objects have an id.
    var hasOwnKey: Bool { ObjectShape.keyNames.contains { fields[$0]?.isScalar == true } }

    /// The reason why the id of the objects is no key, for a comment; nil without an id.
    var keyProblem: String? {
        guard let name = ObjectShape.keyNames.first(where: { fields[$0]?.isScalar == true }), let value = fields[name],
            value.count > 0
        else { return nil }
        if value.count < count || value.nulls > 0 { return "objects of which some have no `\(name)`" }
        return value.scalars.counts.values.contains { $0 > 1 }
            ? "objects whose `\(name)` is not unique: they have other values elsewhere" : nil
    }

    /// The type that all objects state beside their URL, as in Salesforce: `"attributes": {"type":
    /// "Account", "url": …}`.
    var typeBesideURL: String? {
        guard let attributes = fields["attributes"], attributes.isObject, attributes.count == count,
            let object = attributes.object, object.fields["url"] != nil, let type = object.fields["type"],
            type.count == count, type.scalars.counts.count == 1, !type.scalars.isOverflowing,
            let name = type.scalars.counts.keys.first, EnglishName.isValid(name)
        else { return nil }
        return name
    }

    /// Whether the keys are data, such as dates or ids, instead of names.
    var isMap: Bool {
        if isTruncated { return true }
        guard names.count >= 3 else { return names.contains { !ObjectShape.isName($0) } && !names.isEmpty }
        let odd = names.count { !ObjectShape.isName($0) }
        if odd * 2 > names.count { return true }
        // Many keys of which each object has few.
        guard count >= 3, names.count >= 40 else { return false }
        let present = names.reduce(0) { $0 + (fields[$1]?.count ?? 0) }
        return present * 5 < names.count * count
    }

    /// Whether a key begins with a letter, `_`, `@`, `$`, `+` or `-`, and is short.
    static func isName(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, key.utf8.count <= 64 else { return false }
        return first.properties.isAlphabetic || "_@$+-#".unicodeScalars.contains(first)
    }
}
