// Lists of other parents, which show whether keys are unique among all records.

import Tarn

/// A list that is requested for every record of an entity, at the URLs of some of these records.
package struct SiblingList: Sendable {
    /// The path of the list's source.
    package var path: String
    package var urls: [String]

    /// The maximum number of parents of a list.
    private static let parentLimit = 3
    /// The maximum number of lists.
    private static let limit = 10

    /// Returns the lists of sources whose parents are known from samples.
    static func lists(_ sources: [Source], base: String) -> [SiblingList] {
        Array(sources.compactMap { SiblingList($0, sources, base: base) }.prefix(limit))
    }

    private init?(_ source: Source, _ sources: [Source], base: String) {
        guard let parent = source.parent, parent.outer.isEmpty, source.partitions.isEmpty,
            let list = sources[parent.source].lists.first,
            !source.parameters.contains(where: { $0.value == "CHANGE_ME" })
        else { return nil }
        var values: [String] = []
        for sample in list.shape.samples.prefix(100) {
            if let value = sample[parent.field]?.scalarText, !value.isEmpty, !values.contains(value) {
                values.append(value)
            }
        }
        var segments = source.path.split(separator: "/").map(String.init)
        guard values.count > 1, segments.indices.contains(parent.segment) else { return nil }
        path = source.path
        urls = []
        for value in values.prefix(SiblingList.parentLimit) {
            segments[parent.segment] = PercentEncoding.encode(value)
            guard !segments.contains(where: { $0.contains("{") }) else { return nil }
            urls.append(
                QueryParameters.append(
                    source.parameters.filter { !source.path.contains("{\($0.name)}") }.map { ($0.name, $0.value) },
                    to: base + "/" + segments.joined(separator: "/")))
        }
    }
}

extension Sampler {
    /// Returns the records of lists by their paths: of each list, those of several parents.
    package func siblings(_ lists: [SiblingList]) async -> [String: [[JSONValue]]] {
        var found: [String: [[JSONValue]]] = [:]
        for list in lists {
            for url in list.urls {
                guard let page = try? await page(url), let place = ListFinder.lists(in: page.json).first else {
                    continue
                }
                found[list.path, default: []].append(ListFinder.objects(page.json, place))
            }
        }
        return found
    }
}
