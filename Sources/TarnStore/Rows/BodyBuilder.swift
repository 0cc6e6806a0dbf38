// Builds bodies of rows, field by field in ascending order of ids, and merges two of them.

internal import LMDB

package struct BodyBuilder: ~Copyable {
    private var values = ByteWriter(capacity: 4096)
    private var ids: [UInt16] = []
    private var ends: [UInt32] = []

    package init() {}

    package mutating func removeAll() {
        values.removeAll()
        ids.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    package var isEmpty: Bool { ids.isEmpty }

    /// Adds a field, whose value the closure writes: a tag and a payload. Ids must ascend.
    package mutating func field<Failure: Error>(
        _ id: UInt16, _ write: (inout ByteWriter) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(ids.last.map { $0 < id } ?? true, "fields are added in ascending order")
        let start = values.count
        do throws(Failure) {
            try write(&values)
        } catch {
            values.truncate(to: start)
            throw error
        }
        guard values.count > start else { return }
        ids.append(id)
        ends.append(UInt32(values.count))
    }

    package mutating func field(_ id: UInt16, _ value: EncodedValue) {
        field(id) { $0.append(value.bytes) }
    }

    /// Whether the values are too long for 16-bit offsets.
    package var isWide: Bool { values.count > RowFormat.narrowLimit }

    package var count: Int { 2 + ids.count * (isWide ? 6 : 4) + values.count }

    /// Appends the body.
    package func finish(into writer: inout ByteWriter) {
        writer.reserve(count)
        writer.appendLittleEndian(UInt16(ids.count))
        for index in ids.indices {
            writer.appendLittleEndian(ids[index])
            if isWide { writer.appendLittleEndian(ends[index]) } else { writer.appendLittleEndian(UInt16(ends[index])) }
        }
        writer.append(values.bytes)
    }

    /// Takes the fields of `old`, replaced and completed by those of `new`: what `new` does not have stays. That includes
    /// the position of a reference, of which a plain reference to the same record says nothing.
    package mutating func merge(old: RowBody, new: RowBody) {
        removeAll()
        var i = 0, j = 0
        while i < old.count || j < new.count {
            let oldID = i < old.count ? Int(old.id(at: i)) : Int.max
            let newID = j < new.count ? Int(new.id(at: j)) : Int.max
            if newID <= oldID {
                let known = newID == oldID ? old.value(at: i) : nil
                if let value = new.value(at: j) {
                    field(UInt16(newID), known.flatMap { value.isContained(in: $0) ? $0 : nil } ?? value)
                }
                j += 1
                if newID == oldID { i += 1 }
            } else {
                if let value = old.value(at: i) { field(UInt16(oldID), value) }
                i += 1
            }
        }
    }
}
