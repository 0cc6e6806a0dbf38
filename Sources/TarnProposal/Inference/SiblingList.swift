// Lists of other parents, which show whether keys are unique among all records, and the style of
// pagination if the first list is short.

import Tarn

/// A list that is requested for every record of an entity, at the URLs of some of these records.
package struct SiblingList: Sendable {
    /// The path of the list's source.
    package var path: String
    package var urls: [String]
    /// Whether the records show if a key is unique.
    var isKeyInDoubt = true
    /// Whether the first list does not show the style of pagination.
    var hasUnknownStyle = false

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
    /// Returns the records of lists by their paths: of each list, those of several parents. If the
    /// style of pagination is unknown, the longest of them is looked at.
    package func siblings(_ lists: [SiblingList]) async -> SiblingAnswers {
        var found = SiblingAnswers()
        for list in lists {
            var longest: (url: String, count: Int)?
            for url in list.urls {
                guard let page = try? await page(url), let place = ListFinder.lists(in: page.json).first else {
                    continue
                }
                let objects = ListFinder.objects(page.json, place)
                if objects.count > longest?.count ?? 0 { longest = (url, objects.count) }
                if list.isKeyInDoubt { found.records[list.path, default: []].append(objects) }
            }
            guard list.hasUnknownStyle, let longest else { continue }
            found.styles[list.path] = await style(ofOneOf: longest.url)
        }
        return found
    }

    /// Returns the style of a list of which others are like it; nil if its pages do not show one.
    private func style(ofOneOf url: String) async -> SampledStyle? {
        var sampler = self
        sampler.options.looksAtDetails = false
        guard let style = try? await sampler.sample(url, isOneOfMany: true).style else { return nil }
        return style.text != "single_page" || style.unreached != nil || style.doubt != nil ? style : nil
    }
}
