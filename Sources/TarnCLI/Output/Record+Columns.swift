import Tarn

extension Record {
    /// Returns the value of a field, for columns one after the other.
    ///
    /// - Parameter next: the field to look at first, since most often the columns have the order of
    ///   the fields; 0 for the first column.
    func value(_ name: String, next: inout Int) -> Value? {
        guard next < fields.count, fields[next].name == name else { return self[name] }
        next += 1
        return fields[next - 1].value
    }
}
