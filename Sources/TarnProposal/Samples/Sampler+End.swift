// The end of lists that are longer than the pages that are looked at.

import Tarn

extension Sampler {
    /// A number behind the last page, or the last record, of most lists. Servers multiply it by the
    /// size of a page, some of them in 32 bits.
    private static let farNumber = 1_000_000

    /// Requests a number far after the last page, and writes `end: empty` if the answer has an
    /// empty list.
    ///
    /// Otherwise a page shorter than its size ends the list, even if the server only left out
    /// records that the user may not see.
    func confirmEmptyEnd(_ sample: inout Sample, _ lists: [FoundList]) async {
        guard options.pages > 1, sample.pages.count > 1, !sample.isComplete, sample.style.endsAtShortPage,
            let list = lists.first, let parameter = sample.style.parameters.first, sample.style.parameters.count == 1
        else { return }
        let request = PageRequest(url: sample.origin)
            .setting(.query(parameter), to: String(Sampler.farNumber), isNumber: true)
        guard let page = try? await page(request.url, like: lists), ListFinder.isEmpty(list, in: page.json) else {
            return
        }
        sample.style.endAtEmptyPage()
    }
}
