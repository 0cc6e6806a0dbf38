// Numbers that a callback collects.

import Synchronization

final class Counts: Sendable {
    private let list = Mutex<[Int]>([])

    var values: [Int] { list.withLock { $0 } }
    func append(_ value: Int) { list.withLock { $0.append(value) } }
}
