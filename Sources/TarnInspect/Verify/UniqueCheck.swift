import TarnStore

/// The check that the values of a unique index occur once, entry by entry.
struct UniqueCheck {
    private unowned let check: StoreCheck
    private let owner: StoreCheck.IndexOwner
    private let components: Int
    private let isUnique: Bool
    /// The values of the previous entry, and the records that have them.
    private var values: [UInt8] = []
    private var holders: [[UInt8]] = []

    init(_ check: StoreCheck, _ id: UInt32, _ owner: StoreCheck.IndexOwner) {
        self.check = check
        self.owner = owner
        // An index that is still being validated may turn out not to be unique.
        isUnique = (owner.index?.isUnique ?? false) && check.file.marks[id] == nil
        components = if case .declared(let components, _)? = owner.index?.source { components.count } else { 1 }
    }

    mutating func take(_ entry: Bytes) throws {
        guard isUnique, let index = owner.index else { return }
        let (length, hasNull) = IndexEntry.values(of: entry, components: components)
        guard !hasNull, length < entry.count else {
            values = []
            return
        }
        let found = Array(entry.slice(0..<length)), key = Array(entry.slice(length..<entry.count))
        guard found == values else {
            (values, holders) = (found, [key])
            return
        }
        // Values that are cut in the index are compared in the rows.
        let isCut = IndexEntry.isCut(entry.slice(0..<length))
        if let other = try holders.first(where: { try !isCut || hasSameValues($0, key, index) }) {
            check.findings.add(
                .indexNotUnique, "index \(owner.entity.name).\(index.name)",
                "\(owner.entity.name) \(describe(other)) and \(describe(key)) have the same values")
        }
        holders.append(key)
    }

    private func describe(_ key: [UInt8]) -> String { RecordKey.describe(storageKey: key) }

    private func hasSameValues(_ a: [UInt8], _ b: [UInt8], _ index: CompiledIndex) throws -> Bool {
        try wholeValues(a, index) == wholeValues(b, index)
    }

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
