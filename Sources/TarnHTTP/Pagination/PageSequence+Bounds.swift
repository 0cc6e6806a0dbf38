// The servers to which the links of a list may lead, and the limits of a scan.

extension PageSequence {
    /// The servers to which links may lead, and the limits of a scan.
    package struct Bounds: Sendable, Hashable {
        /// The base URL of the API.
        package var base: String
        /// Other base URLs that the API uses for itself in links.
        ///
        /// Such links are followed at `base`.
        package var aliases: [String]
        /// Base URLs of other servers to which links may lead.
        ///
        /// Requests to them carry no credentials.
        package var follows: [String]
        /// The maximum number of pages.
        package var pageLimit: Int
        /// The maximum number of records; nil for no limit.
        package var recordLimit: Int?
        /// The number of records of this part of the scan; nil for no limit.
        ///
        /// Another scan continues behind it: see ``PageSequence/positionBehindPart``.
        package var partLimit: Int?
        /// Whether the scan stops at a limit without an error.
        package var stopsAtLimit = false
        /// The query parameter that carries a key.
        ///
        /// Servers repeat it in links; it is removed from them.
        package var secretParameter: String?
        /// The treatment of evidence, on the last page, of more records than the scan has listed.
        package var more = PageEvidence.Rule.fail

        /// Creates bounds without a limit of records.
        package init(base: String, aliases: [String] = [], follows: [String] = [], pageLimit: Int = 10_000) {
            self.base = base
            self.aliases = aliases
            self.follows = follows
            self.pageLimit = pageLimit
        }
    }
}

extension PageSequence.Bounds {
    /// Returns the absolute URL of a reference.
    ///
    /// - Throws: `PaginationError.foreign` if it is neither at `base`, nor at the origin of `base`,
    ///   nor where links may lead.
    package func permitted(_ reference: String, relativeTo url: String) throws(PaginationError) -> String {
        guard reference.utf8.count <= PageSequence.linkLimit else {
            throw .malformed(link: reference.excerpt, reason: PageSequence.tooLong)
        }
        var link: HTTPURL
        let home: HTTPURL
        do throws(HTTPURLError) {
            link = try HTTPURL(url).resolving(reference)
            home = try HTTPURL(base)
        } catch {
            throw .malformed(link: reference, reason: error.reason)
        }
        if let name = secretParameter { link = link.removing(parameter: name) }
        if let moved = HTTPURL.rebase(link: link.description, from: [base] + aliases, onto: base) {
            return moved
        }
        if link.hasSameOrigin(as: home) { return link.description }
        for other in follows where HTTPURL.rebase(link: link.description, from: [other], onto: other) != nil {
            return link.description
        }
        throw .foreign(link: link.description, allowed: [base] + aliases + follows)
    }
}
