// The end of lists: pages behind the last one that are empty, lack the list, or are refused.

import Tarn

extension Sampler {
    /// A number behind the last page, or the last record, of most lists. Servers multiply it by the
    /// size of a page, some of them in 32 bits.
    private static let farNumber = 1_000_000

    /// Requests a number far after the last page of a list that is longer than the pages that were
    /// looked at, and notes how the list ends there.
    ///
    /// If the answer has no records, the style gets `end: empty`: otherwise a page shorter than its
    /// size ends the list, even if the server only left out records that the user may not see.
    func confirmEnd(_ sample: inout Sample, _ lists: [FoundList]) async {
        guard options.pages > 1, sample.pages.count > 1, !sample.isComplete, sample.endStatus == nil,
            sample.style.endsByPages, let list = lists.first, let parameter = sample.style.parameters.first,
            sample.style.parameters.count == 1
        else { return }
        let request = PageRequest(url: sample.origin)
            .setting(.query(parameter), to: String(Sampler.farNumber), isNumber: true)
        let page: Sample.Page
        do throws(SampleError) { page = try await self.page(request.url, like: lists) } catch {
            if case .status(let code, _, _) = error { noteRefusal(code, &sample) }
            return
        }
        let found = PageReader.lists(page, like: lists)
        guard Sampler.statedError(page, found, isFirst: false) == nil else { return }
        guard found.allSatisfy({ ListFinder.objects(page.json, $0).isEmpty }) else {
            return await noteRepetition(of: page, by: parameter, &sample, lists)
        }
        if ListFinder.isEmpty(list, in: page.json) || EndPage.lacks(list, page) {
            sample.endPage = page
            sample.style.endAtEmptyPage()
        }
    }

    /// Notes that the server answers with its last page to all larger numbers, if it does so to two
    /// numbers far behind.
    private func noteRepetition(
        of page: Sample.Page, by parameter: String, _ sample: inout Sample, _ lists: [FoundList]
    ) async {
        let request = PageRequest(url: sample.origin)
            .setting(.query(parameter), to: String(Sampler.farNumber + 1), isNumber: true)
        // The first page is that of a number that the server does not understand.
        guard PageReader.relation(of: page, to: sample.pages[0], like: lists) == .other,
            let next = try? await self.page(request.url, like: lists),
            PageReader.relation(of: next, to: page, like: lists) == .same
        else { return }
        sample.style.endAtRepeatedPage()
        // A page that is shorter than the first one is the last one.
        let count = PageReader.identities(page, like: lists).count
        guard count >= PageReader.identities(sample.pages[0], like: lists).count else { return }
        sample.gaps.append(
            "the server answers with one page to all numbers far behind: the list ends at it. If the server has a limit there, and more records, remove `end: repeated`, and see `restart`."
        )
    }

    /// Notes the status of a page far behind the last one as that of every page there.
    private func noteRefusal(_ status: Int, _ sample: inout Sample) {
        let isMissing = Sampler.missing.contains(status), isInvalid = Sampler.invalid.contains(status)
        // A number of pages in a header field ends the list before.
        let isCounted = sample.pages[0].headers.fields.contains { $0.name.lowercased().contains("total") }
        guard isMissing || isInvalid && !isCounted, sample.refusal == nil || sample.refusal == status else { return }
        sample.endStatus = status
        guard isInvalid else { return }
        // The page behind a full one, which is the last one now.
        sample.notes.removeAll { $0 == sample.refusalNote }
        sample.gaps.append(
            "the server refuses pages far behind with status \(status): the list ends at such an answer. If the server has a limit there, and more records, remove the rule under `responses`, and see `restart`."
        )
    }
}

/// A page behind the last one of a list.
enum EndPage {
    /// Whether a page has null, or nothing, in place of a list.
    static func lacks(_ list: FoundList, _ page: Sample.Page) -> Bool {
        list.isList && !ListFinder.hasList(page.json, list)
    }

    /// Returns why a page behind the last one need not show the end of a list: a server that is
    /// busy may answer in the same way. Nil if null, or nothing at all, is in the list's place.
    ///
    /// - Parameter text: the text by which the page is recognized; nil if it has none.
    static func gap(_ page: Sample.Page, _ lists: [FoundList], text: String?) -> String? {
        let reasons = "for another reason, such as too many requests"
        if let text {
            return
                "a page behind the last one has no list, but `\(YAMLText.comment(text))`: this is taken for the end. If the server answers so \(reasons), remove the rule under `responses`."
        }
        guard case .object(let members) = page.json, !members.isEmpty,
            lists.contains(where: { lacks($0, page) && ListFinder.value(of: $0, in: page.json) == nil })
        else { return nil }
        let keys = members.prefix(4).map { "`\(YAMLText.comment($0.key, limit: 40))`" }.joined(separator: ", ")
        return
            "a page behind the last one has no list, only \(keys): this is taken for an empty list. If the server answers so \(reasons), remove `optional: true`."
    }

    /// The maximum size of a text that a rule names.
    private static let textLimit = 100

    /// Returns the text by which a page without a list is recognized: the message of
    /// `{"message": "no more items"}`, as the body has it; nil if it has none, or if other pages
    /// have it, too.
    ///
    /// - Parameter others: the pages with records.
    static func text(of page: Sample.Page, unlike others: [Sample.Page]) -> String? {
        guard case .object(let members) = page.json, let body = String(validating: page.body, as: UTF8.self) else {
            return nil
        }
        for member in members {
            // A text with a number may be that of this page only.
            guard case .string(let text) = member.value, !text.isEmpty, !text.contains(where: \.isNumber) else {
                continue
            }
            let key = JSONValue.string(member.key).text, value = member.value.text
            let found = ["\(key):\(value)", "\(key): \(value)"].first { body.contains($0) }
            guard let found, found.utf8.count <= textLimit,
                !others.contains(where: { String(decoding: $0.body, as: UTF8.self).contains(found) })
            else { continue }
            return found
        }
        return nil
    }
}
