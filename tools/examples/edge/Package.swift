// swift-tools-version: 6.2
import PackageDescription

// A service that answers from its own copy of an API's records: Hummingbird, swift-service-lifecycle and Tarn.
let package = Package(
    name: "edge",
    products: [.library(name: "Edge", targets: ["Edge"])],
    dependencies: [
        .package(name: "tarn", path: "../../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "Edge",
            dependencies: [
                .product(name: "TarnMacros", package: "tarn"), .product(name: "TarnService", package: "tarn"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]),
        .executableTarget(name: "EdgeServer", dependencies: ["Edge"]),
        // HummingbirdTesting would bring TLS: minutes of building for tests that need none.
        .testTarget(
            name: "EdgeTests",
            dependencies: [
                "Edge", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
