// Values while operations are undone and replayed one after the other.

/// The value of a field while operations change it. Nil is absent.
///
/// A list is decoded once, for all edits of its members: thousands of operations may each have
/// added one member to it.
struct EditedValue {
    private var encoded: [UInt8]?
    /// The members of the list; nil before they are needed.
    private var members: EditedMembers?
    /// Whether the members have changed since they were decoded.
    private var isChanged = false

    init(_ value: [UInt8]?) { encoded = value }

    /// The number of passes over the list so far.
    var passes: Int { members?.passes ?? 0 }

    /// The encoded value.
    var value: [UInt8]? {
        guard isChanged, let members else { return encoded }
        return members.targets.referenceValue
    }

    /// Replaces the value.
    mutating func set(_ value: [UInt8]?) { self = EditedValue(value) }

    /// Returns whether the value is a list with a member.
    mutating func contains(_ target: [UInt8]) -> Bool { decode { $0.contains(target) } }

    /// Adds the member of an edit, or removes it.
    mutating func apply(_ edit: StoredOperation.ListEdit, isUndone: Bool) {
        let isEmpty = decode { list in
            if edit.isInsertion == isUndone {
                list.remove(edit.target)
            } else {
                list.insert(edit.target, at: edit.isInsertion ? .max : Int(edit.position))
            }
            return list.targets.isEmpty
        }
        isChanged = true
        guard isUndone, isEmpty else { return }
        switch edit.empty {
        case .list: break
        case .absent: set(nil)
        case .null: set([ValueTag.null])
        }
    }

    /// Gives an edit the form of the list, if that is empty, and the position of its member.
    mutating func place(_ edit: inout StoredOperation.ListEdit) {
        edit.empty = isChanged ? .list : StoredOperation.ListEdit.Empty(encoded)
        edit.position = decode { $0.index(of: edit.target) }.map { UInt32(clamping: $0) } ?? .max
    }

    private mutating func decode<Result>(_ body: (inout EditedMembers) -> Result) -> Result {
        var list = members ?? EditedMembers(targets: (encoded ?? []).referenceList)
        // There is one copy at a time, so that a change does not copy the list.
        members = nil
        defer { members = list }
        return body(&list)
    }
}

/// The members of a list that many edits change.
private struct EditedMembers {
    private(set) var targets: [[UInt8]]
    /// The number of positions of each member; nil as long as few were looked for.
    private var counts: [[UInt8]: Int]?
    private var searches = 0
    /// The number of passes over the list so far, with the one that decoded it.
    private(set) var passes = 1

    init(targets: [[UInt8]]) { self.targets = targets }

    mutating func contains(_ target: [UInt8]) -> Bool {
        if let counts { return counts[target] != nil }
        passes += 1
        searches += 1
        // Counting is slower than a search.
        guard searches > 8 else { return targets.contains(target) }
        let counted = Dictionary(targets.map { ($0, 1) }, uniquingKeysWith: +)
        counts = counted
        return counted[target] != nil
    }

    /// The first position of a member.
    mutating func index(of target: [UInt8]) -> Int? {
        guard contains(target) else { return nil }
        // Operations are undone from the last one: what they have added is near the end.
        if counts?[target] == 1 { return targets.lastIndex(of: target) }
        passes += 1
        return targets.firstIndex(of: target)
    }

    /// Inserts a member at a position, or at the end if that is before it, unless it is there.
    mutating func insert(_ target: [UInt8], at position: Int) {
        guard !contains(target) else { return }
        targets.insert(target, at: min(position, targets.count))
        counts?[target] = 1
    }

    /// Removes the first position of a member.
    mutating func remove(_ target: [UInt8]) {
        guard let index = index(of: target) else { return }
        targets.remove(at: index)
        if let count = counts?[target] { counts?[target] = count > 1 ? count - 1 : nil }
    }
}

extension StoredOperation {
    /// Changes the value of a field after the operation to that before it.
    func undo(_ value: inout EditedValue, _ place: RecordFieldPlace, _ own: ListedRecord) {
        for edit in edits.reversed() where edit.isOf(place, own) && edit.hasEffect {
            value.apply(edit, isUndone: true)
        }
        if let change = changes.first(where: { $0.isOf(place, own) }) { value.set(change.before) }
    }

    /// Changes the value of a field before the operation to that after it, and makes the changes of
    /// the operation continue from the former.
    mutating func replay(_ value: inout EditedValue, _ place: RecordFieldPlace, _ own: ListedRecord) {
        if let index = changes.firstIndex(where: { $0.isOf(place, own) }) {
            changes[index].before = value.value
            value.set(changes[index].after)
        }
        // A deletion takes a member out of a list only if it is there, and puts only that back.
        if kind == .delete {
            edits.removeAll { $0.isOf(place, own) && !$0.isInsertion && !value.contains($0.target) }
        }
        for index in edits.indices where edits[index].isOf(place, own) {
            value.place(&edits[index])
            if edits[index].hasEffect { value.apply(edits[index], isUndone: false) }
        }
    }
}

extension [StoredOperation] {
    /// Returns the value of a field before operations, from that after them. Nil is absent.
    func undone(_ value: [UInt8]?, _ place: RecordFieldPlace, _ catalog: Catalog) -> [UInt8]? {
        var edited = EditedValue(value)
        for operation in reversed() { operation.undo(&edited, place, operation.record(catalog)) }
        return edited.value
    }
}
