import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadRequirements, loadVectors } from "./load.ts";
import { readClaims, selectVectors } from "./select_vectors.ts";

const test = suite("select_vectors");
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const vectors = loadVectors(ROOT, ["oauth"], loadRequirements(ROOT));
const select = (profile: string) =>
  new Set(selectVectors(vectors, { only: [], slow: false, profile }).map(({ name }) => name.split("/")[1]!));

test("FAPI 2.0 asks for its own rows, PAR, PKCE, DPoP, iss and client assertions, not for what it forbids", () => {
  const files = select("fapi-2.0-security");
  for (const file of ["fapi", "par", "pkce", "dpop", "issuer", "client_assertion"]) {
    assert.ok(files.has(file), file);
  }
  for (const file of ["implicit", "password", "device"]) assert.not(files.has(file), file);
});

test("OAuth 2.1 asks for PKCE, redirect URIs and best practice, not for the grants that it leaves out", () => {
  const files = select("oauth-2.1");
  for (const file of ["pkce", "redirect_uri", "refresh", "best_practice"]) assert.ok(files.has(file), file);
  for (const file of ["implicit", "password"]) assert.not(files.has(file), file);
});

test("a profile has the feature that the vectors of its document need", () => {
  for (const [profile, file] of [["fapi-2.0-security", "fapi"], ["oauth-2.1", "oauth_2_1"]] as const) {
    const [feature] = readClaims(profile);
    const own = vectors.filter(({ name }) => name.startsWith(`oauth/${file}/`));
    assert.ok(own.length > 0 && own.every((each) => each.file.needs!.includes(feature!)), profile);
  }
  assert.equal(readClaims(undefined), []);
});

test("an unknown profile is refused with the names of those that exist", () => {
  assert.throws(() => select("fapi"), /Unknown --profile "fapi": use fapi-2\.0-security or oauth-2\.1/);
});

test.run();
