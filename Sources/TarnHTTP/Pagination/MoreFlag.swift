/// The boolean of a page by which a style tells whether another page follows.
struct MoreFlag: Sendable, Hashable {
    /// The path of the boolean in the body.
    var path: String
    /// Whether `true` marks the last page, as `isLast` does.
    var marksEnd: Bool

    init(_ path: String, marksEnd: Bool = false) {
        self.path = path
        self.marksEnd = marksEnd
    }

    /// The flag that a program declares, by one of two paths; nil without one.
    init?(hasMore: String?, isLast: String?) {
        guard let path = hasMore ?? isLast else { return nil }
        self.init(path, marksEnd: hasMore == nil)
    }

    /// The key under which a description declares it.
    var key: String { marksEnd ? "is_last" : "has_more" }

    /// Returns whether another page follows; nil if the value is no boolean.
    func value(_ facts: PageFacts) -> Bool? { facts.flag(path).map { $0 != marksEnd } }
}

extension MoreFlag {
    /// The evidence of a flag that promises a page.
    ///
    /// - Parameter lack: the reason why there is no request for the page.
    func promise(lacking lack: String) -> PageEvidence {
        PageEvidence(name: path, meaning: "is \(marksEnd ? "false" : "true"), and \(lack)")
    }
}

extension MoreFlag: CustomDebugStringConvertible {
    // The text of a style is stored with the progress of its scans. Before there was `is_last`, it
    // had the path alone.
    var debugDescription: String { (marksEnd ? "last " : "") + path.debugDescription }
}

extension PaginationValues {
    /// Returns the flag under `has_more` or `is_last`; nil without one.
    ///
    /// - Throws: `PaginationProblem` if both are declared, or if the name of the boolean tells that
    ///   it has the opposite meaning: the scan would end at its first page.
    func moreFlag() throws(PaginationProblem) -> MoreFlag? {
        if let path = text("is_last") {
            guard text("has_more") == nil else {
                throw PaginationProblem("is_last", "one flag ends the scan: write has_more or is_last")
            }
            guard !PageEvidence.isMore(path) else {
                throw PaginationProblem("is_last", "`\(path)` is false on the last page: write has_more: \(path)")
            }
            return MoreFlag(path, marksEnd: true)
        }
        guard let path = text("has_more") else { return nil }
        guard !PageEvidence.isEnd(path) else {
            throw PaginationProblem("has_more", "`\(path)` is true on the last page: write is_last: \(path)")
        }
        return MoreFlag(path)
    }
}
