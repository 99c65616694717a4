import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SignInView } from "../pages/basic_views.ts";
import { completePages } from "../pages/settings.ts";
import { TEXTS as DE } from "../pages/texts_de.ts";
import { TEXTS as EN } from "../pages/texts_en.ts";
import type { View } from "../pages/views.ts";
import { APP_URI, CHALLENGE, newServer } from "../test_server.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";

const test = suite("oauth/sign-in page");
const BROWSER = { accept: "text/html,*/*;q=0.8" };
const DOCUMENT_ID = "https://client.example/oauth/metadata.json";

async function newPageServer(options: Partial<AuthorizationServerOptions> = {}) {
  const views: View[] = [];
  const server = await newServer({
    pages: completePages({ render: (view) => void views.push(view) }),
    connect: (url) =>
      Promise.resolve(
        url === DOCUMENT_ID
          ? Response.json({
            client_id: DOCUMENT_ID,
            client_name: "Claude\u202e Code",
            redirect_uris: ["http://localhost/callback"],
          })
          : new Response(null, { status: 404 }),
      ),
    ...options,
  });
  const show = async (redirect: string, headers: Record<string, string> = {}) => {
    const response = await server.send(`/login?redirect=${encodeURIComponent(redirect)}`, { headers });
    return { response, text: await response.text(), view: views.at(-1) as SignInView };
  };
  return { server, views, show };
}

test("the application that asks is named, with its name in quotes when the application chose it", async () => {
  const { server, show } = await newPageServer();
  const own = await show(server.authorizePath());
  assert.equal(own.view.application, { name: "The App", isVerified: true });
  assert.match(own.text, "<strong>The App</strong>");

  const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  const document = await show(
    server.authorizePath({ client_id: DOCUMENT_ID, redirect_uri: "http://localhost:1234/callback", ...pkce }),
  );
  assert.equal(document.view.application, {
    name: "Claude Code",
    isVerified: false,
    documentHost: "client.example",
  });
  assert.match(document.text, "<strong>“Claude Code”</strong>");

  const registered = await server.send("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    form: JSON.stringify({
      client_name: `<b>The App</b>`,
      redirect_uris: ["https://evil.example/cb"],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id } = await registered.json();
  const stranger = await show(
    server.authorizePath({ client_id, redirect_uri: "https://evil.example/cb", ...pkce }),
  );
  assert.match(stranger.text, "<strong>“&lt;b&gt;The App&lt;/b&gt;”</strong>");
});

test("no application is named where the authorization endpoint would refuse the request, or another page asks", async () => {
  const { server, show } = await newPageServer();
  for (
    const redirect of [
      server.authorizePath({ redirect_uri: "https://evil.example/" }),
      server.authorizePath({ client_id: "unknown" }),
      server.authorizePath({ client_id: undefined }),
      server.authorizePath({ client_id: "https://unreachable.example/client.json" }),
      server.authorizePath() + "&client_id=web",
      server.authorizePath() + "&x=1".repeat(200),
      "/oauth/authorize?client_id=app&request_uri=urn:ietf:params:oauth:request_uri:expired",
      "/device?client_id=app",
      "/oauth/authorize",
    ]
  ) {
    const { response, view, text } = await show(redirect);
    assert.is(response.status, 200, redirect);
    assert.is(view.application, undefined, redirect);
    assert.match(text, "as.example");
  }
});

for (const requestObjects of ["off", "optional"] as const) {
  test(`a pushed request names its application and its language, with request objects ${requestObjects}`, async () => {
    const { server, show } = await newPageServer({ requestObjects });
    const pushed = await server.send("/oauth/par", {
      form: {
        response_type: "code",
        client_id: "app",
        client_secret: "app secret:&%+",
        redirect_uri: APP_URI,
        scope: "read",
        ui_locales: "de",
      },
    });
    const { request_uri } = await pushed.json();
    const path = `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(request_uri)}`;
    const { view, response } = await show(path, { "accept-language": "en" });
    assert.is(view.application?.name, "The App");
    assert.is(response.headers.get("content-language"), "de");
    const expired = await show(
      "/oauth/authorize?client_id=app&request_uri=urn:ietf:params:oauth:request_uri:expired",
    );
    assert.is(expired.view.application, undefined);
  });
}

test("the user name is kept after a wrong password, the password is not", async () => {
  const { server, views } = await newPageServer();
  const username = `al"ice<script>`;
  const form = { username, password: "hunter2" };
  const response = await server.send("/login", { form, headers: BROWSER });
  assert.is(response.status, 401);
  const text = await response.text();
  assert.match(text, 'value="al&quot;ice&lt;script&gt;"');
  assert.match(text, 'role="alert"');
  assert.match(text, EN.wrongCredentials);
  assert.not.match(text, "hunter2");
  assert.not.match(JSON.stringify(views), "hunter2");
  const long = { username: "x".repeat(5000), password: "y" };
  await server.send("/login", { form: long, headers: BROWSER });
  assert.is((views.at(-1) as SignInView).username.length, 128);
});

test("after too many attempts the page says when to try again", async () => {
  const { server, views } = await newPageServer();
  const form = { username: "alice", password: "wrong" };
  for (let i = 0; i < 30; i++) {
    const response = await server.send("/login", { form, headers: BROWSER });
    if (response.status !== 429) continue;
    const seconds = Number(response.headers.get("retry-after"));
    assert.ok(seconds > 0);
    assert.equal((views.at(-1) as SignInView).problem, { code: "too_many_attempts", seconds });
    return;
  }
  assert.unreachable("no 429");
});

test("Accept-Language and ui_locales choose the language of the page", async () => {
  const { server, show } = await newPageServer();
  const german = await show(server.authorizePath(), { "accept-language": "fr, de-CH;q=0.9, en;q=0.8" });
  assert.match(german.text, /<html lang="de">/);
  assert.match(german.text, `<h1>${DE.signInTitle}</h1>`);
  assert.match(german.response.headers.get("vary")!, /accept-language/i);
  const asked = await show(server.authorizePath({ ui_locales: "fr de" }), { "accept-language": "en" });
  assert.is(asked.response.headers.get("content-language"), "de");
  const english = await show(server.authorizePath({ ui_locales: "en" }), { "accept-language": "de" });
  assert.is(english.response.headers.get("content-language"), "en");
});

test("the consent page is in the language of ui_locales, with descriptions of scopes in it", async () => {
  const { server } = await newPageServer({
    pages: completePages(),
    scopes: {
      profile: "See your name",
      read: { description: "Read your data" },
      files: { description: "Read files", descriptions: { de: "Dateien lesen" } },
    },
  });
  const cookie = await server.signIn();
  const path = server.authorizePath({ ui_locales: "de", scope: "read files profile" });
  const response = await server.send(path, { headers: { cookie, "accept-language": "en" } });
  assert.is(response.headers.get("content-language"), "de");
  const text = await response.text();
  for (const description of ["Ihre Daten lesen", "Dateien lesen", "See your name", DE.allow]) {
    assert.match(text, description);
  }
  assert.not.match(text, "Read files");
});

test("without account pages, a sign-in that leads nowhere is a page for a browser and plain text for a program", async () => {
  const { server } = await newPageServer({ account: false });
  const form = { username: "alice", password: "wonderland" };
  const page = await server.send("/login", { form, headers: BROWSER });
  assert.equal([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  assert.ok(page.headers.getSetCookie().length > 0);
  assert.match(await page.text(), "Alice Liddell");
  const out = await server.send("/logout", { form: {}, headers: BROWSER });
  assert.is(out.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(out.headers.getSetCookie().join("\n"), "Max-Age=0");
  const plain = await server.send("/logout", { form: {} });
  assert.is(plain.headers.get("content-type"), "text/plain; charset=utf-8");
});

test.run();
