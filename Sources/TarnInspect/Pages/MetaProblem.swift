/// The reason why a page is not a valid meta page.
struct MetaProblem: Error, Hashable {
    var number: Int
    var detail: String
}

extension MetaProblem {
    /// Creates the problem of a meta page that declares a wrong page size.
    init(number: Int, saying wrong: Int, with size: Int) {
        self.init(number: number, detail: "it says that pages have \(wrong) bytes, and they have \(size)")
    }
}
