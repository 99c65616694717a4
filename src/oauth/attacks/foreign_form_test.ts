import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ISSUER } from "../test_server.ts";
import { authorizationServer } from "../../oauth_service.ts";
import { memoryStore } from "../../store/drivers/memory.ts";

const test = suite("oauth: forms of other sites");
const EVIL = "https://evil.example";
const FORMS = [
  "/login",
  "/login/factor",
  "/login/forgot",
  "/login/reset",
  "/login/verify-email",
  "/login/sign-up",
  "/logout",
  "/device",
  "/oauth/authorize",
  "/account/profile",
  "/account/password",
  "/account/sessions",
  "/account/delete",
];

const { fetch } = authorizationServer({
  issuer: ISSUER,
  store: memoryStore(),
  openid: true,
  signUp: "open",
  sendMail: () => Promise.resolve(),
});

for (const path of FORMS) {
  test(`POST ${path}: the refusal names the origin that was seen and the option, as text and as page`, async () => {
    for (const accept of ["*/*", "text/html"]) {
      const request = new Request(ISSUER + path, {
        method: "POST",
        headers: { origin: EVIL, accept },
        body: new URLSearchParams({ username: "a", password: "b", transaction: "t" }),
      });
      const response = await fetch(request, { ip: "192.0.2.1" });
      const text = await response.text();
      assert.ok([400, 403].includes(response.status), `${response.status} ${text.slice(0, 200)}`);
      for (const part of [EVIL, ISSUER, "issuer"]) assert.match(text, part);
    }
  });
}

test.run();
