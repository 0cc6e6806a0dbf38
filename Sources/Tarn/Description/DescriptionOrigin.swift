package import TarnHTTP

/// The texts of a description, read again with each overlay. They do not affect equality.
package struct DescriptionOrigin: Sendable, Hashable {
    /// The text of the description file.
    package var text: String
    /// The pagination styles that the text may name.
    package var paginationStyles: PaginationStyles
    /// The overlays, in the order in which they are applied.
    package var overlays: [Overlay] = []

    /// The text of an overlay and its file.
    package struct Overlay: Sendable {
        package var text: String
        package var file: String

        package init(text: String, file: String) {
            self.text = text
            self.file = file
        }
    }

    package init(text: String, paginationStyles: PaginationStyles) {
        self.text = text
        self.paginationStyles = paginationStyles
    }

    package static func == (a: DescriptionOrigin, b: DescriptionOrigin) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
