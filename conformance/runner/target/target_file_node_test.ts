/**
 * Target files that are wrong: each is told in one line, with the place and what to do.
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

/** What stands in the file, and what is said of it. */
const WRONG: Readonly<Record<string, readonly [string, RegExp]>> = {
  "nothing": ["", /line 1, column 1: it ends where a value must stand/],
  "no JSON": ["base: http://127.0.0.1", /line 1, column 1: a value must stand where "base: http/],
  "a list": ["[]", /line 1: it must be an object, but is a list/],
  "null": ["null", /line 1: it must be an object, but is null/],
  "half a file": [
    '{\n  "base": "http://127.0.0.1:1",\n  "vars": {',
    /line 3, column 12: it ends where a name in quotes must stand/,
  ],
  "a comma too many": ['{\n  "base": "http://127.0.0.1:1",\n}', /line 3, column 1: a "," stands before "}"/],
  "a comma too many in a list": ['{ "features": ["a",] }', /line 1, column 20: a "," stands before "\]"/],
  "a comma too few": [
    '{ "base": "http://127.0.0.1:1"\n  "name": "x" }',
    /line 2, column 3: "," or "}" must stand where/,
  ],
  "a comment": ['{\n  // mine\n  "base": "x" }', /line 2, column 3: JSON has no comments/],
  "single quotes": ["{ \"base\": 'x' }", /line 1, column 11: JSON has double quotes only/],
  "a text over two lines": ['{ "name": "a\nb" }', /line 1, column 11: a text does not end on its line/],
  "a name that is there twice": [
    '{ "name": "a",\n  "name": "b" }',
    /line 2, column 3: "name" is there twice/,
  ],
  "something after the end": ['{ "name": "a" } x', /line 1, column 17: something follows the end/],
  "a hundred thousand levels": ["[".repeat(100_000), /it nests deeper than 100 levels/],
  "a member of another name": [
    `${BASE}\n "procedure": {} }`,
    /line 2: "procedure" is not known here; is "procedures" meant\?/,
  ],
  "an unknown member": [`${BASE}\n "frobnicate": 1 }`, /line 2: "frobnicate" is not known here$/],
  "features that are no list": [
    `${BASE}\n "features": "pkce" }`,
    /line 2: "features" must be a list, but is a text/,
  ],
  "a feature that is no text": [
    `${BASE}\n "features": ["pkce", 7] }`,
    /line 2: "features\[1\]" must be a text, but is a number/,
  ],
  "an address without a scheme": [
    '{ "base": "127.0.0.1:8080" }',
    /line 1: "base" must match \^https\?:\/\/, but is "127/,
  ],
  "an address that is none": [
    '{ "base": "http://" }',
    /line 1: "base" must be an address like http:\/\/127.0.0.1:8080, but is "http:\/\/"/,
  ],
  "an origin that is none": [`${BASE} "origins": ["x"] }`, /"origins\[0\]" must be an address/],
  "a command that is a text": [
    '{ "stdio": { "command": "node server.js" } }',
    /"stdio.command" must be a list, but is a text/,
  ],
  "no command": [`${BASE} "start": {} }`, /"start" must have "command"/],
  "an empty command": [`${BASE} "start": { "command": [] } }`, /"start.command" must have at least 1 item/],
  "a procedure that is a text": [
    `${BASE}\n "procedures": { "login": "/login" } }`,
    /line 2: "procedures.login" must be/,
  ],
  "a page that is a number": [
    `${BASE}\n "procedures": {\n "login": { "page": 7 } } }`,
    /line 3: "procedures.login.page" must be a text/,
  ],
  "a step with an unknown member": [
    `${BASE}\n "procedures": {\n "login": [\n { "reqest": {} } ] } }`,
    /line 4: "procedures.login\[0\].reqest" is not known here; is "request" meant\?/,
  ],
  "a limit of no seconds": [`${BASE} "limits": { "seconds": 0 } }`, /"limits.seconds" must be more than 0/],
  "a deviation without a reason": [
    `${BASE} "deviations": { "oauth/x/y": true } }`,
    /"deviations.oauth\/x\/y" must be a text, but is true/,
  ],
  "nobody to extend": [`${BASE} "extends": "nobody.json" }`, /nobody.json": there is no such file/],
  "itself to extend": [`${BASE} "extends": "target.json" }`, /it extends itself/],
};

for (const [name, [text, message]] of Object.entries(WRONG)) {
  test(`${name} is told with its place`, () => {
    writeFileSync(path, text);
    let said = "";
    try {
      readDescription({ target: path });
    } catch (error) {
      said = (error as Error).message;
    }
    assert.match(said, message);
    assert.match(said, /^Cannot use the target /);
    assert.not.match(said, /\n/);
  });
}

test("a target that cannot be reached in any way says what it must have", async () => {
  writeFileSync(path, '{ "name": "x" }');
  const said = await openTarget({ target: path }).catch((error: Error) => error.message);
  assert.match(String(said), /must have "base", "stdio" or "module"/);
});

test("a folder and a file that is not there", () => {
  mkdirSync(join(folder, "empty"), { recursive: true });
  assert.throws(() => readDescription({ target: join(folder, "empty") }), /it is a folder/);
  assert.throws(() => readDescription({ target: join(folder, "none.json") }), /there is no such file/);
});

test("modules that give no handler", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["export const nothing = 1;", /must export "fetch"/],
    ["throw new Error('boom');", /Cannot load .*boom/],
    ["export const start = () => { throw new Error('no database') };", /no database/],
    ["export default {};", /must export "fetch"/],
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

test.run();
