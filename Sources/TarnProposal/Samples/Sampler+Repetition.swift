// Pages that repeat the records of earlier ones.

extension Sampler {
    /// Whether no page has other records than the first one.
    ///
    /// - Parameter orEmpty: whether an empty page counts: a server may take any parameter for a
    ///   filter.
    static func isAlone(_ pages: [Sample.Page], _ lists: [FoundList], orEmpty: Bool) -> Bool {
        pages.dropFirst().allSatisfy { page in
            let relation = PageReader.relation(of: page, to: pages[0], like: lists)
            return relation == .same || relation == .reordered || orEmpty && relation == .empty
        }
    }

    /// Whether a page has the records of the page before; behind the first page, in any order.
    static func isRepeated(_ page: Sample.Page, behind sample: Sample, _ lists: [FoundList]) -> Bool {
        let relation = PageReader.relation(of: page, to: sample.pages[sample.pages.count - 1], like: lists)
        return relation == .same || relation == .reordered && sample.pages.count == 1
    }

    /// Whether a page behind others is the first one again.
    static func isBeginning(_ page: Sample.Page, of sample: Sample, _ lists: [FoundList]) -> Bool {
        sample.pages.count > 1 && PageReader.relation(of: page, to: sample.pages[0], like: lists) == .same
    }
}
