// The entries of an index, as they follow from its components.

internal import LMDB

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

    /// Returns whether the values of a row, not cut, begin with `count` encoded values.
    func begins(_ row: RowBody, with wanted: Bytes, count: Int) -> Bool {
        var writer = ByteWriter()
        for component in components.prefix(count) {
            IndexEntry.append(row.value(of: component.field), component, to: &writer, limit: .max / 8)
        }
        return Bytes.equal(writer.bytes, wanted)
    }
}
