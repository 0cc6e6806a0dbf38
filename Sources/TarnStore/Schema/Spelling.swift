// "Did you mean …?": names similar to an unknown one, for error texts.

/// Suggestions for unknown names.
package enum Spelling {
    /// Returns the message for an unknown name, with the nearest known one, else the known names.
    package static func unknown(_ kind: String, _ name: String, among known: [String]) -> String {
        let start = "unknown \(kind) \"\(name)\""
        if let nearest = nearest(to: name, among: known) { return "\(start): did you mean \"\(nearest)\"?" }
        guard !known.isEmpty else { return start }
        let shown = known.prefix(12).joined(separator: ", ")
        return "\(start): expected one of \(shown)\(known.count > 12 ? ", …" : "")"
    }

    /// Returns the first of the nearest known names, if it is near enough to be a typing error.
    package static func nearest(to name: String, among known: [String]) -> String? {
        let wanted = Array(name.lowercased().unicodeScalars)
        // The distance takes quadratic time; names longer than this are not typing errors.
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in known where candidate != name {
            let scalars = Array(candidate.lowercased().unicodeScalars)
            guard scalars.count <= 64 else { continue }
            let distance = distance(wanted, scalars)
            let allowed = (max(wanted.count, scalars.count) + 1) / 3
            // A distance of the whole length means that the names have nothing in common.
            if distance <= allowed, distance < max(wanted.count, scalars.count), distance < best?.distance ?? Int.max {
                best = (candidate, distance)
            }
        }
        if let best { return best.name }
        // A truncated name is many edits away from the whole one.
        return wanted.count < 3 ? nil : known.first { $0 != name && $0.lowercased().hasPrefix(name.lowercased()) }
    }

    /// Returns the optimal string alignment distance.
    ///
    /// Insertions, deletions, replacements, and exchanges of two neighbours cost one each.
    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var beforePrevious = [Int](repeating: 0, count: b.count + 1)
        var previous = Array(0...b.count)
        for i in 0..<a.count {
            var current = [i + 1]
            for j in 0..<b.count {
                var cost = min(previous[j + 1] + 1, current[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforePrevious[j - 1] + 1) }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[b.count]
    }
}
