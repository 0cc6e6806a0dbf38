/// Values by the names of tables, which differ if their bytes do: LMDB may have tables with names
/// that are equal texts in Swift.
struct TableValues<Value> {
    private var stored: [[UInt8]: Value] = [:]

    var count: Int { stored.count }
    var values: some Collection<Value> { stored.values }

    subscript(name: String) -> Value? {
        get { stored[Array(name.utf8)] }
        set { stored[Array(name.utf8)] = newValue }
    }

    /// Adds the values of other names.
    mutating func add(_ others: TableValues<Value>) { stored.merge(others.stored) { own, _ in own } }
}
