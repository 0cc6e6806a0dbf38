// The check of a file's pages alone, before a command writes all rows again.

extension StoreInspector {
    /// Checks the pages of all tables and the free list, but not the content of entries.
    ///
    /// - Parameter progress: A closure that is called with every page read.
    /// - Returns: The faults, at most the first hundred of each code.
    /// - Throws: As ``verification(progress:)``.
    package func pageFindings(progress: ((Progress) -> Void)? = nil) throws -> [Finding] {
        try open(progress: progress) { file in
            for name in file.snapshot.names where file.counts[name] == nil {
                file.forEachEntry(inAnyTable: name, asStored: true) { _, _ in }
            }
            _ = file.checkFreePages()
            return file.findings.list.filter(\.code.isOfPages)
        }
    }
}
