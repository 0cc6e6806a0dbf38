"""Titles, bodies and replies, put together from words.py."""

from . import words


def title(number, dice):
    if number in words.TITLES:
        return words.TITLES[number]
    if dice.chance(0.55):
        component = dice.pick(words.COMPONENTS)
        return f"{component[0].upper()}{component[1:]} {dice.pick(words.SYMPTOMS)}"
    return dice.pick(words.WISHES).format(dice.pick(words.COMPONENTS))


def body(dice):
    """Markdown of very different lengths; None for an issue that is only a title."""
    if dice.chance(0.08):
        return None
    if dice.chance(0.04):
        return ""
    # A third of the forge's writers use a browser on Windows.
    newline = "\r\n" if dice.chance(0.3) else "\n"
    parts = [_paragraph(dice, dice.between(1, 5))]
    if dice.chance(0.45):
        steps = [f"{n}. {dice.pick(words.SENTENCES)}" for n in range(1, dice.between(3, 6))]
        parts.append("### Steps" + newline * 2 + newline.join(steps))
    if dice.chance(0.4):
        target = dice.pick(["core", "docs", "test-all", "größe", "main.o"])
        lines = ["```console", f"$ anvil build //{target}:all --jobs {dice.between(1, 16)}",
                 f"[{dice.between(1, 99)}/{dice.between(100, 400)}] compile src\\{target}.c",
                 f"error: step \"{target}\" {dice.pick(words.SYMPTOMS)}", "```"]
        parts.append(newline.join(lines))
    if dice.chance(0.3):
        rows = ["| version | system | seen |", "|---|---|---|"]
        rows += [f"| 0.{dice.between(1, 9)}.{dice.between(0, 4)} | {dice.pick(['Linux', 'macOS', 'Windows'])} | "
                 f"{dice.pick(words.SEEN)} |" for _ in range(dice.between(1, 4))]
        parts.append(newline.join(rows))
    if dice.chance(0.5):
        parts.append(_paragraph(dice, dice.between(1, 6)))
    if dice.chance(0.15):
        parts.append("- [ ] tests" + newline + "- [x] an idea" + newline + "- [ ] documentation")
    return (newline * 2).join(parts)


def reply(dice):
    text = dice.pick(words.REPLIES)
    if dice.chance(0.4):
        text += "\n\n" + _paragraph(dice, dice.between(1, 3))
    return text


def _paragraph(dice, count):
    return " ".join(dice.some(words.SENTENCES, count))
