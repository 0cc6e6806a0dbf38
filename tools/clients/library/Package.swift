// swift-tools-version: 6.2
import PackageDescription

// A user of the library, who needs nothing of the command line.
let package = Package(
    name: "library",
    dependencies: [.package(name: "tarn", path: "../../..", traits: [])],
    targets: [.executableTarget(name: "Library", dependencies: [.product(name: "Tarn", package: "tarn")])],
    swiftLanguageModes: [.v6]
)
