/// The tables that have the pages of a file, in equal parts of its range.
final class PageUseMap {
    /// The number of pages of each part; the last one may have fewer.
    let pagesPerCell: UInt64
    private var counts: [[String: UInt64]]

    /// Creates a map of the pages from 0 to the last one, in at most so many parts.
    init(pages last: UInt64, cells: Int) {
        let most = UInt64(clamping: max(1, cells)), total = last == .max ? last : last + 1
        pagesPerCell = max(1, (total / most) + (total % most == 0 ? 0 : 1))
        let count = cells == 0 ? 0 : total / pagesPerCell + (total % pagesPerCell == 0 ? 0 : 1)
        counts = Array(repeating: [:], count: Int(clamping: count))
    }

    /// Adds consecutive pages of an owner. Pages behind the range are left out: their numbers are
    /// damaged, and the scan has reported them.
    func add(_ first: UInt64, _ count: UInt64, _ owner: String) {
        var (page, left) = (first, count)
        while left > 0, let cell = Int(exactly: page / pagesPerCell), cell < counts.count {
            let here = min(left, pagesPerCell - page % pagesPerCell)
            counts[cell][owner, default: 0] += here
            page += here
            left -= here
        }
    }

    /// The owner of most pages of each part; nil for a part without pages of anybody.
    var owners: [String?] {
        counts.map { cell in cell.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
    }
}
