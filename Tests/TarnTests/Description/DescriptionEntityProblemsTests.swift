// The rules of entities and endpoints in a description file, each broken once: message and
// position.

import Tarn
import Testing

@Suite("Description file: problems of entities and endpoints")
struct DescriptionEntityProblemsTests {
    @Test(
        "web pages: the variables are fields or paths to fields, also of the other side, and the URL is one of the web",
        arguments: [
            .init(
                "    ignore: [node",
                "    open: '/{id}/{author.login}/{author.issues.state}{?labels}'\n    ignore: [node"),
            .init("  Label: { key", "  Label: { open: 'https://x.example/{issues.id}', key"),
            .init(
                "    ignore: [node", "    open: 'https://x.example/{staet}'\n    ignore: [node",
                "32:11: entities.Issue.open: unknown field of Issue \"staet\": did you mean \"state\"?"),
            .init(
                "    ignore: [node", "    open: '/{author.nam}'\n    ignore: [node",
                "32:11: entities.Issue.open: unknown field of User \"nam\": did you mean \"name\"?"),
            .init(
                "    ignore: [node", "    open: '/{state.name}'\n    ignore: [node",
                "32:11: entities.Issue.open: {state.name}: Issue.state is an attribute, which leads to no other record"),
            .init(
                "    ignore: [node", "    open: 'ftp://x.example/{id}'\n    ignore: [node",
                "32:11: entities.Issue.open: expected an http or https URL, or a path, found the scheme \"ftp\""),
        ] as [BrokenDescription])
    func webPages(row: BrokenDescription) { row.check() }

    @Test(
        "attributes: types, values, key paths and epochs are checked",
        arguments: [
            .init(
                "login: string", "login: strng",
                "13:14: entities.User.attributes.login.type: unknown type \"strng\": did you mean \"string\"?"),
            .init(
                "login: string", "login: Integer",
                "13:14: entities.User.attributes.login.type: unknown type \"Integer\": did you mean \"int\"?"),
            .init(
                "login: string", "login: { type: number }",
                "13:22: entities.User.attributes.login.type: unknown type \"number\": did you mean \"double\"?"),
            .init(
                "login: string", "login: blorb",
                "13:14: entities.User.attributes.login.type: unknown type \"blorb\": expected one of bool, int"),
            .init("login: string", "login:", "13:13: entities.User.attributes.login.type: missing value"),
            .init(
                "login: string", "login: { type: string, optional: true }",
                "13:30: entities.User.attributes.login.optional: write a ? after the type instead"),
            .init("login: string", "lo-gin: string", "13:7: entities.User.attributes.lo-gin: invalid field name: use"),
            .init(
                "tags: [string]", "tags: [[string]]",
                "27:13: entities.Issue.attributes.tags.type: lists of lists are not supported"),
            .init(
                "tags: [string]", "tags: [json]", "27:13: entities.Issue.attributes.tags.type: json can contain lists"
            ),
            .init(
                "tags: [string]", "tags: [string?]",
                "27:13: entities.Issue.attributes.tags.type: elements of a list cannot be optional"),
            .init(
                "tags: [string]", "tags: [string, int]",
                "27:13: entities.Issue.attributes.tags.type: a list has exactly one type"),
            .init(
                "tags: [string]", "tags: []", "27:13: entities.Issue.attributes.tags.type: a list has exactly one type"),
            .init(
                "tags: [string]", "tags: { type: [string], index: true }",
                "27:38: entities.Issue.attributes.tags.index: indexes of lists are not supported"),
            .init(
                "tags: [string]", "tags: { type: json, index: true }",
                "27:34: entities.Issue.attributes.tags.index: json cannot be indexed"),
            .init(
                "state: { type: enum, values: [open, closed] }", "state: enum",
                "23:14: entities.Issue.attributes.state.type: an enum needs at least one value"),
            .init(
                "values: [open, closed]", "from: x",
                "23:22: entities.Issue.attributes.state.type: an enum needs at least one value"),
            .init(
                "[open, closed]", "[]",
                "23:36: entities.Issue.attributes.state.values: an enum needs at least one value"),
            .init(
                "[open, closed]", "[open, open]",
                "23:36: entities.Issue.attributes.state.values: the value \"open\" is listed twice"),
            .init(
                "[open, closed]", "[open, [a]]",
                "23:43: entities.Issue.attributes.state.values: expected a text, found a list"),
            .init(
                "[open, closed]", "[open, { a: b }]",
                "23:43: entities.Issue.attributes.state.values: expected a text, found a mapping"),
            .init(
                "[open, closed]", "[open, null]",
                "23:43: entities.Issue.attributes.state.values: null cannot be listed"),
            .init(
                "[open, closed]", "open",
                "23:36: entities.Issue.attributes.state.values: expected a list of texts, found \"open\""),
            .init(
                "{ type: enum, values", "{ type: string, values",
                "23:38: entities.Issue.attributes.state.values: only an enum can have values"),
            .init(
                "epoch: milliseconds", "epoch: millisecond",
                "25:37: entities.Issue.attributes.seenAt.epoch: unknown unit \"millisecond\": did you mean \"milliseconds\"?"
            ),
            .init(
                "{ type: date?, epoch", "{ type: int?, epoch",
                "25:36: entities.Issue.attributes.seenAt.epoch: only a date can have an epoch, but the type is int"),
            .init(
                "'reactions.+1'", "'reactions..+1'",
                "26:37: entities.Issue.attributes.thumbsUp.from: \"reactions..+1\" is not a key path"),
            .init(
                "[created_at, inserted_at]", "[created_at, a.]",
                "24:51: entities.Issue.attributes.createdAt.from: \"a.\" is not a key path"),
            .init(
                "[created_at, inserted_at]", "[]", "24:38: entities.Issue.attributes.createdAt.from: missing key path"),
            .init("from: user,", "from: $,", "29:33: entities.Issue.relationships.author.from: $ is the whole record"),
            .init(
                "from: user,", "from: .user,",
                "29:33: entities.Issue.relationships.author.from: \".user\" is not a key path"),
            .init(
                "ignore: [node_id, '*_url', 'reactions.*']", "compression: zst",
                "32:18: entities.Issue.compression: unknown compression \"zst\": did you mean \"zstd\"?"),
            .init("'*_url'", "'a\\b'", "32:23: entities.Issue.ignore: \"a\\b\" is not a key path"),
        ] as [BrokenDescription])
    func attributes(row: BrokenDescription) { row.check() }

    @Test(
        "entities and keys are checked",
        arguments: [
            .init(
                "Label: { key: id, attributes", "Label: { key: idd, attributes",
                "15:17: entities.Label.key: unknown attribute \"idd\": did you mean \"id\"?"),
            .init(
                "Label: { key: id, attributes", "Label: { key: [id, id], attributes",
                "15:17: entities.Label.key: \"id\" is listed twice in the key"),
            .init(
                "Label: { key: id, attributes", "Label: { key: [], attributes", "15:17: entities.Label.key: missing key"
            ),
            .init(
                "Label: { key: id, attributes: { id: int,", "Label: { key: id, attributes: { id: int?,",
                "15:17: entities.Label.key: \"id\" is optional and cannot be part of a key"),
            .init(
                "Label: { key: id, attributes: { id: int,", "Label: { key: id, attributes: { id: date,",
                "15:17: entities.Label.key: \"id\" is of type date and cannot be part of a key"),
            .init(
                "Label: { key: id, attributes: { id: int,", "Label: { key: id, attributes: { id: [int],",
                "15:17: entities.Label.key: \"id\" is of type [int] and cannot"),
            .init(
                "  Issue:\n    key: id", "  Issue:\n    key: labels",
                "20:10: entities.Issue.key: \"labels\" is to-many and cannot be part of a key"),
            .init(
                "  Label: { key", "  2Label: { key", "15:3: entities.2Label: invalid entity name: use the letters",
                "30:21: entities.Issue.relationships.labels.to: unknown entity \"Label\": did you mean \"2Label\"?"),
        ] as [BrokenDescription])
    func entitiesAndKeys(row: BrokenDescription) { row.check() }

    @Test(
        "a description without entities is an error",
        arguments: ["entities: {}", "entities:", "entities: []", "entities: x"])
    func noEntities(line: String) {
        let lines = problems("api: { base: 'https://a.example' }\n\(line)\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("forge.yaml:2:1"), "\(lines)")
        #expect(
            lines[0].contains("entities: no entities") || lines[0].contains("entities: expected a mapping"),
            "\(lines)")
    }

    @Test(
        "relationships and their inverses are checked",
        arguments: [
            .init(
                "to: [Label]", "to: [Lable]",
                "30:21: entities.Issue.relationships.labels.to: unknown entity \"Lable\": did you mean \"Label\"?"),
            .init(
                "milestone: Milestone\n", "milestone: Mile\n",
                "31:18: entities.Issue.relationships.milestone.to: unknown entity \"Mile\": did you mean \"Milestone\"?"
            ),
            .init(
                "to: [Label]", "to: [Label, User]",
                "30:21: entities.Issue.relationships.labels.to: a relationship has exactly one destination"),
            .init(
                "to: User,", "to: User?,",
                "29:21: entities.Issue.relationships.author.to: a relationship is always optional"),
            .init(
                "from: user, inverse: issues", "from: user, inverse: login",
                "29:48: entities.Issue.relationships.author.inverse: User has an attribute \"login\""),
            .init(
                "author: { to: User", "state: { to: User",
                "29:7: entities.Issue.relationships.state: an attribute has the same name"),
            .init(
                "from: user, inverse: issues", "from: user, ordered: true",
                "29:48: entities.Issue.relationships.author.ordered: a to-one relationship cannot be ordered"),
            .init(
                "      milestone: Milestone\n",
                "      milestone: Milestone\n      closer: { to: User, inverse: issues }\n",
                "32:36: entities.Issue.relationships.closer.inverse: User.issues is already the inverse of Issue.author"
            ),
            .init(
                "      milestone: Milestone\n",
                "      milestone: Milestone\n      parent: { to: Issue, inverse: parent }\n",
                "32:37: entities.Issue.relationships.parent.inverse: a relationship cannot be its own inverse"),
            .init(
                "      name: string?\n", "      name: string?\n    relationships:\n      issues: [Issue]\n",
                "31:48: entities.Issue.relationships.author.inverse: User.issues does not declare this relationship as its inverse: write inverse: author there"
            ),
            .init(
                "      name: string?\n", "      name: string?\n    relationships:\n      issues: [Label]\n",
                "31:48: entities.Issue.relationships.author.inverse: User.issues is a relationship to Label, not to Issue"
            ),
            .init(
                "      name: string?\n",
                "      name: string?\n    relationships:\n      issues: { to: [Issue], inverse: author }\n      closed: { to: [Issue], inverse: author }\n",
                "17:39: entities.User.relationships.closed.inverse: Issue.author does not declare this relationship as its inverse"
            ),
            .init(
                "Label: { key: id, attributes: { id: int, name: string } }",
                "Label: { key: id, attributes: { id: int }, relationships: { issues: { to: [Issue], ordered: true, inverse: labels } } }",
                "30:39: entities.Issue.relationships.labels.ordered: Label.issues, the inverse, is ordered as well"),
            .init(
                "from: user, inverse: issues", "from: user, inverse: 'is sues'",
                "29:48: entities.Issue.relationships.author.inverse: \"is sues\" is not a valid name"),
        ] as [BrokenDescription])
    func relationships(row: BrokenDescription) { row.check() }

    @Test(
        "endpoints: name, path, variables, entity and records are checked",
        arguments: [
            .init(
                "  issues:\n    path", "  is sues:\n    path", "34:3: endpoints.is sues: invalid endpoint name: use"),
            .init("path: /repos", "path: repos", "35:11: endpoints.issues.path: a path must begin with /"),
            .init("{repo}/issues", "{repo}/issues?a=b", "35:11: endpoints.issues.path: a path cannot have a query"),
            .init("{repo}/issues", "{repo}/is sues", "35:11: endpoints.issues.path: a path cannot contain spaces"),
            .init(
                "path: /repos/{owner}/{repo}/issues", "path: '/repos/{owner}/{repo}/#x'",
                "35:11: endpoints.issues.path: a path cannot have a fragment"),
            .init("{repo}/issues", "{repo/issues", "35:11: endpoints.issues.path: unmatched {"),
            .init("{repo}/issues", "{repo", "35:11: endpoints.issues.path: unmatched {"),
            .init("{repo}/issues", "repo}/issues", "35:11: endpoints.issues.path: unmatched }"),
            .init("{repo}/issues", "{{repo}}/issues", "35:11: endpoints.issues.path: unmatched {"),
            .init("{repo}/issues", "{}/issues", "35:11: endpoints.issues.path: {} is not a placeholder; write {name}"),
            .init(
                "{repo}/issues", "{rep}/issues",
                "35:11: endpoints.issues.path: no value for {rep}: did you mean {repo}?"),
            .init(
                "{repo}/issues", "{branch}/issues",
                "35:11: endpoints.issues.path: no value for {branch}: write with: { branch: … }"),
            .init(
                "{repo}/issues", "{user.login}/issues",
                "35:11: endpoints.issues.path: no value for {user.login}: write for_each: User"),
            .init(
                "repo: anvil", "repo: ''",
                "36:32: endpoints.issues.with.repo: a value in the path cannot be \"\""),
            .init(
                "repo: anvil", "repo: ..",
                "36:32: endpoints.issues.with.repo: a value in the path cannot be \"..\""),
            .init("{repo}/issues", "{=repo}/issues", "35:11: endpoints.issues.path: {=repo} is not a placeholder"),
            .init("records: $", "records: a..b", "37:14: endpoints.issues.records: \"a..b\" is not a key path"),
            .init(
                "    entity: Issue\n    paginate: header", "    entity: Isue\n    paginate: header",
                "38:13: endpoints.issues.entity: unknown entity \"Isue\": did you mean \"Issue\"?"),
        ] as [BrokenDescription])
    func endpoints(row: BrokenDescription) { row.check() }

    @Test(
        "pagination and its options are checked",
        arguments: [
            .init(
                "paginate: header_link", "paginate: link_header",
                "39:15: endpoints.issues.paginate: unknown pagination \"link_header\": expected one of single_page"),
            .init(
                "paginate: header_link", "paginate: header_lnk",
                "39:15: endpoints.issues.paginate: unknown pagination \"header_lnk\": did you mean \"header_link\"?"),
            .init(
                "paginate: header_link", "paginate: page_number",
                "39:15: endpoints.issues.paginate: page_number needs its parameter"),
            .init(
                "paginate: header_link", "paginate: { header_lnk: { rel: a } }",
                "39:17: endpoints.issues.paginate: unknown pagination \"header_lnk\": did you mean \"header_link\"?"),
            .init(
                "paginate: header_link", "paginate: { single_page: { a: b } }",
                "39:17: endpoints.issues.paginate.single_page: single_page has no options"),
            .init("paginate: header_link", "paginate: {}", "39:15: endpoints.issues.paginate: expected one style"),
            .init(
                "paginate: header_link", "paginate: [header_link]",
                "39:15: endpoints.issues.paginate: expected a single value, found a list"),
            .init(
                "paginate: header_link", "paginate: { header_link: { rel: 'a b' } }",
                "39:37: endpoints.issues.paginate.header_link.rel: a link relation has no spaces"),
            .init(
                "paginate: header_link", "paginate: { header_link: next }",
                "39:30: endpoints.issues.paginate.header_link: expected a mapping (rel), found \"next\""),
            .init(
                "paginate: header_link", "paginate: { page_number: { param: state } }",
                "36:61: endpoints.issues.with.state: paginate sends this parameter"),
            .init(
                "paginate: header_link", "paginate: { page_number: { param: owner } }",
                "35:11: endpoints.issues.path: {owner} is what paginate sends"),
            .init(
                "{ size: 10 }", "{ page: 10 }",
                "44:67: endpoints.ofMilestone.paginate.page_number.per_page.page: param has this name already"),
        ] as [BrokenDescription])
    func pagination(row: BrokenDescription) { row.check() }

    @Test(
        "for_each, its parent and its variables are checked",
        arguments: [
            .init(
                "{ entity: Milestone, parent", "{ entity: Milstone, parent",
                "43:25: endpoints.ofMilestone.for_each.entity: unknown entity \"Milstone\": did you mean \"Milestone\"?"
            ),
            .init(
                "{ entity: Milestone, parent: milestone }", "Milstone",
                "43:15: endpoints.ofMilestone.for_each: unknown entity \"Milstone\": did you mean \"Milestone\"?"),
            .init(
                "parent: milestone }", "parent: mileston }",
                "43:44: endpoints.ofMilestone.for_each.parent: unknown relationship \"mileston\": did you mean \"milestone\"?"
            ),
            .init(
                "parent: milestone }", "parent: author }",
                "43:44: endpoints.ofMilestone.for_each.parent: Issue.author refers to User"),
            .init(
                "      milestone: Milestone\n", "      milestone: [Milestone]\n",
                "43:44: endpoints.ofMilestone.for_each.parent: Issue.milestone is to-many"),
            .init(
                "{milestone.number}", "{milestone.numbr}",
                "41:11: endpoints.ofMilestone.path: {milestone.numbr}: unknown attribute \"numbr\": did you mean \"number\"?"
            ),
            .init(
                "{milestone.number}", "{milestone}",
                "41:11: endpoints.ofMilestone.path: {milestone} is a whole record: use one of its attributes, such as {milestone.id}"
            ),
            .init(
                "{milestone.number}", "7", "43:15: endpoints.ofMilestone.for_each: the path does not use {milestone.…}"),
            .init(
                "{milestone.number}", "{milestone.number}/{mile.id}",
                "41:11: endpoints.ofMilestone.path: no value for {mile.id}: the record of for_each is called milestone here"
            ),
            .init(
                "    path: /milestones/{milestone.number}/issues",
                "    path: /milestones/{milestone.number}/issues\n    with: { milestone.number: 1 }",
                "42:31: endpoints.ofMilestone.with.milestone.number: for_each sets this parameter"),
            .init(
                "attributes: { id: int, number: int,", "attributes: { id: int, number: [int],",
                "41:11: endpoints.ofMilestone.path: {milestone.number} is of type [int], which cannot be used in a path"
            ),
        ] as [BrokenDescription])
    func forEach(row: BrokenDescription) { row.check() }
}
