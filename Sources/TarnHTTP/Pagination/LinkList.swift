// Lists of links in a body: `links: [{ rel: next, href: … }]`, as in Atom and FHIR. Pure.

/// The links of a list around the records of a page.
package struct LinkList {
    /// A link of the list.
    struct Link {
        /// The relation in lower case; nil without one.
        var relation: String?
        var target: String?

        /// Whether the link has one of several relations. It may have more than one, with spaces
        /// between them (RFC 8288 §3.3).
        func isOne(of relations: [String]) -> Bool {
            relation?.split(whereSeparator: \.isWhitespace).contains { relations.contains(String($0)) } ?? false
        }
    }

    /// The names of the relation and of the target in a link.
    package static let relations = ["rel", "relation"], targets = ["href", "url", "uri"]
    /// The number of links of a list that are read at most.
    package static let linkLimit = 16
    /// The number of members of a page that are read at most.
    private static let memberLimit = 64

    private(set) var links: [Link] = []
    /// Whether the list may have links that were not read.
    private let isPartial: Bool

    /// Creates the list at a path; nil if no list of links was read there.
    init?(at path: String, _ facts: PageFacts) {
        var last = -1
        for index in 0..<LinkList.linkLimit {
            let element = "\(path)[\(index)]"
            func value(_ names: [String]) -> String? {
                names.lazy.compactMap { facts.values["\(element).\($0)"] }.first
            }
            let link = Link(relation: value(LinkList.relations)?.lowercased(), target: value(LinkList.targets))
            guard link.relation != nil || link.target != nil else { continue }
            links.append(link)
            last = index
        }
        guard links.contains(where: { $0.relation != nil }) else { return nil }
        isPartial =
            last == LinkList.linkLimit - 1 || facts.values.count >= LinkList.memberLimit
            || links.contains { $0.relation == nil }
    }

    /// Whether a link with a relation may be in the list, perhaps under a longer name: `nextPage`.
    func mayHave(_ relation: String) -> Bool {
        isPartial || links.contains { $0.relation?.contains(relation) ?? false }
    }

    /// Returns the target of the first link with one of several relations; nil without one.
    func target(_ relations: String...) -> String? {
        links.first { $0.isOne(of: relations) }?.target
    }

    /// Returns the path of the first list with a link to a next page; nil without one.
    static func path(ofNextIn facts: PageFacts) -> String? {
        facts.values.keys.sorted().lazy.compactMap { name -> String? in
            guard relations.contains(where: { name.hasSuffix("].\($0)") }), let start = name.lastIndex(of: "["),
                let target = LinkList(at: String(name[..<start]), facts)?.target("next"), !target.isEmpty
            else { return nil }
            return String(name[..<start])
        }.first
    }
}
