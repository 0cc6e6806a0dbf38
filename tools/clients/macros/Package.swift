// swift-tools-version: 6.2
import PackageDescription

// A user of the library who declares records with `@Record`: the first example of the README's section for services.
let package = Package(
    name: "macros",
    dependencies: [.package(name: "tarn", path: "../../..", traits: [])],
    targets: [.executableTarget(name: "Macros", dependencies: [.product(name: "TarnMacros", package: "tarn")])],
    swiftLanguageModes: [.v6]
)
