// The entries of an index, as they follow from its components.

extension CompiledIndex {
    /// Indicates that entries begin with values. Those of a reference's index begin with targets.
    var isOfValues: Bool {
        if case .field(let field) = source, case .reference = field.kind { return false }
        return true
    }

    var components: [Component] {
        switch source {
        case .field(let field): [Component(field: field.id, isReference: false, foldsCase: false)]
        case .declared(let components, _): components
        }
    }

    /// Returns the storage key after the values of an entry.
    func owner(in entry: Bytes) -> Bytes? {
        let length = IndexEntry.values(of: entry, components: components.count).length
        return length < entry.count ? entry.slice(length..<entry.count) : nil
    }

    /// Returns the storage key of the record at the end of any entry, also of a reference's index.
    package func recordKey(in entry: Bytes, _ catalog: Catalog) -> Bytes? {
        guard case .field(let field) = source, case .reference(let reference) = field.kind else {
            return owner(in: entry)
        }
        guard let components = catalog.entity(id: reference.destination)?.keyTypes.count,
            let length = StorageKey.length(in: entry, components: components)
        else { return nil }
        return IndexEntry.owner(in: entry, afterValuesOf: length, positioned: reference.inverseIsOrdered)
    }

    /// Returns whether the values of a row, not cut, begin with `count` encoded values.
    func begins(_ row: RowBody, with wanted: Bytes, count: Int) -> Bool {
        var writer = ByteWriter()
        for component in components.prefix(count) {
            IndexEntry.append(row.value(of: component.field), component, to: &writer, limit: .max / 8)
        }
        return Bytes.equal(writer.bytes, wanted)
    }
}
