import Foundation

/// A page of the documentation, whose examples stand verbatim in a test.
package struct DocumentationPage: Sendable {
    private let text: String

    /// Reads a page.
    ///
    /// - Parameter name: the file's name without its suffix.
    package init(_ name: String) throws {
        text = try String(contentsOfFile: Checkout.root + "/Sources/Tarn/Tarn.docc/\(name).md", encoding: .utf8)
    }

    /// The code of the blocks of Swift, in order.
    package var examples: [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The headings of second order, in order.
    package var sections: [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
    }

    /// The examples that do not stand in a source file, whatever their indentation.
    ///
    /// - Parameter files: paths of source files, from the top level of the checkout if they are
    ///   relative.
    package func examples(missingIn files: String...) throws -> [String] {
        let own = try files.map { file in
            let path = file.hasPrefix("/") ? file : Checkout.root + "/" + file
            return DocumentationPage.flat(try String(contentsOfFile: path, encoding: .utf8))
        }
        return examples.filter { example in !own.contains { $0.contains(DocumentationPage.flat(example)) } }
    }

    private static func flat(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
