// The list that the pages of an answer with several lists divide.

import Tarn

/// Of several lists of an answer, finds the one that has pages. Others may be side-loaded: records
/// to which its records refer, or the same ones on every page.
enum MainList {
    /// Returns the lists of a first page, the one that has pages first.
    ///
    /// It is the one that the path names, or else the one of the size of a page. Without such a
    /// list, and if the lists are not beside one another, the order stays.
    static func first(_ lists: [FoundList], _ page: Sample.Page) -> [FoundList] {
        guard lists.count > 1, let usual = lists.first, usual.isList,
            !ListFinder.wrappers.contains(usual.name.lowercased())
        else { return lists }
        let beside = lists.filter { $0.isList && $0.steps.dropLast() == usual.steps.dropLast() }
        let name = lastSegment(of: page.url)
        let size = StyleGuess.size(in: page.url)?.value
        func count(_ list: FoundList) -> Int { ListFinder.objects(page.json, list).count }
        let ofSize = beside.filter { size == nil ? isPageSize(count($0)) : count($0) == size }
        guard
            let main = beside.first(where: { plain($0.name) == name })
                ?? (ofSize.contains(usual) ? usual : ofSize.first)
        else { return lists }
        return [main] + lists.filter { $0 != main }
    }

    /// Returns the list whose records differ between the first two pages, if those of the usual
    /// one are the same on both.
    static func ofPages(_ pages: [Sample.Page], _ lists: [FoundList]) -> FoundList? {
        guard lists.count > 1, let usual = lists.first else { return nil }
        guard pages.count > 1, relation(usual, pages) == .same else { return usual }
        return lists.first { $0.isList && relation($0, pages) == .other } ?? usual
    }

    private static func relation(_ list: FoundList, _ pages: [Sample.Page]) -> PageRelation {
        let identities = pages.prefix(2).map { PageIdentities(ListFinder.objects($0.json, list)) }
        return identities[1].relation(to: identities[0])
    }

    /// Whether a number of records is a usual size of a full page.
    static func isPageSize(_ count: Int) -> Bool { count >= 10 && (count % 5 == 0 || count % 8 == 0) }

    /// Returns the last segment of a URL's path as a name; nil without one.
    static func lastSegment(of url: String) -> String? {
        let name = plain(URLReference(url).path.split(separator: "/").last.map(String.init) ?? "")
        return name.isEmpty ? nil : name
    }

    /// Returns a name without its extension, case and punctuation.
    static func plain(_ name: String) -> String {
        let stem = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
        return stem.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}
