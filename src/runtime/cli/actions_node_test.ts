import { suite } from "uvu";
import * as assert from "uvu/assert";
import { describeAction, describeCommand, readAction } from "./actions.ts";
import { UsageError } from "./output.ts";

const test = suite("cli/actions");

const COMMAND = {
  name: "box",
  title: "boxes",
  actions: {
    add: {
      operands: "NAME [COLOUR]",
      summary: "adds a box",
      options: { size: { value: "SIZE", words: ["small", "large"], summary: "its size", default: "small" } },
    },
    list: {
      operands: "",
      summary: "lists all boxes",
      options: { size: { value: "SIZE", summary: "only these" } },
    },
    show: { operands: "ID|NAME", summary: "shows a box", options: {} },
    open: { operands: "[NAME...]", summary: "opens boxes", options: {} },
    remove: {
      operands: "NAME",
      summary: "removes a box",
      options: { force: { summary: "also a full one" } },
    },
  },
  common: { json: { summary: "print JSON" } },
  notes: "A box is a box.",
  examples: ["trivet box add tools"],
} as const;

test("an action gets its operands, its options and their defaults", () => {
  const { action, operands, values, given } = readAction(COMMAND, ["add", "tools", "--json"]);
  assert.is(action, COMMAND.actions.add);
  assert.equal([operands, values, [...given]], [["tools", ""], { size: "small", json: true }, ["json"]]);
  assert.equal(readAction(COMMAND, ["list"]).values, { size: undefined, json: false });
  assert.equal(readAction(COMMAND, ["open", "a", "b", "c"]).operands, ["a", "b", "c"]);
});

for (
  const [words, mentions] of [
    [[], ["missing action", "add, list, show, open, remove"]],
    [["lst"], ['"lst"', 'Did you mean "list"?']],
    [["delete", "x"], ['"delete"', 'Did you mean "remove"?']],
    [["toString"], ['"toString"']],
    [["list", "--jsn"], ['Did you mean "--json"?']],
    [["add", "x", "--size", "lagre"], ["small, large", 'Did you mean "large"?']],
    [["list", "--force"], ["--force is not an option of trivet box list"]],
    [["add"], ["missing argument: NAME"]],
    [["show"], ["missing argument: ID or NAME"]],
    [["add", "a", "b", "c"], ['unexpected argument "c"']],
  ] as const
) {
  test(`"${words.join(" ")}" is a UsageError that names ${mentions.join(" and ")}`, () => {
    assert.throws(() => readAction(COMMAND, words), (error: Error) => {
      return error instanceof UsageError && mentions.every((mention) => error.message.includes(mention));
    });
  });
}

test("help lists every action; that of an action lists its options", () => {
  const help = describeCommand(COMMAND);
  for (const name of Object.keys(COMMAND.actions)) assert.match(help, `trivet box ${name}`);
  for (const part of ["--json", "A box is a box.", "  trivet box add tools"]) assert.match(help, part);
  assert.not.match(help, "--size");
  const own = describeAction(COMMAND, "add")!;
  for (const part of ["Usage: trivet box add NAME [COLOUR] [options]", "--size SIZE", "--json"]) {
    assert.match(own, part);
  }
  assert.is(describeAction(COMMAND, "fly"), undefined);
});

test.run();
