/// Why a page is no meta page.
struct MetaProblem: Error, Hashable {
    var number: Int
    var detail: String
}

extension MetaProblem {
    /// It says that pages have a size that they have not.
    init(number: Int, saying wrong: Int, with size: Int) {
        self.init(number: number, detail: "it says that pages have \(wrong) bytes, and they have \(size)")
    }
}
