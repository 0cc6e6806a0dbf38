// The servers to which the links of a list may lead.

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
