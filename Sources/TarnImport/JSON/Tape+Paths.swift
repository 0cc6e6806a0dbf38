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

    /// Calls the closure with every value that steps lead to, including nulls, in document order.
    ///
    /// - Returns: whether the arrays at the wildcards were reached, even if empty. Without a
    ///   wildcard, whether there is a value.
    @discardableResult
    func forEach(at steps: ArraySlice<JSONPath.Step>, from index: Int, _ body: (Int) -> Void) -> Bool {
        guard let wildcard = steps.firstIndex(of: .each) else {
            guard let value = value(at: steps, from: index) else { return false }
            body(value)
            return true
        }
        guard let array = value(at: steps[..<wildcard], from: index), kind(array) == .array else { return false }
        forEachElement(array) { forEach(at: steps[(wildcard + 1)...], from: $0, body) }
        return true
    }

    /// Returns the paths of all values that a path leads to, by their places, as
    /// ``path(to:)`` does for one of them.
    ///
    /// - Complexity: linear in the size of the document, however many values there are.
    func paths(at path: JSONPath) -> [Int: String] {
        var paths: [Int: String] = [:]
        addPaths(at: path.steps[...], from: Tape.root, parser.origin.path, to: &paths)
        return paths
    }

    private func addPaths(
        at steps: ArraySlice<JSONPath.Step>, from start: Int, _ prefix: String, to paths: inout [Int: String]
    ) {
        let wildcard = steps.firstIndex(of: .each) ?? steps.endIndex
        guard let value = value(at: steps[..<wildcard], from: start) else { return }
        let path = self.path(to: value, from: start, prefix)
        guard wildcard < steps.endIndex else {
            paths[value] = path
            return
        }
        guard kind(value) == .array else { return }
        var position = 0
        forEachElement(value) { element in
            addPaths(at: steps[(wildcard + 1)...], from: element, "\(path)[\(position)]", to: &paths)
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
        guard kind(index) == .array else {
            if kind(index) != .null { missing = missing ?? (index, .each) }
            return false
        }
        var hasLed = isEmpty(index)
        forEachElement(index) { element in
            let isLeading = leads(steps[(wildcard + 1)...], from: element, &missing)
            hasLed = hasLed || isLeading
        }
        return hasLed
    }
}
