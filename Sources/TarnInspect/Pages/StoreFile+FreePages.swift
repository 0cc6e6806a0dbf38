// The free list, and the pages that neither it nor a tree has.

extension StoreFile {
    /// Checks the counts of the table of tables, and the free list.
    ///
    /// - Returns: The number of free pages, and of pages that are neither free nor in a tree.
    func checkFreePages() -> (free: Int, lost: Int) {
        compare(mainCounts, snapshot.meta.main, "the table of tables")
        var scan = scan, free = PageMap(), count = 0, listed: [(UInt64, UInt64)] = []
        let list = snapshot.forEachFreePage(&scan) { listed.append(($0, $1)) }
        self.scan = scan
        compare(list, snapshot.meta.freeList, "the free list")
        for (transaction, number) in listed {
            let place = "page \(number)"
            if free.claim(number, for: 1) != nil {
                findings.add(
                    .freeListedTwice, place,
                    "it is in the free list twice, the second time by transaction \(transaction)")
            } else if scan.pages[number] != 0 {
                findings.add(
                    .freeListed, place, "it is in the free list, and \(scan.owners[Int(scan.pages[number])]) has it")
            } else {
                count += 1
            }
        }
        // If a tree is unreadable, its pages would seem to be lost.
        guard list.isWhole, mainCounts.isWhole, counts.values.allSatisfy(\.isWhole),
            counts.count == snapshot.names.count,
            snapshot.meta.lastPage >= 2
        else { return (count, 0) }
        var lost = 0, number: UInt64 = 2
        // A damaged meta page may declare any number, and a sparse file may have any length.
        while number <= snapshot.meta.lastPage, lost <= Int(clamping: snapshot.file.pageCount) {
            var end = number
            if let chunk = scan.pages.emptyChunk(around: number), free.emptyChunk(around: number) != nil {
                end = min(chunk, snapshot.meta.lastPage)
            }
            if scan.pages[number] == 0, free[number] == 0 {
                let place = end == number ? "page \(number)" : "pages \(number) to \(end)"
                findings.add(.pageLost, place, "no table has it, and it is not free")
                lost += Int(clamping: end - number) + 1
            }
            guard end < .max else { break }
            number = end + 1
        }
        return (count, lost)
    }

    /// The number of pages in the free list, whose faults become findings.
    var freePageCount: Int {
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, findings), count = 0
        _ = snapshot.forEachFreePage(&scan) { _, _ in count += 1 }
        return count
    }
}
