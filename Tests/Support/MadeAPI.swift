// A made API whose resources name one another by URL only: 20 kinds, lists of `{name, url}` that
// link to details, absolute and relative URLs mixed. Everything follows from the sizes.

/// The responses of the made API, and its description.
package struct MadeAPI: Sendable {
    /// The number of resources of each kind.
    package let size: Int
    /// The base URL in the responses and in the description.
    package static let base = "https://made.example/api/v2"
    /// The entities; their lists are at the names in kebab-case.
    package static let kinds = [
        "Ability", "Berry", "BerryFlavor", "Characteristic", "Condition", "Encounter", "Evolution", "Firmness",
        "Gender",
        "Generation", "Growth", "Habitat", "Item", "ItemPocket", "Location", "Machine", "Move", "Nature", "Region",
        "Species",
    ]
    /// The kinds of places, which share one entity and whose ids are equal.
    package static let places = ["town", "cave"]
    package static let pageSize = 20

    package init(size: Int) { self.size = size }

    /// The number of details.
    package var detailCount: Int { MadeAPI.kinds.count * size + 2 * MadeAPI.pageSize }
    /// The number of pages of all lists: those of the kinds, and that of the places.
    package var pageCount: Int { MadeAPI.kinds.count * pages + 2 }
    private var pages: Int { (size + MadeAPI.pageSize - 1) / MadeAPI.pageSize }

    /// The segment of a kind in URLs: `berry-flavor`.
    package static func segment(_ kind: String) -> String {
        kind.enumerated().map { $0 > 0 && $1.isUppercase ? "-\($1.lowercased())" : $1.lowercased() }.joined()
    }

    // MARK: Description

    /// A description in which one template stands for all kinds.
    package static var yaml: String {
        let named = kinds.enumerated().map { number, kind in
            "{ \(kind): { next: \(kinds[(number + 1) % kinds.count]) } }"
        }
        return """
            store: made.tarn
            api:
              base: ${MADE_API:-\(base)}
              naming: { id: identifier }
            templates:
              Named:
                key: id
                url: /<name:kebab-case>/{id}/
                attributes: { id: { type: int, naming: none }, name: string, url: &url { type: url, transform: 'url(\(base)/)' }, weight: int }
                relationships:
                  next: <next>
                  others: { to: [<next>], ordered: true }
                  friends: { to: [<name>], ordered: true }
                  place: Place
            entities:
              <name>:
                each: [\(named.joined(separator: ", "))]
                like: Named
              Place:
                key: [kind, number]
                url: /place/{kind}/{number}
                attributes: { kind: string, number: int, name: string, url: *url, height: int }
                kinds: { Town: { kind: town }, Cave: { kind: cave } }
              Town: { parent: Place, attributes: { people: int } }
              Cave: { parent: Place, attributes: { depth: int } }
            endpoints:
              <name:kebab-case>:
                each: { like: Named }
                path: /<name:kebab-case>/
                records: results
                entity: <name>
                paginate: json_link
                children:
                  <name:kebab-case>-details: { url: '{url}', paginate: single_page }
              places:
                path: /place/
                records: results
                entity: Place
                paginate: json_link
                children:
                  place-details: { url: '{url}', paginate: single_page }
            """
    }

    // MARK: Responses

    /// The response to a request: 304 if the client has it.
    package func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        guard let body = body(request.target) else {
            return .init(status: "404 Not Found", body: #"{"detail":"not found"}"#)
        }
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in body.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return .tagged(String(digest, radix: 16), request, body, "Content-Type: application/json")
    }

    /// The body at a path with its query; nil if there is none.
    package func body(_ target: String) -> String? {
        let parts = target.split(separator: "?", maxSplits: 1)
        let path = parts[0].split(separator: "/").map(String.init)
        let offset = parts.count == 2 ? Int(parts[1].split(separator: "=").last ?? "") ?? 0 : 0
        guard path.count >= 3, path[0] == "api", path[1] == "v2" else { return nil }
        if path[2] == "place" {
            switch path.count {
            case 3: return page("/place/", offset, 2 * MadeAPI.pageSize) { place($0) }
            case 5: return Int(path[4]).flatMap { placeDetail(path[3], $0) }
            default: return nil
            }
        }
        guard let kind = MadeAPI.kinds.first(where: { MadeAPI.segment($0) == path[2] }) else { return nil }
        switch path.count {
        case 3: return page("/\(path[2])/", offset, size) { (kind + " \($0 + 1)", MadeAPI.path(kind, $0 + 1)) }
        case 4: return Int(path[3]).flatMap { (1...size).contains($0) ? detail(kind, $0) : nil }
        default: return nil
        }
    }

    private static func path(_ kind: String, _ number: Int) -> String { "/\(segment(kind))/\(number)/" }

    /// A URL in one of four forms: objects have the first two, which the description makes equal.
    private static func url(_ path: String, _ form: Int) -> String {
        switch form % 4 {
        case 0: base + path
        case 1: "/api/v2" + path
        case 2: "https://MADE.example:443/api/v2" + (path.hasSuffix("/") ? String(path.dropLast()) : path)
        default: base + path + "?format=json#top"
        }
    }

    private func page(_ path: String, _ offset: Int, _ count: Int, _ item: (Int) -> (name: String, path: String))
        -> String
    {
        let end = min(count, offset + MadeAPI.pageSize)
        let next = end < count ? "\"\(MadeAPI.base)\(path)?offset=\(end)\"" : "null"
        let items = (offset..<max(offset, end)).map { index in
            let (name, path) = item(index)
            return #"{"name":"\#(name)","url":"\#(MadeAPI.url(path, index % 2))"}"#
        }
        return #"{"count":\#(count),"next":\#(next),"results":[\#(items.joined(separator: ","))]}"#
    }

    private func detail(_ kind: String, _ number: Int) -> String {
        let kinds = MadeAPI.kinds, index = kinds.firstIndex(of: kind) ?? 0
        let next = kinds[(index + 1) % kinds.count], target = (number * 7) % size + 1
        let others = (0..<3).map { "\"\(MadeAPI.url(MadeAPI.path(next, (target + $0) % size + 1), $0 + number))\"" }
        let friends = (1...2).map { step in
            let friend = (number + step * 5) % size + 1
            return #"{"name":"\#(kind) \#(friend)","url":"\#(MadeAPI.url(MadeAPI.path(kind, friend), step % 2))"}"#
        }
        return
            #"{"url":"\#(MadeAPI.base)\#(MadeAPI.path(kind, number))","name":"\#(kind) \#(number)","weight":\#(number * 3),"#
            + #""next":{"name":"\#(next) \#(target)","url":"\#(MadeAPI.url(MadeAPI.path(next, target), number % 2))"},"#
            + #""others":[\#(others.joined(separator: ","))],"friends":[\#(friends.joined(separator: ","))],"#
            + #""place":"\#(MadeAPI.url(place(number % (2 * MadeAPI.pageSize)).path, number))"}"#
    }

    private func place(_ index: Int) -> (name: String, path: String) {
        let kind = MadeAPI.places[index % 2], number = index / 2 + 1
        return ("\(kind) \(number)", "/place/\(kind)/\(number)")
    }

    private func placeDetail(_ kind: String, _ number: Int) -> String? {
        guard MadeAPI.places.contains(kind), (1...MadeAPI.pageSize).contains(number) else { return nil }
        let own = kind == "town" ? #""people":\#(number * 1000)"# : #""depth":\#(number * 10)"#
        return #"{"url":"/api/v2/place/\#(kind)/\#(number)","name":"\#(kind) \#(number)","height":\#(number),\#(own)}"#
    }
}
