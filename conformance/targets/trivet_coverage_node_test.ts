/**
 * Coverage of a run of the kit against Trivet: of the rows that are observable from outside, every MUST of OAuth, all of
 * JSON-RPC, and 95 % of the SHOULDs in each OAuth document.
 *
 * A row whose vectors were all skipped counts only if they need a feature that Trivet does not offer.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toJson } from "../runner/report/report_json.ts";
import { replay, targetFile } from "./test_replay.ts";

/** Features that Trivet does not offer; `raw` needs a socket, which a target in this process lacks. */
const NOT_OFFERED = [
  "implicit",
  "password",
  "pkce_plain",
  "bearer_query",
  "bearer_body",
  "dpop_nonce",
  // A server is configured for this profile, and then refuses what the other vectors send.
  "fapi_2_0",
  // It supports a revision without MCP-Protocol-Version, and may answer requests that have none.
  "!mcp_2025-03-26",
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

interface RunReport {
  readonly coverage: readonly Figures[];
  readonly vectors: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly lacks?: readonly string[];
  }[];
}

const test = suite<{ report: RunReport }>("coverage of a run");

test.before(async (context) => {
  context.report = JSON.parse(toJson(await replay(["oauth", "jsonrpc"], targetFile("trivet.json"))));
});

/** Percentage of the rows that are observable from outside. */
function percentage({ rows, excluded }: Figures, count: number): number {
  return rows === excluded ? 100 : 100 * count / (rows - excluded);
}

const toLines = (all: readonly Figures[]) => all.map((each) => JSON.stringify(each));

test("OAuth: every MUST runs and holds, and 95 % of the SHOULDs of each document run", ({ report }) => {
  const oauth = report.coverage.filter(({ document }) => document.startsWith("rfc"));
  const [musts, shoulds] = ["MUST", "SHOULD"].map((level) => oauth.filter((each) => each.level === level));
  assert.ok(musts!.length >= 10 && shoulds!.length >= 10, "documents");
  const missed = musts!.filter((each) => percentage(each, each.asked + each.skipped) < 100);
  assert.equal(toLines(missed), []);
  assert.equal(toLines(musts!.filter(({ asked, held }) => held < asked)), []);
  assert.equal(toLines(shoulds!.filter((each) => percentage(each, each.asked + each.skipped) < 95)), []);
});

test("no document of OAuth is left out", ({ report }) => {
  const documents = readdirSync(targetFile("../requirements")).flatMap((name) =>
    /^rfc\d+(?=\.json$)/.exec(name) ?? []
  );
  const asked = new Set(report.coverage.map(({ document }) => document));
  assert.equal(documents.filter((each) => !asked.has(each)), []);
});

test("JSON-RPC: every row runs and holds", ({ report }) => {
  const rows = report.coverage.filter(({ document }) => document === "jsonrpc-2.0");
  assert.equal(rows.map(({ level }) => level), ["MUST", "SHOULD", "MAY"]);
  assert.equal(toLines(rows.filter((each) => percentage(each, each.held) < 100)), []);
});

test("only features that Trivet does not offer are skipped", ({ report }) => {
  const others = report.vectors.filter(({ outcome, lacks = [] }) =>
    outcome === "skip" && !(lacks.length === 1 && NOT_OFFERED.includes(lacks[0]!))
  );
  assert.equal(others.map(({ name, lacks }) => `${name}: ${lacks}`), []);
});

test.run();
