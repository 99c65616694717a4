import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listLinkedUsers } from "./linked_account.ts";
import { entra } from "./entra.ts";
import { github } from "./github.ts";
import { google } from "./google.ts";
import type { SignInProvider } from "./provider.ts";
import {
  CLIENT,
  newBrowser,
  newProvider,
  newSignInServer,
  signIn,
  type TestProvider,
} from "./test_provider.ts";

const test = suite("oauth/sign_in/provider_kinds");
const TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const OTHER_TENANT = "9188040d-6c67-4c5b-b112-36a304b66dad";
const MICROSOFT = "https://login.microsoftonline.com";

/** The status of a sign-in, and the user. */
async function signInAt(provider: TestProvider, at: SignInProvider) {
  const server = await newSignInServer(provider, [at]);
  const { status } = await signIn(newBrowser(server), provider, `/login/${at.id}?redirect=%2Fdevice`);
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  return { status, user };
}

test("Google: both forms of iss are one account, and hd limits the domain", async () => {
  const provider = await newProvider("https://accounts.google.com");
  const server = await newSignInServer(provider, [google(CLIENT)]);
  for (const iss of ["https://accounts.google.com", "accounts.google.com"]) {
    provider.idToken["iss"] = iss;
    assert.is((await signIn(newBrowser(server), provider, "/login/google?redirect=%2F")).status, 302);
  }
  assert.is((await Array.fromAsync(listLinkedUsers(server.store))).length, 1);
  const limited = google({ ...CLIENT, hostedDomains: ["example.com"] });
  assert.is((await signInAt(provider, limited)).status, 403);
  provider.claims["hd"] = "example.com";
  assert.is((await signInAt(provider, limited)).status, 302);
  const inCapitals = google({ ...CLIENT, hostedDomains: ["Example.COM"] });
  assert.is((await signInAt(provider, inCapitals)).status, 302);
  provider.claims["hd"] = "Example.Com";
  assert.is((await signInAt(provider, limited)).status, 302);
});

test("Entra: a directory id counts in any case", async () => {
  const issuer = `${MICROSOFT}/${TENANT}/v2.0`;
  const provider = await newProvider(issuer);
  provider.claims = { sub: "1", tid: TENANT };
  const at = entra({ tenant: TENANT.toUpperCase(), ...CLIENT });
  assert.is((await signInAt(provider, at)).status, 302);
});

test("Entra: the issuer template is completed by the directory of the token", async () => {
  const rows: readonly [iss: string, tid: unknown, tenants: string[] | undefined, status: number][] = [
    [`${MICROSOFT}/${TENANT}/v2.0`, TENANT, undefined, 302],
    [`${MICROSOFT}/${TENANT}/v2.0`, TENANT, [TENANT], 302],
    [`${MICROSOFT}/${TENANT}/v2.0`, TENANT, [TENANT.toUpperCase()], 302],
    [`${MICROSOFT}/${OTHER_TENANT}/v2.0`, OTHER_TENANT, [TENANT], 403],
    [`${MICROSOFT}/${TENANT}/v2.0`, OTHER_TENANT, undefined, 403],
    [`${MICROSOFT}/{tenantid}/v2.0`, "{tenantid}", undefined, 403],
    [`${MICROSOFT}/${TENANT}/v2.0`, undefined, undefined, 403],
  ];
  for (const [iss, tid, tenants, status] of rows) {
    const provider = await newProvider(`${MICROSOFT}/{tenantid}/v2.0`, `${MICROSOFT}/organizations/v2.0`);
    provider.idToken = { iss, tid };
    const at = entra({ tenant: "organizations", ...(tenants && { tenants }), ...CLIENT });
    assert.is((await signInAt(provider, at)).status, status, `${iss} ${tid}`);
  }
});

test("Entra: email is the user's only where Entra says that it verified it", async () => {
  const issuer = `${MICROSOFT}/${TENANT}/v2.0`;
  for (
    const [xms_edov, email] of [[undefined, ""], [true, "boss@example.com"], ["1", "boss@example.com"], [
      "0",
      "",
    ]]
  ) {
    const provider = await newProvider(issuer);
    provider.claims = { sub: "1", tid: TENANT, email: "boss@example.com", email_verified: true, xms_edov };
    const { user } = await signInAt(provider, entra({ tenant: TENANT, ...CLIENT }));
    assert.is(user!.email, email, String(xms_edov));
  }
});

const GITHUB = "https://github.com";

async function newGithub() {
  const provider = await newProvider(GITHUB);
  const state = {
    addresses: [{ email: "jane@example.com", primary: true, verified: true }] as unknown,
    organizations: [] as string[],
  };
  provider.answers.set(`${GITHUB}/login/oauth/access_token`, ({ body }) =>
    Response.json(
      new URLSearchParams(body as string).get("client_secret") === CLIENT.clientSecret
        ? { access_token: "gho_1", token_type: "bearer", scope: "read:user" }
        : { error: "bad_verification_code" },
    ));
  const guarded = (answer: () => unknown) => ({ headers }: RequestInit) => {
    const fields = new Headers(headers);
    const isAllowed = fields.get("authorization") === "Bearer gho_1" && fields.has("user-agent");
    return isAllowed ? Response.json(answer()) : new Response(null, { status: 403 });
  };
  provider.answers.set(
    "https://api.github.com/user",
    guarded(() => ({ id: 583231, login: "octocat", name: null, email: "other@example.com" })),
  );
  provider.answers.set("https://api.github.com/user/emails?per_page=100", guarded(() => state.addresses));
  provider.answers.set(
    "https://api.github.com/user/orgs?per_page=100",
    guarded(() => state.organizations.map((login) => ({ login }))),
  );
  return { provider, state };
}

test("GitHub: the user is read from the API; the subject is the id, not the login name", async () => {
  const { provider, state } = await newGithub();
  const { status, user } = await signInAt(provider, github(CLIENT));
  assert.is(status, 302);
  assert.equal(
    [user!.subject, user!.issuer, user!.name, user!.email],
    ["583231", GITHUB, "octocat", "jane@example.com"],
  );
  state.addresses = [
    { email: "boss@example.com", primary: true, verified: false },
    { email: "jane@example.com", primary: false, verified: true },
  ];
  assert.is((await signInAt(provider, github(CLIENT))).user!.email, "");
});

test("GitHub: organizations limits who may sign in, and asks for the scope", async () => {
  const { provider, state } = await newGithub();
  const at = github({ ...CLIENT, organizations: ["acme"] });
  const server = await newSignInServer(provider, [at]);
  const begun = await newBrowser(server).get("/login/github");
  assert.match(new URL(begun.headers.get("location")!).searchParams.get("scope")!, "read:org");
  assert.is((await signInAt(provider, at)).status, 403);
  for (const login of ["acme", "Acme"]) {
    state.organizations = [login];
    assert.is((await signInAt(provider, at)).status, 302);
  }
});

test("GitHub: an error with status 200 is an error", async () => {
  const { provider } = await newGithub();
  assert.is((await signInAt(provider, github({ ...CLIENT, clientSecret: "wrong" }))).status, 403);
});

test("GitHub does not meet a demand for a new login", async () => {
  const { provider } = await newGithub();
  const server = await newSignInServer(provider, [github(CLIENT)]);
  const browser = newBrowser(server);
  await signIn(browser, provider, "/login/github?redirect=%2Fdevice");
  const login = (await browser.get(server.authorizePath({ prompt: "login" }))).headers.get("location")!;
  const begun = await browser.get(login.replace("/login?", "/login/github?"));
  assert.is((await browser.get(provider.authorize(begun.headers.get("location")!).href)).status, 403);
});

test.run();
