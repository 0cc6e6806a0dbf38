// The sample of a file: one answer, without its URL and its header fields.

import Tarn

extension Sampler {
    /// Reads a file of JSON.
    static func sample(file path: String) throws(SampleError) -> Sample {
        let body = try contents(ofFile: path)
        let page = ColumnSearch.page(Sample.Page(url: "", body: body, json: try parse(body, name: path)))
        let lists = page.lists
        guard !lists.isEmpty else { throw .noRecords(path) }
        var sample = Sample(origin: path, isURL: false, pages: [page])
        sample.gaps = gaps(page.json, lists, url: "")
        if lists.contains(where: \.isList) { readStyle(of: &sample, lists) }
        return sample
    }

    /// Chooses the style of pagination that the content of a file suggests. Nothing is requested.
    private static func readStyle(of sample: inout Sample, _ lists: [FoundList]) {
        let page = sample.pages[0], facts = PageReader.facts(page, lists)
        // Links are resolved against an address that no answer has.
        let request = PageRequest(url: "http://file.invalid/")
        guard let choice = Pagination.automatic.style.choice(at: request, facts) else { return }
        guard choice.pagination == .singlePage else {
            sample.isComplete = false
            sample.style = StyleGuess.completed(choice, url: request.url, recordCount: facts.recordCount)
            guard !sample.style.isLink, sample.style.doubt == nil else { return }
            sample.style.reason = "UNCERTAIN: \(choice.reason); the parameter is a guess"
            sample.style.doubt = StyleDoubt(
                remark:
                    "A file does not show how the next page is requested. Compare the parameter with the documentation of the API, or look at the server: `tarn init URL`.",
                styles: choice.pagination.style.isCounted
                    ? StyleGuess.likely(facts, lists).filter { $0.text != choice.style } : [])
            return
        }
        noteSign(&sample, lists, facts, request, PageSequence.Bounds(base: "http://file.invalid", pageLimit: 2))
        guard sample.style.unreached == nil else { return }
        sample.style.reason += ", and a file has no header fields, such as Link"
        sample.style.doubtRemaining(facts, lists)
        sample.style.doubtSign(page, facts, lists)
    }
}
