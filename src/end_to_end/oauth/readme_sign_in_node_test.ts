/**
 * The example of sign-in in the README of the repository, as it is written there.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Trivet } from "../../mod.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("the example of sign-in in README.md");
const ENTRIES: Readonly<Record<string, string>> = {
  trivet: new URL("../../mod.ts", import.meta.url).href,
  "trivet/sign-in": new URL("../../sign_in.ts", import.meta.url).href,
};

test("its login page has the four providers and no password", async () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const section = readme.slice(readme.indexOf("\n## Sign in with"));
  const example = /```ts\n([^]*?)```/.exec(section)![1]!
    .replace(/from "([^"]+)"/g, (_, name) => `from ${JSON.stringify(ENTRIES[name])}`);
  const names = ["GOOGLE_ID", "ENTRA_ID", "GITHUB_ID", "WORK_ID"];
  for (const name of names) process.env[name] = "client";
  process.env.TENANT_ID = "72f988bf-86f1-41af-91ab-2d7cd011db47";
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, "example.ts"), example);
  const loaded = await import(pathToFileURL(join(folder.path, "example.ts")).href);
  folder.remove();
  for (const name of [...names, "TENANT_ID"]) delete process.env[name];
  const trivet: Trivet = loaded.default;
  const page = await (await trivet.fetch(new Request("https://agents.example.com/login"))).text();
  const links = [...page.matchAll(/href="\/login\/([a-z]+)"[^>]*>([^<]+)</g)].map((
    [, id, text],
  ) => [id, text]);
  assert.equal(links, [
    ["google", "Continue with Google"],
    ["entra", "Continue with Microsoft"],
    ["github", "Continue with GitHub"],
    ["work", "Continue with Work"],
  ]);
  assert.is(page.includes('type="password"'), false);
});

test.run();
