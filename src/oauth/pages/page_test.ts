import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { html } from "../../http/page.ts";
import type { View } from "./views.ts";
import { showPage } from "./page.ts";
import type { PageServer } from "./page_server.ts";
import { completePages, type PageOptions } from "./settings.ts";
import { TEXTS as DE } from "./texts_de.ts";
import { TEXTS as EN } from "./texts_en.ts";

const test = suite("oauth/pages/page");
const SIGN_IN: View = {
  name: "sign_in",
  action: "/login?redirect=%2Fa",
  isAgain: false,
  hasPassword: true,
  username: `"><script>alert(1)</script>`,
  fields: [],
  providers: [{ id: "x", name: "<b>X</b>", url: "/login/x" }],
};

function newServer(pages?: PageOptions): { server: PageServer; events: TrivetEvent[] } {
  const events: TrivetEvent[] = [];
  const server = {
    pages: completePages(pages),
    issuer: "https://as.example:8443/t",
    base: "/t",
    origin: "https://as.example:8443",
    observe: (event: TrivetEvent) => void events.push(event),
  };
  return { server, events };
}

function browser(language = "en"): Request {
  return new Request("https://as.example:8443/t/login", { headers: { "accept-language": language } });
}

test("a page forbids scripts, framing, caching and referrers, and has its language", async () => {
  const { server } = newServer();
  const response = await showPage(server, browser("de"), SIGN_IN, { formAction: "'self'" });
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(
    response.headers.get("content-security-policy")!,
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'$/,
  );
  assert.is(response.headers.get("x-frame-options"), "DENY");
  assert.is(response.headers.get("x-content-type-options"), "nosniff");
  assert.is(response.headers.get("referrer-policy"), "no-referrer");
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.is(response.headers.get("content-language"), "de");
  assert.match(response.headers.get("vary")!, "accept-language");
  const text = await response.text();
  assert.match(text, /^<!doctype html>\s*<html lang="de">/);
  assert.match(text, `<title>${DE.signInTitle} · as.example:8443</title>`);
  assert.not.match(text, "<script");
  assert.not.match(text, "<b>X</b>");
  assert.match(text, 'action="/login?redirect=%2Fa"');
});

test("name, logo and texts of the operator are shown; the policy allows the logo and nothing else", async () => {
  const logo = "https://cdn.example/a,b;c/logo.png?v=1";
  const { server } = newServer({ name: "Acme <Corp>", logo, texts: { de: { signInTitle: "Moin & hallo" } } });
  const response = await showPage(server, browser("de"), SIGN_IN);
  assert.ok(
    response.headers.get("content-security-policy")!.includes(
      "; img-src data: https://cdn.example/a%2Cb%3Bc/logo.png; ",
    ),
  );
  const text = await response.text();
  assert.match(text, "Acme &lt;Corp&gt;");
  assert.match(text, `src="${logo}"`);
  assert.match(text, "<h1>Moin &amp; hallo</h1>");
  assert.match(text, "as.example:8443");
  assert.match(await (await showPage(server, browser("en"), SIGN_IN)).text(), `<h1>${EN.signInTitle}</h1>`);
});

test("RFC 9110 section 10.2.3: a problem that ends by itself is in Retry-After as well, also with a hook", async () => {
  const problem = { code: "too_many_attempts", seconds: 7 } as const;
  for (const settings of [{}, { render: () => "<!doctype html>" }]) {
    const { server } = newServer(settings);
    const limited = await showPage(server, browser(), { ...SIGN_IN, problem }, { status: 429 });
    assert.is(limited.headers.get("retry-after"), "7");
    const wrong = { ...SIGN_IN, problem: { code: "wrong_credentials" } } as const;
    assert.is((await showPage(server, browser(), wrong, { status: 401 })).headers.get("retry-after"), null);
  }
});

test("the style sheet is the one whose hash the policy has", async () => {
  const { server } = newServer({ colors: { accent: "#123456" } });
  const response = await showPage(server, browser(), SIGN_IN);
  const style = /<style>([^]*?)<\/style>\s*<\/head>/.exec(await response.text())![1]!;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style)));
  const hash = btoa(String.fromCharCode(...digest));
  assert.ok(response.headers.get("content-security-policy")!.includes(`style-src 'sha256-${hash}'`));
  assert.match(style, "--accent:#123456");
});

test("a hook renders its own HTML from the data; status and security header fields stay", async () => {
  const seen: View[] = [];
  const { server } = newServer({
    sources: { style: ["https://cdn.example"], image: ["'self'"], font: ["https://fonts.example"] },
    render(view, { language, texts, status, product }) {
      seen.push(view);
      if (view.name === "home") return undefined;
      if (view.name === "error") return html`<p>${view.code}</p>`;
      if (view.name === "signed_out") {
        const headers = {
          "content-security-policy": "default-src *",
          "x-frame-options": "ALLOWALL",
          "set-cookie": "a=b",
          "x-own": "1",
        };
        return new Response("<p>own", { status: 500, headers });
      }
      return `<!doctype html><p lang="${language}">${texts.signIn} ${status} ${product}`;
    },
  });
  const own = await showPage(server, browser("de"), SIGN_IN, { status: 401, fields: [["retry-after", "3"]] });
  assert.equal([own.status, own.headers.get("retry-after")], [401, "3"]);
  assert.is(await own.text(), '<!doctype html><p lang="de">Anmelden 401 as.example:8443');
  assert.is(
    own.headers.get("content-security-policy"),
    "default-src 'none'; style-src data: https://cdn.example; img-src data: 'self'; font-src https://fonts.example; " +
      "base-uri 'none'; frame-ancestors 'none'",
  );
  assert.equal(seen, [SIGN_IN]);

  const response = await showPage(server, browser(), { name: "signed_out", signIn: "/login" });
  assert.equal([response.status, await response.text()], [200, "<p>own"]);
  assert.match(response.headers.get("content-security-policy")!, "frame-ancestors 'none'");
  assert.is(response.headers.get("x-frame-options"), "DENY");
  assert.is(response.headers.get("set-cookie"), null);
  assert.is(response.headers.get("x-own"), "1");

  const error = { name: "error", code: "not_found", status: 404 } as const;
  assert.is(await (await showPage(server, browser(), error)).text(), "<p>not_found</p>");
});

test("when the hook leaves a page to the server, or throws, the page of the server is shown", async () => {
  const { server, events } = newServer({
    render(view) {
      if (view.name === "signed_out") throw new Error("template missing");
      return undefined;
    },
  });
  assert.match(await (await showPage(server, browser(), SIGN_IN)).text(), EN.signInTitle);
  assert.equal(events, []);
  const response = await showPage(server, browser(), { name: "signed_out", signIn: "/login" });
  assert.match(await response.text(), EN.signedOutTitle);
  assert.equal(events.map(({ type }) => type), ["fault"]);
});

test.run();
