// Evaluation of key paths on a tape.

extension Tape {
    /// Returns the value at steps without a wildcard; nil if there is none.
    ///
    /// Steps through null or a scalar lead to no value.
    func value(at steps: ArraySlice<JSONPath.Step>, from index: Int) -> Int? {
        var index = index
        for step in steps {
            guard let next = value(at: step, in: index) else { return nil }
            index = next
        }
        return index
    }

    private func value(at step: JSONPath.Step, in index: Int) -> Int? {
        switch (step, kind(index)) {
        case (.key(let key), .object): value(of: key, in: index)
        case (.index(let number), .array): element(number, of: index)
        default: nil
        }
    }

    /// Returns an element of an array; a negative number counts from the end.
    func element(_ number: Int, of array: Int) -> Int? {
        var left = number
        if number < 0 {
            forEachElement(array) { _ in left += 1 }
            // The count is added by now: a negative result means too few elements.
            guard left >= 0 else { return nil }
        }
        let end = end(array)
        var index = array + 1
        while index < end {
            if left == 0 { return index }
            left -= 1
            index = next(index)
        }
        return nil
    }

    /// Calls the closure with every value that steps lead to, including nulls, in document order,
    /// and with the place of the name of the last member that a wildcard covered; -1 for none.
    ///
    /// - Returns: whether the arrays and objects at the wildcards were reached, even if empty.
    ///   Without a wildcard, whether there is a value.
    @discardableResult
    func forEach(
        at steps: ArraySlice<JSONPath.Step>, from index: Int, name: Int = -1,
        _ body: (_ value: Int, _ name: Int) -> Void
    ) -> Bool {
        guard let wildcard = steps.firstIndex(of: .each) else {
            guard let value = value(at: steps, from: index) else { return false }
            body(value, name)
            return true
        }
        guard let container = value(at: steps[..<wildcard], from: index) else { return false }
        return forEachChild(container) { child, itsName in
            forEach(at: steps[(wildcard + 1)...], from: child, name: itsName < 0 ? name : itsName, body)
        }
    }

    /// The path of a value, as ``path(to:)`` returns it, and the place of the name of the last
    /// member that a wildcard covered; -1 for none.
    typealias Found = (path: String, name: Int)

    /// Returns all values that a path leads to, by their places.
    ///
    /// - Complexity: linear in the size of the document, however many values there are.
    func paths(at path: JSONPath) -> [Int: Found] {
        var paths: [Int: Found] = [:]
        addPaths(at: path.steps[...], from: Tape.root, (parser.origin.path, -1), to: &paths)
        return paths
    }

    private func addPaths(
        at steps: ArraySlice<JSONPath.Step>, from start: Int, _ prefix: Found, to paths: inout [Int: Found]
    ) {
        let wildcard = steps.firstIndex(of: .each) ?? steps.endIndex
        guard let value = value(at: steps[..<wildcard], from: start) else { return }
        let path = self.path(to: value, from: start, prefix.path)
        guard wildcard < steps.endIndex else {
            paths[value] = (path, prefix.name)
            return
        }
        var position = 0
        forEachChild(value) { child, name in
            let step = name < 0 ? "[\(position)]" : Tape.step(String(decoding: string(name), as: UTF8.self))
            let found = (path + step, name < 0 ? prefix.name : name)
            addPaths(at: steps[(wildcard + 1)...], from: child, found, to: &paths)
            position += 1
        }
    }

    /// Returns the first value that lacks a step of a path with wildcards, and that step.
    ///
    /// - Returns: nil if the path leads to a value, to an empty list, or to nulls only.
    func missingStep(of path: JSONPath) -> (place: Int, step: JSONPath.Step)? {
        var missing: (place: Int, step: JSONPath.Step)?
        return leads(path.steps[...], from: Tape.root, &missing) ? nil : missing
    }

    /// Returns whether steps lead to a value or to an empty list. Notes the first value that lacks
    /// a step.
    private func leads(
        _ steps: ArraySlice<JSONPath.Step>, from start: Int, _ missing: inout (place: Int, step: JSONPath.Step)?
    ) -> Bool {
        guard kind(start) != .null else { return false }
        let wildcard = steps.firstIndex(of: .each) ?? steps.endIndex
        var index = start
        for step in steps[..<wildcard] {
            guard let next = value(at: step, in: index) else {
                missing = missing ?? (index, step)
                return false
            }
            index = next
        }
        guard wildcard < steps.endIndex else { return true }
        guard kind(index) == .array || kind(index) == .object else {
            if kind(index) != .null { missing = missing ?? (index, .each) }
            return false
        }
        var hasLed = isEmpty(index)
        forEachChild(index) { child, _ in
            let isLeading = leads(steps[(wildcard + 1)...], from: child, &missing)
            hasLed = hasLed || isLeading
        }
        return hasLed
    }
}
