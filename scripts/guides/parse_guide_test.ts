import { suite } from "uvu";
import * as assert from "uvu/assert";
import { matchesOutput, parseGuide } from "./parse_guide.ts";

const test = suite("parse a guide");
const block = (info: string, text: string) => "```" + `${info}\n${text}\n` + "```\n";

test("reads files, commands with their output, and steps in comments", () => {
  const { steps, untested, needs } = parseGuide(
    "# Title\n<!-- test: needs openssl -->\n" + block("ts a/b.ts", "x") + block("sh", "ls") + "\n" +
      block("text", "b.ts") + block("sh background", "serve") + block("text", '{"a":1}') +
      "<!-- test\n" + block("sh", "hidden") + "-->\n<!-- test: stop -->\n" +
      block("ts fragment", "part") + block("sh untested", "cloud"),
  );
  assert.equal(steps.map(({ kind }) => kind), ["file", "run", "background", "run", "stop"]);
  assert.equal(steps[0], { kind: "file", name: "a/b.ts", text: "x\n", line: 3 });
  assert.equal(steps[1], { kind: "run", text: "ls\n", output: "b.ts\n", fails: false, line: 6 });
  assert.equal([untested, needs], [2, ["openssl"]]);
});

test("refuses a block that would silently not be run", () => {
  const refused = [
    block("ts", "part"),
    block("text", "an output of nothing"),
    block("sh", "ls") + block("text", "..."),
    block("sh", "ls") + block("ts fragment", "x") + block("text", "late"),
    block("sh backgroud", "ls"),
    "```sh\nno end\n",
    "<!-- test: halt -->\n",
  ];
  for (const guide of refused) assert.throws(() => parseGuide(guide), /line \d+/);
});

test("compares output by whole lines, where ... is any text", () => {
  const printed = 'first\n{"token":"abc","expires":7200}\nlast 3\n';
  for (
    const pattern of [
      "first\n",
      '{"token":"...","expires":7200}\n',
      "first\n...\nlast 3\n",
      "first\n...\nlast ...\n",
    ]
  ) assert.ok(matchesOutput(pattern, printed), pattern);
  for (const pattern of ["irst\n", "first\nlast 3\n", '{"token":"...","expires":7201}\n', "last\n"]) {
    assert.not(matchesOutput(pattern, printed), pattern);
  }
  assert.ok(matchesOutput("a.b(c)\n", "a.b(c)"));
  assert.not(matchesOutput("a.b(c)\n", "axb(c)"));
});

test.run();
