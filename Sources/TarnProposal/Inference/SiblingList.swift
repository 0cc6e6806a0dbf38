// Lists of other parents, which show whether keys are unique among all records, and the style of
// pagination if the first list is short, and the records if it has none.

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
    /// The answer of the first parent, if it has an empty list and nothing else; nil otherwise.
    private(set) var emptyAnswer: Sample.Page?

    /// The maximum number of parents whose lists are compared.
    fileprivate static let parentLimit = 3
    /// The maximum number of parents, if the first one has an empty list.
    private static let searchLimit = 10
    /// The maximum number of lists.
    private static let limit = 10

    /// Returns the lists of sources whose parents are known from samples.
    ///
    /// - Parameters:
    ///   - unlisted: the sources of samples without a record.
    ///   - mayBeEmpty: whether the lists of sources are known from samples only.
    static func lists(
        _ sources: [Source], unlisted: [Source], base: String, mayBeEmpty: Bool
    ) -> [SiblingList] {
        Array(
            (sources + unlisted).compactMap { SiblingList($0, sources, base: base, mayBeEmpty: mayBeEmpty) }
                .prefix(limit))
    }

    private init?(_ source: Source, _ sources: [Source], base: String, mayBeEmpty: Bool) {
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
        if mayBeEmpty, let first = source.pages.first, !first.url.isEmpty,
            source.lists.allSatisfy({ !$0.found.isList }), ListFinder.emptyList(in: first.json) != nil
        {
            emptyAnswer = first
        }
        for value in values.prefix(emptyAnswer == nil ? SiblingList.parentLimit : SiblingList.searchLimit) {
            segments[parent.segment] = PercentEncoding.encode(value)
            guard !segments.contains(where: { $0.contains("{") }) else { return nil }
            urls.append(
                QueryParameters.append(
                    source.parameters.filter { !source.path.contains("{\($0.name)}") }.flatMap(\.pairs),
                    to: base + "/" + segments.joined(separator: "/")))
        }
    }
}

extension SiblingList {
    /// Returns the list in the answer of a parent: where the first one has an empty list, or the
    /// first list of the answer.
    fileprivate func place(in json: JSONValue) -> FoundList? {
        let found = ListFinder.lists(in: json)
        guard let emptyAnswer else { return found.first }
        return found.first { $0.isList && ListFinder.isEmpty($0, in: emptyAnswer.json) }
    }
}

extension Sampler {
    /// Returns the records of lists by their paths: of each list, those of several parents. If the
    /// style of pagination is unknown, or the first list is empty, the longest of them is looked
    /// at.
    package func siblings(_ lists: [SiblingList]) async -> SiblingAnswers {
        var found = SiblingAnswers()
        for list in lists {
            var longest: (url: String, count: Int)?, filled = 0
            for url in list.urls where filled < SiblingList.parentLimit {
                guard let page = try? await page(url), let place = list.place(in: page.json) else { continue }
                let objects = ListFinder.objects(page.json, place)
                if !objects.isEmpty { filled += 1 }
                if objects.count > longest?.count ?? 0 { longest = (url, objects.count) }
                if list.isKeyInDoubt { found.records[list.path, default: []].append(objects) }
            }
            guard let longest else { continue }
            if let empty = list.emptyAnswer {
                found.samples[empty.url] = await sample(longest.url, insteadOf: empty)
            } else if list.hasUnknownStyle {
                found.styles[list.path] = await style(ofOneOf: longest.url)
            }
        }
        return found
    }

    /// Returns the sample of a list of another parent, which stands for an empty one.
    private func sample(_ url: String, insteadOf empty: Sample.Page) async -> Sample? {
        var sampler = self
        sampler.options.looksAtDetails = false
        guard var sample = try? await sampler.sample(url, isOneOfMany: true) else { return nil }
        sample.notes.append("This list has no records: those of \(Redaction.url(sample.origin)) were looked at.")
        sample.origin = empty.url
        return sample
    }

    /// Returns the style of a list of which others are like it; nil if its pages do not show one.
    private func style(ofOneOf url: String) async -> SampledStyle? {
        var sampler = self
        sampler.options.looksAtDetails = false
        guard let style = try? await sampler.sample(url, isOneOfMany: true).style else { return nil }
        return style.text != "single_page" || style.unreached != nil || style.doubt != nil ? style : nil
    }
}
