extension ListedRecord {
    init(_ root: UInt16, _ key: Bytes) { self.init(entity: root, storageKey: Array(key)) }
}
