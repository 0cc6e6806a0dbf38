import Tarn

extension DescriptionError {
    /// Creates an error without the problems that the instances of one template repeat: of those
    /// with the same place and the same message, the first one stays.
    init(distinct problems: [Problem]) {
        struct Place: Hashable {
            var file: String
            var line: Int, column: Int?
            var message: String
        }
        var seen: Set<Place> = []
        self.init(
            problems.filter { problem in
                guard let line = problem.line else { return true }
                let place = Place(file: problem.file, line: line, column: problem.column, message: problem.message)
                return seen.insert(place).inserted
            })
    }
}
