import LMDBPages

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

    fileprivate init(number: Int, _ fault: MetaPage.Fault) {
        let detail =
            switch fault {
            case .foreign: "it does not begin as one of LMDB does"
            case .format(let format): "it is of data format \(format), and 1 can be read"
            case .notMarked: "it is not marked as one"
            case .pageSize(let size): "pages of \(size) bytes are not possible"
            }
        self.init(number: number, detail: detail)
    }
}

extension MetaPage {
    /// Decodes a meta page; a failure with the reason if it is not a valid one.
    static func read(_ number: Int, _ bytes: [UInt8]) -> Result<MetaPage, MetaProblem> {
        guard let page = bytes.withUnsafeBytes({ MetaPage($0, number: number) }) else {
            return .failure(MetaProblem(number: number, detail: "it is too short"))
        }
        if let fault = page.fault { return .failure(MetaProblem(number: number, fault)) }
        return .success(page)
    }
}
