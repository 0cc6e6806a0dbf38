// The single records of a list: what their own URLs answer.

import Tarn

extension Sampler {
    /// Requests the first record by its own URL, and two others if that leaves types open.
    func lookAtDetail(_ sample: inout Sample, _ list: FoundList) async {
        let objects = ListFinder.objects(sample.pages[0].json, list)
        guard let first = objects.first, let page = await detail(of: first, sample) else { return }
        sample.detail = page
        // A first record often has no parent, and empty lists.
        guard options.pages > 1, Sampler.leavesTypesOpen(page.json, of: first) else { return }
        for object in [objects[objects.count - 1], objects[objects.count / 2]].prefix(objects.count - 1) {
            if object != first, let page = await detail(of: object, sample) { sample.furtherDetails.append(page) }
        }
    }

    /// Whether a single record is to be requested for each listed one, and has null or an empty
    /// list where the listed one has nothing.
    private static func leavesTypesOpen(_ record: JSONValue, of listed: JSONValue) -> Bool {
        let added = record.members.filter { listed[$0.key] == nil }
        guard Source.Detail.isWorthRequests(added: added.count, listed: listed.members.count) else { return false }
        return added.contains { member in
            switch member.value {
            case .null: true
            case .array(let elements): elements.isEmpty
            default: false
            }
        }
    }

    /// Requests a record by its own URL; nil if it has none, or the response is no object.
    private func detail(of object: JSONValue, _ sample: Sample) async -> Sample.Page? {
        guard let home = try? HTTPURL(sample.origin) else { return nil }
        let own = ["url", "self", "href", "uri", "@id"].lazy.compactMap { object[$0]?.scalarText }.first
        let linked =
            own ?? object.value(at: ["_links", "self", "href"])?.scalarText
            ?? object.value(at: ["links", "self"])?.scalarText
        var target: String?
        if let linked, let url = try? home.resolving(linked), url.path != home.path {
            let bases = [home.origin] + sample.aliases
            target = HTTPURL.rebase(link: url.description, from: bases, onto: home.origin)
        } else if let key = ["id", "uuid", "_id"].lazy.compactMap({ object[$0]?.scalarText }).first {
            let path = home.path.hasSuffix("/") ? String(home.path.dropLast()) : home.path
            target = home.origin + path + "/" + PercentEncoding.encode(key)
        }
        guard let target, let page = try? await page(target), page.json.isObject else { return nil }
        return page
    }
}
