// Signs of other pages that name no style: links, flags and texts beside a list.

import Tarn

/// A sign of other pages that an answer has beside its list.
struct PageSign: Equatable {
    /// The location of the sign.
    var path: String
    /// The meaning of the sign, as it follows the path: `is another URL of this list`.
    var meaning: String

    private static let depthLimit = 3
    private static let memberLimit = 100
    /// Links of a first page that lead to no further one.
    private static let knownLinks: Set = ["self", "first", "last", "current", "canonical", "alternate"]
    private static let endWords: Set = ["done", "finished", "complete", "completed", "exhausted", "eof"]

    /// The sign and its location in words.
    var description: String { "`\(YAMLText.comment(path, limit: 60))` \(meaning)" }

    /// Returns the first sign beside the lists of an answer; nil without one.
    ///
    /// - Parameter url: the URL of the answer.
    static func find(in json: JSONValue, url: String) -> PageSign? { find(json, [], url) }

    private static func find(_ json: JSONValue, _ keys: [String], _ url: String) -> PageSign? {
        guard case .object(let members) = json, keys.count < depthLimit else { return nil }
        for member in members.prefix(memberLimit) {
            let path = JSONPath(keys: keys + [member.key]).description
            if let meaning = meaning(of: member, url) { return PageSign(path: path, meaning: meaning) }
            if let found = find(member.value, keys + [member.key], url) { return found }
        }
        return nil
    }

    private static func meaning(of member: JSONValue.Member, _ url: String) -> String? {
        switch member.value {
        case .array(let elements): return isNextLink(member.key, elements) ? "has a link to a next page" : nil
        case .bool(false):
            return endWords.contains(EnglishName.words(of: member.key).last ?? "") ? "is false" : nil
        case .string(let text):
            if let count = pages(in: text) { return "states \(count) pages" }
            let isKnown = EnglishName.words(of: member.key).contains(where: knownLinks.contains)
            return !isKnown && isOtherPage(text, url) ? "is another URL of this list" : nil
        default: return nil
        }
    }

    /// The names of lists of links.
    static let linkLists: Set = ["link", "links", "_links"]

    /// Whether a list has a link with the relation `next`, as in Atom and FHIR.
    static func isNextLink(_ name: String, _ elements: [JSONValue]) -> Bool {
        linkLists.contains(name.lowercased())
            && elements.prefix(LinkList.linkLimit).contains { link in
                func text(_ names: [String]) -> String { names.lazy.compactMap { link[$0]?.scalarText }.first ?? "" }
                let relations = text(LinkList.relations).lowercased().split(whereSeparator: \.isWhitespace)
                return relations.contains("next") && !text(LinkList.targets).isEmpty
            }
    }

    /// Whether a text is a URL with the path of the answer, and with another query.
    private static func isOtherPage(_ text: String, _ url: String) -> Bool {
        guard text.hasPrefix("http") || text.hasPrefix("/") || text.hasPrefix("?"), let home = try? HTTPURL(url),
            let target = try? home.resolving(text), target.path == home.path
        else { return false }
        let known = QueryParameters.values(in: url), other = QueryParameters.values(in: target.description)
        return !other.isEmpty && !other.allSatisfy { pair in known.contains { $0 == pair } }
    }

    /// Returns the number of pages in a text such as `page 1 of 5`; nil without one.
    private static func pages(in text: String) -> Int? {
        let words = text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map(String.init)
        guard words.count <= 8, let place = words.firstIndex(of: "of"), place > 0, words.contains("page"),
            words.indices.contains(place + 1), let page = Int(words[place - 1]), let count = Int(words[place + 1])
        else { return nil }
        return page < count ? count : nil
    }
}

extension SampledStyle {
    /// Notes a sign of other pages beside the list, and that no style was found.
    mutating func doubtSign(_ first: Sample.Page, _ facts: PageFacts, _ lists: [FoundList]) {
        guard facts.recordCount > 0, doubt == nil, unreached == nil,
            let sign = PageSign.find(in: first.json, url: first.url)
        else { return }
        reason = "UNCERTAIN: the answer may speak of another page"
        doubt = StyleDoubt(
            remark: "\(sign.description): if more records follow, name the style of the API under `paginate`.",
            styles: StyleGuess.likely(facts, lists))
    }
}
