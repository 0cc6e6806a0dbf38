internal import LMDB

/// The limits of a step, and who is told of it.
package struct IndexBuildOptions: Sendable {
    /// How many rows a step takes, at most.
    package var rows = 5000
    /// A step ends when its rows have that many bytes.
    package var bytes = 4 << 20

    package init(rows: Int = 5000) {
        self.rows = max(1, rows)
    }
}
