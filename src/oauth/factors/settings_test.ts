import { suite } from "uvu";
import * as assert from "uvu/assert";
import { authorizationServer } from "../../oauth_service.ts";
import { canHavePasskeys } from "../../passkeys.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { completeFactors } from "./settings.ts";
import { passkeys } from "./web_authn.ts";

const test = suite("oauth/factors/settings");

test("browsers use passkeys on https and localhost, and not for IP addresses", () => {
  for (const issuer of ["https://as.example", "https://as.example:8443/x", "http://localhost:3000"]) {
    assert.ok(canHavePasskeys(issuer), issuer);
  }
  for (
    const issuer of [
      "http://127.0.0.1:3000",
      "https://192.0.2.1",
      "https://[2001:db8::1]",
      "http://a.example",
    ]
  ) {
    assert.not(canHavePasskeys(issuer), issuer);
  }
});

test("the relying party is the host of the issuer or a parent domain", () => {
  const create = (issuer: string, rpId?: string) => () =>
    authorizationServer({
      issuer,
      store: memoryStore(),
      passkeys: passkeys(rpId === undefined ? {} : { rpId }),
    });
  create("https://login.as.example")();
  create("https://login.as.example", "as.example")();
  for (const rpId of ["evil.example", "s.example", "x.login.as.example"]) {
    assert.throws(create("https://login.as.example", rpId), /rpId/);
  }
  assert.throws(create("https://192.0.2.1"), /oauth.passkeys/);
});

test("an app is possible where there is an account page, and its class is advertised", () => {
  assert.equal(completeFactors("https://a.example", {}).acrValues, ["password", "mfa"]);
  assert.equal(completeFactors("https://a.example", { account: false }).acrValues, ["password"]);
  assert.equal(completeFactors("https://a.example", { authenticateUser: () => {} }).acrValues, ["mfa"]);
  assert.equal(completeFactors("https://a.example", { acrValues: ["x"] }).acrValues, ["x"]);
});

test("an authentication context class has no blanks or quotes, and that of a second factor is not password", () => {
  const refuses = (options: Parameters<typeof completeFactors>[1], name: RegExp) =>
    assert.throws(() => completeFactors("https://a.example", options), name);
  for (const acr of ["", "a b", 'a"b']) {
    refuses({ secondFactorAcr: acr }, /oauth\.secondFactorAcr/);
    refuses({ acrValues: ["mfa", acr] }, /oauth\.acrValues/);
  }
  refuses({ secondFactorAcr: "password" }, /oauth\.secondFactorAcr/);
});

test.run();
