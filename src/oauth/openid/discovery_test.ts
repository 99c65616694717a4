import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type OAuthOptions } from "../../mod.ts";
import { ISSUER, newServer } from "../test_server.ts";
import { newProvider } from "./test_provider.ts";

const test = suite("oauth/openid/discovery");
const PATH = "/.well-known/openid-configuration";
/** Discovery section 3. */
const REQUIRED = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "jwks_uri",
  "response_types_supported",
  "subject_types_supported",
  "id_token_signing_alg_values_supported",
];

test("Discovery section 3: the metadata has all required members, RS256 among the algorithms", async () => {
  const server = await newProvider();
  const metadata = await (await server.send(PATH)).json();
  assert.equal(REQUIRED.filter((name) => !(name in metadata)), []);
  assert.is(metadata.issuer, "https://as.example");
  assert.equal(metadata.subject_types_supported, ["public", "pairwise"]);
  assert.equal(metadata.id_token_signing_alg_values_supported, ["ES256", "RS256", "Ed25519", "EdDSA"]);
  assert.is(metadata.userinfo_endpoint, "https://as.example/oauth/userinfo");
  for (const scope of ["openid", "profile", "email", "offline_access"]) {
    assert.ok(metadata.scopes_supported.includes(scope), scope);
  }
  assert.equal(metadata.prompt_values_supported, ["none", "login", "consent", "select_account"]);
});

test("Discovery section 4.1: an issuer with a path has its metadata at the appended path and at that of RFC 8414", async () => {
  const server = await newProvider({}, { issuer: "https://as.example/tenant" });
  for (const path of ["/tenant" + PATH, PATH + "/tenant", "/.well-known/oauth-authorization-server/tenant"]) {
    const response = await server.send(path);
    assert.is(response.status, 200, path);
    assert.is((await response.json()).issuer, "https://as.example/tenant");
  }
});

test("with OpenID Connect off both paths have the OAuth metadata, without a member of OpenID Connect", async () => {
  const server = await newServer();
  const [openid, oauth] = await Promise.all(
    [PATH, "/.well-known/oauth-authorization-server"].map(async (path) =>
      await (await server.send(path)).text()
    ),
  );
  assert.is(openid, oauth);
  assert.not.match(openid!, /subject_types|id_token|claims_|oauth\/userinfo/);
});

test("with OpenID Connect request objects and every response mode are on, unless the operator turns them off", async () => {
  const read = async (oauth: OAuthOptions) => {
    const trivet = createTrivet({ issuer: ISSUER, store: memoryStore(), oauth });
    const response = await trivet.fetch(new Request(`${ISSUER}/.well-known/openid-configuration`));
    const { response_modes_supported: modes, request_parameter_supported: objects } = await response.json();
    return { modes, objects };
  };
  assert.equal(await read({}), { modes: ["query"], objects: false });
  assert.equal(await read({ openid: true, responseModes: [], requestObjects: "off" }), await read({}));
  const on = await read({ openid: true });
  assert.ok(on.objects && ["form_post", "jwt", "form_post.jwt"].every((mode) => on.modes.includes(mode)));
});

test.run();
