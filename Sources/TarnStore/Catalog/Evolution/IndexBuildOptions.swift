/// The limits of a step of an index build.
package struct IndexBuildOptions: Sendable {
    /// The largest number of rows of a step.
    var rows = 5000
    /// The number of bytes of rows after which a step ends.
    var bytes = 4 << 20

    package init(rows: Int = 5000) {
        self.rows = max(1, rows)
    }
}
