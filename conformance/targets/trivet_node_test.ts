/**
 * Trivet passes the whole kit in this process on the other stores that need no server, and in other dialects: every MUST
 * and SHOULD that it claims, except the deviations in `trivet.json`.
 *
 * @module
 */
import { suite } from "uvu";
import { assertPassed, replay, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet");

for (const name of ["trivet_sqlite", "trivet_layered"]) {
  test(`${name}: OAuth, JSON-RPC, MCP and Skills`, async () => {
    assertPassed(await replay(WHOLE_KIT, targetFile(`${name}.json`)), 1680);
  });
}

test("trivet_openai: Skills in OpenAI's dialect", async () => {
  assertPassed(await replay(["skills"], targetFile("trivet_openai.json")), 380);
});

test("trivet_dpop_nonce: OAuth with required DPoP nonces", async () => {
  assertPassed(await replay(["oauth"], targetFile("trivet_dpop_nonce.json")), 500);
});

test("trivet_fapi: the vectors of the FAPI 2.0 Security Profile", async () => {
  assertPassed(
    await replay(["oauth", "--profile", "fapi-2.0-security"], targetFile("trivet_fapi.json")),
    110,
  );
});

test("trivet_fapi_openid: the profile and OpenID Connect at once", async () => {
  const target = targetFile("trivet_fapi_openid.json");
  assertPassed(await replay(["oauth", "--profile", "fapi-2.0-security"], target), 112);
  assertPassed(await replay(["oauth", "--document", "openid-discovery"], target), 6);
});

test.run();
