/**
 * The runner in Python gives the same verdicts as the reference runner on a server of another project, if it is installed
 * (`npm run targets -- --install`).
 *
 * @module
 */
import { existsSync } from "node:fs";
import { suite } from "uvu";
import { targetFile } from "../targets/test_replay.ts";
import { compare, hasPython, note } from "./test_compare.ts";

const test = suite("conformance/runners: another server");
const NAME = "oidc-provider";
const isInstalled = existsSync(targetFile(`${NAME}/node_modules`));

const testOther = hasPython && isInstalled ? test : test.skip;
testOther(`${NAME}${note || (isInstalled ? "" : " (not installed)")}`, async () => {
  const target = {
    extends: targetFile(`${NAME}/target.json`),
    base: "http://127.0.0.1:{{port}}",
    start: { command: ["node", targetFile(`${NAME}/server.mjs`), "{{port}}"], ready: "/jwks" },
  };
  await compare(["oauth"], target, 800, 20);
});

test.run();
