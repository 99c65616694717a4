/**
 * What a run of the kit against Trivet asked, by its own report: of the rows that can be seen from outside (those without a
 * reason why not) every MUST of OAuth, all of JSON-RPC, and of OAuth's SHOULDs 95 % in each document.
 *
 * A row whose vectors were all skipped counts only where they are about what Trivet does not offer.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toJson } from "../runner/report/report_json.ts";
import { replay, targetFile } from "./test_replay.ts";

/** What Trivet does not offer, and for `raw` what a target in this process cannot: that is asked over a socket. */
const NOT_OFFERED = [
  "implicit",
  "password",
  "pkce_plain",
  "bearer_query",
  "bearer_body",
  "dpop_nonce",
  "raw",
];

interface Figures {
  readonly document: string;
  readonly level: string;
  readonly rows: number;
  readonly excluded: number;
  readonly asked: number;
  readonly held: number;
  readonly skipped: number;
}

interface Written {
  readonly coverage: readonly Figures[];
  readonly vectors: readonly { readonly name: string; readonly outcome: string; readonly reason?: string }[];
}

const test = suite<{ written: Written }>("coverage of a run");

test.before(async (context) => {
  context.written = JSON.parse(toJson(await replay(["oauth", "jsonrpc"], targetFile("trivet.json"))));
});

/** Per cent of the rows that can be seen from outside. */
function share({ rows, excluded }: Figures, count: number): number {
  return rows === excluded ? 100 : 100 * count / (rows - excluded);
}

const told = (all: readonly Figures[]) => all.map((each) => JSON.stringify(each));

test("OAuth: every MUST is asked and holds, and 95 % of the SHOULDs of each document are asked", ({ written }) => {
  const oauth = written.coverage.filter(({ document }) => document.startsWith("rfc"));
  const [musts, shoulds] = ["MUST", "SHOULD"].map((level) => oauth.filter((each) => each.level === level));
  assert.ok(musts!.length >= 10 && shoulds!.length >= 10, "documents");
  const missed = musts!.filter((each) => share(each, each.asked + each.skipped) < 100);
  assert.equal(told(missed), []);
  assert.equal(told(musts!.filter(({ asked, held }) => held < asked)), []);
  assert.equal(told(shoulds!.filter((each) => share(each, each.asked + each.skipped) < 95)), []);
});

test("no document of OAuth is left out", ({ written }) => {
  const documents = readdirSync(targetFile("../requirements")).flatMap((name) =>
    /^rfc\d+(?=\.json$)/.exec(name) ?? []
  );
  const asked = new Set(written.coverage.map(({ document }) => document));
  assert.equal(documents.filter((each) => !asked.has(each)), []);
});

test("JSON-RPC: every row is asked and holds", ({ written }) => {
  const rows = written.coverage.filter(({ document }) => document === "jsonrpc-2.0");
  assert.equal(rows.map(({ level }) => level), ["MUST", "SHOULD", "MAY"]);
  assert.equal(told(rows.filter((each) => share(each, each.held) < 100)), []);
});

test("nothing is skipped but what Trivet does not offer", ({ written }) => {
  const reasons = NOT_OFFERED.map((feature) => `the target does not claim "${feature}"`);
  const others = written.vectors.filter(({ outcome, reason = "" }) =>
    outcome === "skip" && !reasons.includes(reason)
  );
  assert.equal(others.map(({ name, reason }) => `${name}: ${reason}`), []);
});

test.run();
