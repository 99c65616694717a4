/**
 * Invalid target files: each error is one line with the place of the problem.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openTarget } from "./open_target.ts";
import { readDescription } from "./target_file.ts";

const test = suite("target_file");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
const path = join(folder, "target.json");
test.after(() => rmSync(folder, { recursive: true, force: true }));

const BASE = '{ "base": "http://127.0.0.1:1", ';

/** The text of the file, and the place or name in the error. */
const WRONG: Readonly<Record<string, readonly [string, RegExp]>> = {
  "an empty file": ["", /line 1, column 1:/],
  "text that is not JSON": ["base: http://127.0.0.1", /line 1, column 1: .*"base: http/],
  "an array": ["[]", /line 1: .*object/],
  "null": ["null", /line 1: .*object.*null/],
  "half a file": [
    '{\n  "base": "http://127.0.0.1:1",\n  "vars": {',
    /line 3, column 12:/,
  ],
  "a trailing comma": ['{\n  "base": "http://127.0.0.1:1",\n}', /line 3, column 1: .*"}"/],
  "a trailing comma in an array": ['{ "features": ["a",] }', /line 1, column 20: .*"\]"/],
  "a missing comma": [
    '{ "base": "http://127.0.0.1:1"\n  "name": "x" }',
    /line 2, column 3: .*"," or "}"/,
  ],
  "a comment": ['{\n  // mine\n  "base": "x" }', /line 2, column 3: .*comments/],
  "single quotes": ["{ \"base\": 'x' }", /line 1, column 11: .*double quotes/],
  "a string over two lines": ['{ "name": "a\nb" }', /line 1, column 11:/],
  "a duplicate name": [
    '{ "name": "a",\n  "name": "b" }',
    /line 2, column 3: .*"name"/,
  ],
  "text after the end": ['{ "name": "a" } x', /line 1, column 17:/],
  "a hundred thousand levels": ["[".repeat(100_000), /100 levels/],
  "a misspelt member": [
    `${BASE}\n "procedure": {} }`,
    /line 2: "procedure" .*"procedures"/,
  ],
  "an unknown member": [`${BASE}\n "frobnicate": 1 }`, /line 2: "frobnicate" [^"]*$/],
  "features that are not an array": [
    `${BASE}\n "features": "pkce" }`,
    /line 2: "features" .*array.*string/,
  ],
  "a feature that is not a string": [
    `${BASE}\n "features": ["pkce", 7] }`,
    /line 2: "features\[1\]" .*string.*number/,
  ],
  "a URL without a scheme": [
    '{ "base": "127.0.0.1:8080" }',
    /line 1: "base" .*"127/,
  ],
  "an invalid URL": [
    '{ "base": "http://" }',
    /line 1: "base" .*"http:\/\/"/,
  ],
  "an invalid origin": [`${BASE} "origins": ["x"] }`, /"origins\[0\]" .*"x"/],
  "a command that is a string": [
    '{ "stdio": { "command": "node server.js" } }',
    /"stdio.command" .*array.*string/,
  ],
  "no command": [`${BASE} "start": {} }`, /"start" .*"command"/],
  "an empty command": [`${BASE} "start": { "command": [] } }`, /"start.command" /],
  "a procedure that is a string": [
    `${BASE}\n "procedures": { "login": "/login" } }`,
    /line 2: "procedures.login" /,
  ],
  "a page that is a number": [
    `${BASE}\n "procedures": {\n "login": { "page": 7 } } }`,
    /line 3: "procedures.login.page" .*string/,
  ],
  "a step with an unknown member": [
    `${BASE}\n "procedures": {\n "login": [\n { "reqest": {} } ] } }`,
    /line 4: "procedures.login\[0\].reqest" .*"request"/,
  ],
  "a limit of no seconds": [`${BASE} "limits": { "seconds": 0 } }`, /"limits.seconds" .*0/],
  "a deviation without a reason": [
    `${BASE} "deviations": { "oauth/x/y": true } }`,
    /"deviations.oauth\/x\/y" .*string.*true/,
  ],
  "a missing file to extend": [`${BASE} "extends": "missing.json" }`, /missing.json": /],
  "itself to extend": [`${BASE} "extends": "target.json" }`, /"extends"/],
};

for (const [name, [text, message]] of Object.entries(WRONG)) {
  test(`${name} is reported with its place`, () => {
    writeFileSync(path, text);
    let said = "";
    try {
      readDescription({ target: path });
    } catch (error) {
      said = (error as Error).message;
    }
    assert.match(said, message);
    assert.match(said, /^Invalid target file "/);
    assert.not.match(said, /\n/);
  });
}

test("a target without a way to reach it names the members it needs", async () => {
  writeFileSync(path, '{ "name": "x" }');
  const said = await openTarget({ target: path }).catch((error: Error) => error.message);
  assert.match(String(said), /"base", "stdio" or "module"/);
});

test("a folder, and a missing file", () => {
  mkdirSync(join(folder, "empty"), { recursive: true });
  assert.throws(() => readDescription({ target: join(folder, "empty") }), /empty": .*folder/);
  assert.throws(() => readDescription({ target: join(folder, "none.json") }), /none\.json": /);
});

test("modules without a handler", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["export const nothing = 1;", /"fetch"/],
    ["throw new Error('boom');", /boom/],
    ["export const start = () => { throw new Error('no database') };", /no database/],
    ["export default {};", /"fetch"/],
  ];
  for (const [at, [text, message]] of cases.entries()) {
    const file = join(folder, `module_${at}.mjs`);
    writeFileSync(file, text);
    const said = await openTarget({ module: file }).catch((error: Error) => error.message);
    assert.match(String(said), message);
  }
});

test("clients, users and scope are variables", () => {
  writeFileSync(
    path,
    `${BASE} "clients": { "a": 1 }, "users": { "b": 2 }, "scope": null, "vars": { "c": 3 } }`,
  );
  const { description } = readDescription({ target: path });
  assert.equal(description.vars, { clients: { a: 1 }, users: { b: 2 }, scope: null, c: 3 });
  assert.is(description.name, "http://127.0.0.1:1");
});

test("quotes keep the blanks of a command together", () => {
  const commandOf = (stdio: string) => {
    const command = readDescription({ stdio }).description.stdio;
    return command && "command" in command ? command.command : undefined;
  };
  assert.equal(commandOf(' node  "/tmp/my dir/server.ts" -x'), ["node", "/tmp/my dir/server.ts", "-x"]);
  assert.equal(commandOf("node '/tmp/a \"b\"/s.ts' --name=\"a b\"c ''"), [
    "node",
    '/tmp/a "b"/s.ts',
    "--name=a bc",
    "",
  ]);
  assert.equal(commandOf("C:\\node.exe server.ts"), ["C:\\node.exe", "server.ts"]);
  assert.throws(() => commandOf("node 'server.ts"), /--stdio.*quote/);
});

test.run();
