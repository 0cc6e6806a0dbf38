extension ArraySlice {
    /// Inserts an element behind those of its priority, and before those of lower ones.
    mutating func insert<Priority: Comparable>(_ element: Element, byPriority priority: (Element) -> Priority) {
        let own = priority(element)
        let last = lastIndex { priority($0) >= own }
        insert(element, at: last.map { $0 + 1 } ?? startIndex)
    }
}
