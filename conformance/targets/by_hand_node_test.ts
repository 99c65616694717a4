/**
 * What RESULTS.md says of servers that are not ours is what `by_hand.sh` of their folder asks with curl, finding by
 * finding. That they answer so is asked by `npm run targets -- --by-hand`, which needs the servers.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("conformance/targets/by_hand");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGETS = join(ROOT, "targets");

interface Section {
  readonly title: string;
  /** Folders whose target files or scripts its commands name. */
  readonly folders: readonly string[];
  readonly scripts: readonly string[];
  /** Titles of its table's rows. */
  readonly findings: readonly string[];
  /** Headings of what needs more than a row. */
  readonly headings: readonly string[];
}

const sections: readonly Section[] = readFileSync(join(ROOT, "RESULTS.md"), "utf8")
  .replace(/<!--[\s\S]*?-->/g, "").split(/^## /m).slice(1).map((text) => ({
    title: text.split("\n", 1)[0]!,
    folders: [
      ...new Set(
        [...text.matchAll(/^ {4}.*--target conformance\/targets\/([^/]+)\//gm)].map(([, at]) => at!),
      ),
    ],
    scripts: [...text.matchAll(/^ {4}bash conformance\/targets\/([^/]+)\/by_hand\.sh$/gm)].map(([, at]) =>
      at!
    ),
    findings: [...text.matchAll(/^\| \*\*\w+\*\*([^:|]*): ([^|]*?) +\|/gm)].map(([, , finding]) => finding!),
    headings: [...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading!),
  }));

/** All shell files of a target's folder as one text. */
const scriptOf = (folder: string): string =>
  readdirSync(join(TARGETS, folder)).filter((name) => name.endsWith(".sh"))
    .map((name) => readFileSync(join(TARGETS, folder, name), "utf8")).join("\n");

/** The titles that a script says, out of the shell's quotes. */
const saidIn = (script: string): string[] =>
  [...script.matchAll(/^ *finding (["'])(.*)\1$/gm)].map(([, , said]) => said!.replaceAll(`'"'"'`, "'"));

for (const { title, folders, scripts, findings } of sections) {
  test(`${title}: its findings are asked by the script of its folder`, () => {
    assert.equal(scripts, folders);
    assert.ok(findings.length > 0);
    const said = scripts.flatMap((folder) => saidIn(scriptOf(folder)));
    assert.equal(findings.filter((finding) => !said.includes(finding)), []);
  });
}

const scripts = [...new Set(sections.flatMap(({ scripts }) => scripts))];
for (const folder of scripts) {
  test(`${folder}: nothing is said that RESULTS.md does not tell`, () => {
    const told = sections.flatMap(({ findings, headings }) => [...findings, ...headings]);
    assert.equal(saidIn(scriptOf(folder)).filter((said) => !told.includes(said)), []);
  });
}

test.run();
