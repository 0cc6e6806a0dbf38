import Edge

// EdgeServer API STORE REPOSITORY…
let arguments = CommandLine.arguments
guard arguments.count > 3 else { fatalError("usage: EdgeServer API STORE REPOSITORY…") }
try await Edge(api: arguments[1], repositories: Array(arguments[3...]), store: arguments[2]).application(port: 8080).runService()
