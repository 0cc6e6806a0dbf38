// The answer at the root of an API that names its lists by URL.

import Tarn

/// Recognizes indexes of lists: `{"people": "https://…/people/", "films": "https://…/films/"}`.
enum ListIndex {
    /// The most URLs of an index.
    private static let limit = 100

    /// Returns the URLs that the only object of a sample consists of; none if it has anything else.
    ///
    /// Each URL is below the URL of the index, on the same server, and no template.
    static func links(in sample: Sample) -> [String] {
        guard sample.pages.count == 1, let home = try? HTTPURL(sample.pages[0].url),
            case .object(let members) = sample.pages[0].json, (2...limit).contains(members.count)
        else { return [] }
        let folder = home.path.hasSuffix("/") ? home.path : home.path + "/"
        var links: [String] = []
        for member in members {
            guard case .string(let text) = member.value, text.hasPrefix("/") || text.hasPrefix("http"),
                !text.contains("{"), let url = try? home.resolving(text), url.hasSameOrigin(as: home),
                url.path.hasPrefix(folder), url.path.utf8.count > folder.utf8.count
            else { return [] }
            links.append(url.description)
        }
        return Set(links).count == links.count ? links : []
    }
}
