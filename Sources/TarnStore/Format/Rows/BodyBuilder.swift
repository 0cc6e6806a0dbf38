// Building bodies of rows.

/// Builds a body field by field, in ascending order of ids, or by merging two bodies.
@usableFromInline package struct BodyBuilder: ~Copyable {
    @usableFromInline var values = ByteWriter(capacity: 4096)
    /// The id of each field, and the end of its value.
    @usableFromInline var directory = PairList()

    package init() {}

    package mutating func removeAll() {
        values.removeAll()
        directory.removeAll()
    }

    var isEmpty: Bool { directory.isEmpty }

    /// Adds a field. The closure writes its value, a tag and a payload. Ids must ascend.
    @inlinable
    package mutating func field<Failure: Error>(
        _ id: UInt16, _ write: (inout ByteWriter) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(
            directory.isEmpty || directory[directory.count - 1].first < id, "fields must be added in ascending order")
        let start = values.count
        do throws(Failure) {
            try write(&values)
        } catch {
            values.truncate(to: start)
            throw error
        }
        guard values.count > start else { return }
        directory.append(UInt32(id), UInt32(values.count))
    }

    package mutating func field(_ id: UInt16, _ value: EncodedValue) {
        field(id) { $0.append(value.bytes) }
    }

    /// Indicates whether the values are too long for 16-bit offsets.
    package var isWide: Bool { values.count > RowFormat.narrowLimit }

    /// Appends the body.
    package func finish(into writer: inout ByteWriter) { finish(values: values.bytes, into: &writer) }

    /// Appends a body with values of another buffer, which match the directory of this builder.
    func finish(values: Bytes, into writer: inout ByteWriter) {
        let isWide = values.count > RowFormat.narrowLimit
        writer.reserve(2 + directory.count * (isWide ? 6 : 4) + values.count)
        writer.appendLittleEndian(UInt16(directory.count))
        for index in 0..<directory.count {
            let (id, end) = directory[index]
            writer.appendLittleEndian(UInt16(truncatingIfNeeded: id))
            if isWide { writer.appendLittleEndian(end) } else { writer.appendLittleEndian(UInt16(end)) }
        }
        writer.append(values)
    }

    /// Replaces the contents with the fields of `old`, overridden and completed by those of `new`.
    /// If `new` has a plain reference to the same record as `old`, the position in `old` is kept.
    ///
    /// - Parameter dropped: Fields of `old` that are left out.
    package mutating func merge(old: RowBody, new: RowBody, dropping dropped: Set<UInt16> = []) {
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
                if let value = old.value(at: i), dropped.isEmpty || !dropped.contains(UInt16(oldID)) {
                    field(UInt16(oldID), value)
                }
                i += 1
            }
        }
    }
}
