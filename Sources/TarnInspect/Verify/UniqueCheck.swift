import TarnStore

/// The check that the values of a unique index, and the targets of a one-to-one relationship, occur
/// once, entry by entry.
struct UniqueCheck {
    private unowned let check: StoreCheck
    private let owner: StoreCheck.IndexOwner
    private let components: Int
    private let isUnique: Bool
    /// The number of components in the keys of a one-to-one relationship's targets; nil for others.
    private let targetComponents: Int?
    /// The values of the previous entry, and the first record that has them.
    private var values: [UInt8] = []
    private var holder: [UInt8]?
    /// If the values are cut: the first records that have whole ones, by their hashes.
    private var wholes: [Int: [[UInt8]]] = [:]

    init(_ check: StoreCheck, _ id: UInt32, _ owner: StoreCheck.IndexOwner) {
        self.check = check
        self.owner = owner
        // An index that is still being validated may turn out not to be unique.
        isUnique = (owner.index?.isUnique ?? false) && check.file.marks[id] == nil
        targetComponents = UniqueCheck.targetComponents(owner, check.catalog)
        components = if case .declared(let components, _)? = owner.index?.source { components.count } else { 1 }
    }

    private static func targetComponents(_ owner: StoreCheck.IndexOwner, _ catalog: Catalog) -> Int? {
        guard case .field(let field)? = owner.index?.source, case .reference(let reference) = field.kind,
            reference.isOneToOne, !owner.entity.key.contains(field.id)
        else { return nil }
        return catalog.entity(id: reference.destination)?.keyTypes.count
    }

    mutating func take(_ entry: Bytes) throws {
        if let targetComponents { return takeTarget(entry, targetComponents) }
        guard isUnique, let index = owner.index else { return }
        let (length, hasNull) = IndexEntry.values(of: entry, components: components)
        guard !hasNull, length < entry.count else {
            values = []
            return
        }
        let found = Array(entry.slice(0..<length)), key = Array(entry.slice(length..<entry.count))
        guard found == values else {
            (values, holder, wholes) = (found, key, [:])
            return
        }
        // Values that are cut in the index are compared in the rows.
        let isCut = IndexEntry.isCut(entry.slice(0..<length))
        let other = try isCut ? holderOfSameValues(as: key, index) : holder
        guard let other else { return }
        check.findings.add(
            .indexNotUnique, "index \(owner.entity.name).\(index.name)",
            "\(owner.entity.name) \(describe(other)) and \(describe(key)) have the same values")
    }

    /// Returns the first record with the whole values of another one, and notes that one otherwise.
    ///
    /// Very many values may be cut to the same ones: their hashes tell which rows to compare.
    private mutating func holderOfSameValues(as key: [UInt8], _ index: CompiledIndex) throws -> [UInt8]? {
        if wholes.isEmpty, let first = holder {
            let hash = try wholeValues(first, index).hashValue
            wholes[hash] = [first]
        }
        let whole = try wholeValues(key, index), hash = whole.hashValue
        if let other = try wholes[hash]?.first(where: { try wholeValues($0, index) == whole }) { return other }
        wholes[hash, default: []].append(key)
        return nil
    }

    private mutating func takeTarget(_ entry: Bytes, _ components: Int) {
        guard let index = owner.index, let length = StorageKey.length(in: entry, components: components),
            length < entry.count
        else {
            values = []
            return
        }
        let found = Array(entry.slice(0..<length)), key = Array(entry.slice(length..<entry.count))
        if found == values, let other = holder {
            check.findings.add(
                .indexNotUnique, "index \(owner.entity.name).\(index.name)",
                "\(owner.entity.name) \(describe(other)) and \(describe(key)) both refer to \(describe(found)), which belongs to one of them only"
            )
        }
        if found != values { (values, holder) = (found, key) }
    }

    private func describe(_ key: [UInt8]) -> String { RecordKey.describe(storageKey: key) }

    private func wholeValues(_ key: [UInt8], _ index: CompiledIndex) throws -> [UInt8]? {
        guard let value = key.withUnsafeBytes({ check.file.value($0, in: TableName.records(owner.root)) }) else {
            return nil
        }
        var values: [UInt8]?
        try value.withUnsafeBytes { value in
            try check.withRow(owner.root, value) { _, _, row in values = UniqueIndex.wholeValues(of: row.body, index) }
        }
        return values
    }
}
