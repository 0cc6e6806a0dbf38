// Passing over leaves that have nothing to report: two threads read them ahead of the scan.
//
// A scan is in key order, on one thread, and looks at everything. Where a question wants few rows
// of many, most of its time goes into rows that it does not want. A filter therefore reads the
// leaves below each branch first, branch by branch, on the thread of the scan and on another one.
// The scan enters only the leaves that have a wanted row, or anything to report: what it returns is
// the same with a filter and without.

import Glibc
import LMDBPages
import Locking
import TarnStore

/// A question about the rows of leaves. For one thread.
protocol LeafQuestion {
    /// Prepares the question for the rows of a leaf.
    mutating func begin(_ leaf: Bytes)
    /// Returns whether a row is unwanted, and sound if `end` says so.
    ///
    /// Its bytes are valid until then.
    mutating func mayPass(_ key: Bytes, _ row: Bytes) -> Bool
    /// Returns whether the rows since `begin` are sound, of which each may pass.
    mutating func end() -> Bool
}

/// A filter of the leaves of one table. Must be stopped before its file is released.
///
/// `@unchecked`: two threads share the list of branches, which is constant, and `answers`, which is
/// behind a lock. Each of them has a question and a file of its own.
final class LeafFilter<Question: LeafQuestion>: @unchecked Sendable {
    /// A branch above leaves. All keys below it are at least `above` and less than `below`.
    private struct Branch {
        let number: UInt64
        let above, below: [UInt8]?
    }

    private enum Answer {
        case open, taken, ready([Int32?])
    }

    /// The state that both threads change.
    private struct Shared {
        var answers: [Answer]
        /// The first branch that no thread has taken.
        var next = 0
        /// The number of branches that the scan has used.
        var used = 0
        var isStopped = false
    }

    /// The most branches that are read ahead of the scan.
    private static var ahead: Int { 64 }

    private let branches: [Branch]
    private let positions: [UInt64: Int]
    private let lock = Lock()
    private var shared: Shared
    private var own: LeafReader<Question>
    private var thread: SecondThread?

    /// Creates a filter, and starts its thread; nil for a table of few leaves.
    ///
    /// - Parameters:
    ///   - isParallel: Whether a second thread takes part.
    ///   - question: A closure that makes a question about rows that a file decodes.
    init?(
        _ file: StoreFile, _ record: TableRecord, inParallel isParallel: Bool = true,
        question: (StoreFile) -> Question
    ) {
        guard record.flags == 0, record.depth > 1, record.depth <= PageLayout.deepest, let root = record.root else {
            return nil
        }
        var branches: [Branch] = [], positions: [UInt64: Int] = [:]
        func find(_ number: UInt64, _ level: Int, _ above: [UInt8]?, _ below: [UInt8]?) -> Bool {
            if level + 1 == record.depth {
                guard positions.updateValue(branches.count, forKey: number) == nil else { return false }
                branches.append(Branch(number: number, above: above, below: below))
                return true
            }
            guard number >= PageLayout.metaPages, number <= file.snapshot.meta.lastPage,
                let page = file.snapshot.file.page(number), branches.count <= Int(clamping: file.snapshot.meta.lastPage)
            else { return false }
            return page.withView { page in
                // Each branch leads to one above leaves at least, and no two to the same one: the
                // search ends.
                guard page.kind == .branch, page.number == number, page.count > 0 else { return false }
                return (0..<page.count).allSatisfy { index in
                    guard let child = page.child(index), let key = page.key(index) else { return false }
                    let next = index + 1 < page.count ? page.key(index + 1).map { Array($0) } : below
                    return find(child, level + 1, index == 0 ? above : Array(key), next)
                }
            }
        }
        // A tree that is damaged here is scanned leaf by leaf.
        guard find(root, 1, nil, nil) else { return nil }
        self.branches = branches
        self.positions = positions
        shared = Shared(answers: Array(repeating: .open, count: branches.count))
        own = LeafReader(file.snapshot, question(file))
        guard isParallel, branches.count > 1 else { return }
        let other = file.reopened(progress: nil)
        nonisolated(unsafe) var reader = LeafReader(other.snapshot, question(other))
        // Before the scan, it would wait for what the scan uses.
        thread = SecondThread(isNeeded: false) { [unowned self] in
            withExtendedLifetime(other) {
                while self.work(with: &reader) {}
            }
        }
    }

    /// Returns for each leaf below a branch how many entries it has, if the scan may pass over it.
    func answer(for branch: UInt64) -> [Int32?] {
        guard let position = positions[branch] else { return [] }
        while true {
            lock.lock()
            if case .ready(let answer) = shared.answers[position] {
                shared.answers[position] = .ready([])
                shared.used = max(shared.used, position + 1)
                lock.unlock()
                return answer
            }
            lock.unlock()
            // The other thread has this branch: the next ones are read meanwhile.
            if !takeOne(with: &own, upTo: position) { sched_yield() }
        }
    }

    /// Ends the thread. Must be called before the filter is released.
    func stop() {
        lock.lock()
        shared.isStopped = true
        lock.unlock()
        thread?.join()
        thread = nil
    }

    /// Does one step of the second thread.
    ///
    /// - Returns: Whether there is more to do.
    private func work(with reader: inout LeafReader<Question>) -> Bool {
        lock.lock()
        let isDone = shared.isStopped || shared.next >= branches.count, isFar = shared.next >= shared.used + Self.ahead
        lock.unlock()
        guard !isDone else { return false }
        if isFar || !takeOne(with: &reader, upTo: nil) { usleep(100) }
        return true
    }

    /// Reads the leaves below the next branch.
    ///
    /// - Parameter position: A branch that is wanted now, and may be out of order.
    /// - Returns: False if there is nothing to take.
    private func takeOne(with reader: inout LeafReader<Question>, upTo position: Int?) -> Bool {
        lock.lock()
        var taken = shared.next
        if let position, case .open = shared.answers[position] { taken = position }
        guard taken < branches.count, taken < max(shared.used, position ?? 0) + Self.ahead,
            case .open = shared.answers[taken]
        else {
            lock.unlock()
            return false
        }
        shared.answers[taken] = .taken
        shared.next = max(shared.next, taken + 1)
        lock.unlock()
        let branch = branches[taken]
        let answer = reader.read(branch.number, above: branch.above, below: branch.below)
        lock.lock()
        shared.answers[taken] = .ready(answer)
        lock.unlock()
        return true
    }
}

/// Reads the leaves below branches, several neighbours at a time. For one thread.
private struct LeafReader<Question: LeafQuestion> {
    private let snapshot: FileSnapshot
    private let pageSize: Int
    private let buffer: LeafBuffer
    private var question: Question

    init(_ snapshot: FileSnapshot, _ question: Question) {
        self.snapshot = snapshot
        self.question = question
        pageSize = snapshot.meta.pageSize
        buffer = LeafBuffer(pages: 32, of: pageSize)
    }

    /// Reads the leaves below a branch: see `LeafFilter.answer(for:)`.
    mutating func read(_ number: UInt64, above: [UInt8]?, below: [UInt8]?) -> [Int32?] {
        // A damaged meta page may declare any last page.
        guard number >= PageLayout.metaPages, number <= snapshot.meta.lastPage, number < snapshot.file.pageCount,
            snapshot.file.isCancelled?() != true
        else { return [] }
        // Apart from the leaves: their buffer is used again.
        let branch = buffer.branch
        guard snapshot.file.read(at: number * UInt64(pageSize), into: branch) == pageSize,
            let page = PageView(UnsafeRawBufferPointer(branch)), page.isBranch, page.number == number,
            page.problem == nil
        else { return [] }
        var answer: [Int32?] = [], index = 0
        answer.reserveCapacity(page.count)
        while index < page.count {
            guard let first = page.child(index), first >= PageLayout.metaPages, first <= snapshot.meta.lastPage else {
                return answer
            }
            var run = 1
            while run < buffer.pages, index + run < page.count, page.child(index + run) == first + UInt64(run) {
                run += 1
            }
            let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.leaves[0..<run * pageSize])
            let found = snapshot.file.read(at: first * UInt64(pageSize), into: wanted) / pageSize
            for offset in 0..<run {
                let position = index + offset, isLast = position + 1 == page.count
                guard offset < found, let lower = page.key(position) else {
                    answer.append(nil)
                    continue
                }
                let leaf = UnsafeRawBufferPointer(wanted).slice(offset * pageSize..<(offset + 1) * pageSize)
                answer.append(
                    entries(
                        of: leaf, number: first + UInt64(offset), above: position == 0 ? nil : lower, orAbove: above,
                        below: isLast ? nil : page.key(position + 1), orBelow: isLast ? below : nil))
            }
            index += run
        }
        return answer
    }

    /// Returns the number of entries of a leaf that is sound and has no wanted row; nil otherwise.
    private mutating func entries(
        of bytes: Bytes, number: UInt64, above: Bytes?, orAbove: [UInt8]?, below: Bytes?, orBelow: [UInt8]?
    ) -> Int32? {
        guard let page = PageView(bytes), page.kind == .leaf, page.number == number else { return nil }
        let count = page.count, upper = page.upper
        guard page.lower & 1 == 0, page.lower <= upper, upper <= page.size, count > 0 else { return nil }
        question.begin(bytes)
        var used = 0, last: Bytes?
        for index in 0..<count {
            guard let node = page.leafNode(index), node.flags == 0, page.offset(ofNode: index) >= upper,
                !node.key.isEmpty
            else { return nil }
            used += (PageLayout.nodeHeaderSize + node.key.count + node.stored.count + 1) & ~1
            if let last {
                guard Self.isLess(last, node.key) else { return nil }
            } else {
                if let above, Bytes.compare(node.key, above) < 0 { return nil }
                if above == nil, let orAbove, orAbove.withUnsafeBytes({ Bytes.compare(node.key, $0) < 0 }) {
                    return nil
                }
            }
            guard question.mayPass(node.key, node.stored) else { return nil }
            last = node.key
        }
        guard used == page.size - upper, let last, question.end() else { return nil }
        if let below, Bytes.compare(last, below) >= 0 { return nil }
        if let orBelow, orBelow.withUnsafeBytes({ Bytes.compare(last, $0) >= 0 }) { return nil }
        return Int32(count)
    }

    /// Compares keys by their first eight bytes, and by the others if these are equal.
    @inline(__always)
    private static func isLess(_ a: Bytes, _ b: Bytes) -> Bool {
        if a.count >= 8, b.count >= 8 {
            let x = a.prefix64, y = b.prefix64
            if x != y { return x < y }
        }
        return Bytes.compare(a, b) < 0
    }
}

/// The memory of a reader of leaves.
private final class LeafBuffer {
    let pages: Int
    let branch: UnsafeMutableRawBufferPointer
    let leaves: UnsafeMutableRawBufferPointer

    init(pages: Int, of size: Int) {
        self.pages = pages
        branch = .allocate(byteCount: size, alignment: 16)
        leaves = .allocate(byteCount: pages * size, alignment: 16)
    }

    deinit {
        branch.deallocate()
        leaves.deallocate()
    }
}
