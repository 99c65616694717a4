/**
 * What the end of a run says about a target that was not tested.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findShortfall } from "./shortfall.ts";
import type { Result } from "../vector/vector.ts";

const test = suite("shortfall");

/** A vector whose only exchange got this in place of a response. */
const resultOf = (answer: string, isUnreachable: boolean): Result => ({
  name: "oauth/test/it",
  title: "It is so",
  covers: [],
  flags: [],
  harm: [],
  failed: [],
  strength: "MUST",
  outcome: isUnreachable ? "setup" : "fail",
  seconds: 0,
  exchanges: [{ step: "", request: "", answer }],
  isUnreachable,
});

const BASE = "https://as.example";
const UNTRUSTED = "Cannot connect to as.example:443: certificate not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)";

test("an untrusted certificate is named, with the variable that trusts its authority", () => {
  const http = { base: BASE, stdio: undefined };
  for (
    const found of [
      findShortfall([resultOf(`(refused: ${UNTRUSTED})`, true)], http),
      findShortfall([], { ...http, refusal: UNTRUSTED }),
    ]
  ) {
    assert.match(found!.text, "DEPTH_ZERO_SELF_SIGNED_CERT");
    assert.match(found!.advice, "NODE_EXTRA_CA_CERTS");
  }
});

test("a refused connection is named, without advice about certificates", () => {
  const refused = "(refused: Cannot connect to as.example:443: connection refused (ECONNREFUSED))";
  const found = findShortfall([resultOf(refused, true)], { base: BASE, stdio: undefined });
  assert.match(found!.text, "ECONNREFUSED");
  assert.not.match(found!.advice, "NODE_EXTRA_CA_CERTS");
});

test("a command that ends before any message is named with its exit", () => {
  const stdio = { command: ["node", "nothing.ts"] };
  const why = "The server exited with code 7. Standard error: cannot find nothing.ts\nat x";
  const ended = resultOf(`(${why})`, false);
  const probed = { base: "", notes: [`"initialize" returned nothing (closed: ${why})`], stdio };
  for (const asked of [[], [ended]]) {
    assert.match(findShortfall(asked, probed)!.text, "exited with code 7");
  }
  // With a message, or with declared features, the server was tested.
  const spoke = resultOf("{}\n(The server exited with code 7)", false);
  assert.is(findShortfall([spoke], { base: "", notes: [], stdio }), undefined);
  assert.is(findShortfall([ended], { base: "", stdio }), undefined);
});

test("a wrong handshake is named, without advice about users", () => {
  const note = '"initialize" returned no known protocol revision (protocolVersion is "1999-01-01")';
  const found = findShortfall([{ ...resultOf("", false), outcome: "skip" }], {
    base: BASE,
    notes: [note],
    stdio: undefined,
  });
  assert.match(found!.text, "1999-01-01");
  assert.match(found!.advice, "initialize");
  assert.not.match(found!.advice, "target file");
});

test("vectors that need HTTP do not count for a server on standard input and output", () => {
  const stdio = { command: ["node", "server.ts"] };
  const passed: Result = { ...resultOf("{}", false), outcome: "pass" };
  const skipped = (need: string): Result[] =>
    Array.from({ length: 99 }, () => ({ ...resultOf("", false), outcome: "skip", lacks: [need] }));
  const ofHttp = [passed, ...skipped("http")];
  assert.is(findShortfall(ofHttp, { base: "", notes: [], stdio }), undefined);
  // Others do.
  const ofStdio = [passed, ...skipped("http"), ...skipped("mcp_2026-07-28")];
  assert.match(findShortfall(ofStdio, { base: "", notes: [], stdio })!.text, "1 of");
  assert.ok(findShortfall(ofHttp, { base: BASE, notes: [], stdio: undefined }));
});

test.run();
