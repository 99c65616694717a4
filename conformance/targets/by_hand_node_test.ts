/**
 * The findings of each target are those that its `by_hand.sh` replays with curl, and RESULTS.md is generated from them.
 * `npm run targets -- --by-hand` runs the scripts, which need the servers.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readDescription } from "../runner/target/target_file.ts";
import { MATRIX, RESULTS, toMatrixPage, toResultsText } from "../../scripts/targets/results_page.ts";
import { digestScripts, readTargets } from "../../scripts/targets/target_data.ts";

const test = suite("conformance/targets/by_hand");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGETS = join(ROOT, "targets");

const folders = readTargets().map(({ folder, servers, runs, replay }) => ({
  folder: basename(folder),
  servers,
  runs,
  replay,
}))
  .filter(({ servers }) => servers.length > 0);

/** All shell files of a target's folder as one text. */
const readScripts = (folder: string): string =>
  readdirSync(join(TARGETS, folder)).filter((name) => name.endsWith(".sh"))
    .map((name) => readFileSync(join(TARGETS, folder, name), "utf8")).join("\n");

/** Finds the titles of a script's findings, without the shell's quotes. */
const findTitles = (script: string): string[] =>
  [...script.matchAll(/^ *finding (["'])(.*)\1$/gm)].map(([, , title]) => title!.replaceAll(`'"'"'`, "'"));

for (const { folder, servers, runs, replay } of folders) {
  test(`${folder}: its script replays its findings`, () => {
    const titles = findTitles(readScripts(folder));
    for (const { title, findings } of servers) {
      assert.ok(findings.length > 0, title);
      assert.equal(findings.filter((finding) => !titles.includes(finding.title)), [], title);
    }
  });

  test(`${folder}: every finding of its script is in a findings.json`, () => {
    const listed = folders.flatMap(({ servers }) =>
      servers.flatMap(({ findings, notes }) => [...findings, ...notes].map(({ title }) => title))
    );
    assert.equal(findTitles(readScripts(folder)).filter((title) => !listed.includes(title)), []);
  });

  test(`${folder}: result.json has every run`, () => {
    const names = (all: readonly { suite: string; target: string }[]) =>
      all.map(({ suite, target }) => `${suite} ${target}`);
    assert.equal(
      names(folders.find((each) => each.folder === folder)!.runs),
      names(servers.flatMap((each) => each.runs)),
    );
  });

  test(`${folder}: failing vectors are expected, and a finding replays each`, () => {
    assert.is(replay?.scripts, digestScripts(join(TARGETS, folder)), "npm run targets -- --by-hand --write");
    const replayed = new Set(replay?.vectors);
    for (const { target, suite: name, failing } of runs) {
      const { deviations = {} } = readDescription({ target: join(TARGETS, folder, target) })?.description ??
        {};
      assert.equal(failing.filter((vector) => !Object.hasOwn(deviations, vector)), [], `${name} ${target}`);
      assert.equal(failing.map(toId).filter((id) => !replayed.has(id)), [], `${name} ${target}`);
    }
  });
}

/** The name of a vector without its suite. */
const toId = (name: string): string => name.slice(name.indexOf("/") + 1);

test("RESULTS.md and matrix.html are what the stored data says", () => {
  const targets = readTargets();
  const words = (text: string) => text.replace(/[\s|:\\-]+/g, " ");
  assert.is(words(readFileSync(RESULTS, "utf8")), words(toResultsText(targets)));
  assert.is(readFileSync(MATRIX, "utf8"), toMatrixPage(targets));
});

test.run();
