// Following the steps of a key path on a tape.

internal import TarnStore

extension Tape {
    /// The value that steps without a wildcard lead to. Nil if there is none; null and a scalar on the way lead nowhere.
    func value(at steps: ArraySlice<KeyPath.Step>, from index: Int) -> Int? {
        var index = index
        for step in steps {
            guard let next = value(at: step, in: index) else { return nil }
            index = next
        }
        return index
    }

    private func value(at step: KeyPath.Step, in index: Int) -> Int? {
        switch (step, kind(index)) {
        case (.key(let key), .object): value(of: key, in: index)
        case (.index(let number), .array): element(number, of: index)
        default: nil
        }
    }

    /// An element of an array, from the end if the number is negative.
    func element(_ number: Int, of array: Int) -> Int? {
        var left = number
        if number < 0 {
            forEachElement(array) { _ in left += 1 }
            // The count has been added: it is still negative if there are too few.
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

    /// Calls the closure with every value that steps lead to, nulls among them, in the order of the document.
    ///
    /// - Returns: whether the arrays that wildcards stand for were reached, empty ones too. True if there is no wildcard and a value.
    @discardableResult
    func forEach(at steps: ArraySlice<KeyPath.Step>, from index: Int, _ body: (Int) -> Void) -> Bool {
        guard let wildcard = steps.firstIndex(of: .each) else {
            guard let value = value(at: steps, from: index) else { return false }
            body(value)
            return true
        }
        guard let array = value(at: steps[..<wildcard], from: index), kind(array) == .array else { return false }
        forEachElement(array) { forEach(at: steps[(wildcard + 1)...], from: $0, body) }
        return true
    }
}
