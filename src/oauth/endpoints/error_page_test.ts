import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store/store.ts";
import type { ErrorView } from "../pages/basic_views.ts";
import { completePages } from "../pages/settings.ts";
import { TEXTS as DE } from "../pages/texts_de.ts";
import type { View } from "../pages/views.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { newServer } from "../test_server.ts";

const test = suite("oauth/error page");
const BROWSER = { accept: "text/html,*/*;q=0.8", "accept-language": "de" };

interface Case {
  readonly path: string;
  readonly method?: string;
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly code: ErrorView["code"];
  /** Also for a program. */
  readonly isAlwaysPage?: boolean;
}

const CROSS = { "sec-fetch-site": "cross-site" };
const CASES: Readonly<Record<string, Case>> = {
  "an unknown path": { path: "/oauth/nothing", status: 404, code: "not_found" },
  "an unknown method": { path: "/login", method: "DELETE", status: 405, code: "method_not_allowed" },
  "a login form of another site": {
    path: "/login",
    form: {},
    headers: CROSS,
    status: 403,
    code: "cross_site",
  },
  "a logout form of another site": {
    path: "/logout",
    form: {},
    headers: CROSS,
    status: 403,
    code: "cross_site",
  },
  "a device form of another site": {
    path: "/device",
    form: {},
    headers: CROSS,
    status: 403,
    code: "cross_site",
  },
  "a redirect to another site": {
    path: "/login?redirect=https://evil.example",
    status: 400,
    code: "invalid_redirect",
  },
  "a form without a password": {
    path: "/login",
    form: { username: "alice" },
    status: 400,
    code: "missing_fields",
  },
  "a body that is no form": {
    path: "/login",
    method: "POST",
    headers: { "content-type": "text/plain" },
    status: 415,
    code: "bad_body",
  },
  "an unknown client": {
    path: "/oauth/authorize?client_id=unknown",
    status: 400,
    code: "invalid_request",
    isAlwaysPage: true,
  },
  "an answered transaction": {
    path: "/oauth/authorize",
    form: { transaction: "x", decision: "approve" },
    status: 400,
    code: "request_ended",
    isAlwaysPage: true,
  },
};

for (
  const [name, { path, method, form, headers, status, code, isAlwaysPage = false }] of Object.entries(CASES)
) {
  test(`${name}: a page in the language of the browser, plain text for a program`, async () => {
    const views: View[] = [];
    const server = await newServer({ pages: completePages({ render: (view) => void views.push(view) }) });
    const send = (more: Record<string, string>) =>
      server.send(path, {
        ...(method !== undefined && { method }),
        ...(form && { form }),
        headers: { ...headers, ...more },
      });
    const page = await send(BROWSER);
    assert.is(page.status, status);
    assert.is(page.headers.get("content-language"), "de");
    assert.match(page.headers.get("content-security-policy")!, "form-action 'none'");
    const view = views.at(-1) as ErrorView;
    assert.equal([view.name, view.code, view.status], ["error", code, status]);
    const program = await send({ accept: "*/*" });
    assert.is(program.status, status);
    assert.is(program.headers.get("content-type")!.startsWith("text/html"), isAlwaysPage);
  });
}

test("the description for developers stays in English below the translated text", async () => {
  const server = await newServer();
  const response = await server.send(server.authorizePath({ redirect_uri: "https://evil.example/<x>" }), {
    headers: BROWSER,
  });
  const text = await response.text();
  assert.match(text, DE.invalidRequestTitle);
  assert.match(text, DE.returnToApplication);
  assert.match(text, /<span lang="en">invalid_request: redirect_uri is not registered/);
  assert.not.match(text, "<x>");
});

test("an unavailable store is a page with Retry-After, and its cause is on no page", async () => {
  const store = memoryStore();
  const server = await newServer({ store });
  store.get = () => Promise.reject(new StoreUnavailableError("the secret host 10.0.0.1", { retryAfter: 7 }));
  const response = await server.send("/oauth/authorize?client_id=x", { headers: BROWSER });
  assert.equal([response.status, response.headers.get("retry-after")], [503, "7"]);
  const text = await response.text();
  assert.match(text, DE.unavailableTitle);
  assert.not.match(text, "10.0.0.1");
});

test.run();
