import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseChallenge, parseScopes } from "./challenge.ts";

const test = suite("gateway/credentials/challenge");
const METADATA = "https://a.example/.well-known/oauth-protected-resource";

test("the parameters of a Bearer challenge are read, quoted or not", () => {
  const field = `Bearer error="insufficient_scope", scope="read write", resource_metadata="${METADATA}"`;
  const expected = { error: "insufficient_scope", scopes: ["read", "write"], resource_metadata: METADATA };
  assert.equal(parseChallenge(field), expected);
  assert.equal(parseChallenge("bearer scope=read , error = invalid_token"), {
    error: "invalid_token",
    scopes: ["read"],
  });
  assert.equal(parseChallenge('Bearer error="a \\"b\\""'), { error: 'a "b"', scopes: [] });
});

test("of several challenges the first Bearer challenge counts", () => {
  for (
    const field of [
      'Basic realm="scope=no, error", Bearer scope="read", DPoP scope="no"',
      'Negotiate, Bearer scope="read"',
      'Negotiate YWJj==, Bearer scope="read", Bearer scope="no"',
    ]
  ) {
    assert.equal(parseChallenge(field), { scopes: ["read"] }, field);
  }
});

test("a field without a Bearer challenge, or none at all, has no parameters", () => {
  for (const field of [null, "", 'Basic scope="read"', ",,, =", '"', "Bearer", "Bearer =", "é"]) {
    assert.equal(parseChallenge(field), { scopes: [] }, String(field));
  }
});

test("what is beyond the first 8 KB of a field is not read", () => {
  for (const part of ['"', "a=", "a,", "\\", " ", "="]) {
    const { scopes } = parseChallenge(`Bearer realm="a" ${part.repeat(8192)}, Bearer scope="read"`);
    assert.equal(scopes, [], part);
  }
});

test("scopes are well-formed and each there once", () => {
  assert.equal(parseScopes('read  read write" wr\\ite ü files:read'), ["read", "files:read"]);
  assert.equal(parseScopes(undefined), []);
  assert.is(parseScopes(Array.from({ length: 500 }, (_, i) => `s${i}`).join(" ")).length, 50);
});

test.run();
