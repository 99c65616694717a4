/**
 * Servers that behave otherwise than Trivet and conform: vectors that fail on them are too strict. Long because it is a table.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeJson,
  changeRedirects,
  changeResponses,
  DEVICE,
  INTROSPECT,
  LOGIN,
  onPath,
  pathOf,
  readForm,
  REGISTER,
  withBody,
  withHeaders,
} from "./http_faults.ts";
import { changeRpcResponses, isObject, readJson } from "./jsonrpc/message_faults.ts";
import { MCP } from "./mcp/mcp_access.ts";
import type { Wrap } from "./mutant.ts";

const USERINFO = "/oauth/userinfo";

/** After this many wrong secrets or passwords, the right one is refused too. */
const MAX_ATTEMPTS = 20;

/** Refuses the right secret or password after many wrong ones, in the same way as those. */
const lockOut: Wrap = (next) => {
  const failures = new Map<string, number>();
  return async (request) => {
    const form = await readForm(request);
    const subject = form?.get("client_secret") != null ? form.get("client_id") : form?.get("username");
    if (subject == null) return await next(request);
    const count = (): number => failures.get(subject) ?? 0;
    const answer = count() < MAX_ATTEMPTS ? await next(request) : undefined;
    if (answer && answer.status !== 401 && answer.status !== 429) return answer;
    failures.set(subject, count() + 1);
    return pathOf(request) === LOGIN
      ? new Response("Wrong", { status: 401 })
      : Response.json({ error: "invalid_client" }, { status: 401 });
  };
};

/** Gives all registrations one URL: the token says which client is meant (RFC 7592 appendix B). */
const shareManagementUrl: Wrap = (next) => {
  const urls = new Map<string, string>();
  return async (request) => {
    const path = pathOf(request);
    if (path === `${REGISTER}x`) return new Response(null, { status: 404 });
    const isManagement = path === REGISTER && request.method !== "POST";
    const own = urls.get(request.headers.get("authorization")?.split(" ")[1] ?? "");
    if (isManagement && own === undefined) {
      return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
    }
    const { method, headers } = request;
    const body = method === "PUT" ? await request.clone().text() : null;
    const answer = await next(isManagement ? new Request(own!, { method, headers, body }) : request);
    const text = await answer.clone().text();
    if (!text.includes("registration_client_uri")) return answer;
    const json = JSON.parse(text);
    urls.set(json["registration_access_token"], json["registration_client_uri"]);
    return withBody(
      answer,
      JSON.stringify({ ...json, registration_client_uri: new URL(REGISTER, request.url) }),
    );
  };
};

/** Each with the vectors that must pass on it. */
export const CONFORMING: readonly (readonly [what: string, wrap: Wrap, vectors: readonly string[]])[] = [
  ["locks accounts and clients", lockOut, [
    "oauth/client_authentication/guessing",
    "oauth/login/guessing-passwords",
    "oauth/revocation/guessing-secrets",
  ]],
  [
    "redirects a login from another site to the form",
    changeResponses(
      LOGIN,
      (answer, request) =>
        request.method === "POST" && answer.status === 403
          ? new Response(null, { status: 303, headers: { location: LOGIN } })
          : answer,
    ),
    ["oauth/login/from-another-site"],
  ],
  [
    "refuses a client_id that is sent twice as authentication that failed",
    changeResponses(DEVICE, (answer) => {
      const { status } = answer;
      return status === 400 ? Response.json({ error: "invalid_client" }, { status: 401 }) : answer;
    }),
    ["oauth/device/repeated-client"],
  ],
  [
    "answers ping with _meta",
    changeRpcResponses(MCP, (value, sent) => {
      const isPing = isObject(sent) && sent["method"] === "ping";
      return isPing && isObject(value) && "result" in value
        ? { ...value, result: { _meta: { "example.com/load": 1 } } }
        : value;
    }),
    ["mcp/methods/ping", "mcp/older/ping"],
  ],
  [
    "asks for consent each time, so that prompt=none is an error",
    changeRedirects(AUTHORIZE, (location, request) => {
      const isSilent = new URL(request.url).searchParams.get("prompt") === "none";
      if (!isSilent || !location.searchParams.has("code")) return location;
      location.searchParams.delete("code");
      location.searchParams.set("error", "consent_required");
      return location;
    }),
    [
      "oauth/openid_request/none-with-consent",
      "oauth/openid_request/max-age-young",
      "oauth/openid_request/hint-of-the-user",
      "oauth/openid_logout/without-hint-asks",
      "oauth/openid_logout/altered-hint",
    ],
  ],
  [
    "names its resource metadata by the well-known URI only",
    changeResponses(
      MCP,
      (answer) =>
        answer.status === 401 ? withHeaders(answer, { "www-authenticate": 'Bearer realm="mcp"' }) : answer,
    ),
    ["mcp/authorization/challenge-leads-to-metadata"],
  ],
  [
    "writes the form of form_post in capitals, and its attributes in lines of their own",
    changeResponses(AUTHORIZE, async (answer) => {
      const page = await answer.clone().text();
      if (!page.includes("form_post.js")) return answer;
      return withBody(
        answer,
        page.replace(/<form[^>]*>/, (tag) => tag.replace(/ (action|method)=/g, (name) => name.toUpperCase()))
          .replace(/<input[^>]*>/g, (tag) => tag.replaceAll(/ (?=(?:type|name|value)=)/g, "\n")),
      );
    }),
    [
      "oauth/form_post/page",
      "oauth/form_post/error",
      "oauth/form_post/state-is-no-markup",
      "oauth/jarm/form",
    ],
  ],
  [
    "refuses tokens at UserInfo without a body",
    changeResponses(
      USERINFO,
      (answer) => answer.ok ? answer : new Response(null, { status: answer.status, headers: answer.headers }),
    ),
    [
      "oauth/openid_userinfo/altered",
      "oauth/openid_userinfo/id-token",
      "oauth/openid_userinfo/without-openid",
    ],
  ],
  [
    "has one URL for all registrations",
    shareManagementUrl,
    [
      "tokens-differ",
      "read",
      "read-with-token-of-another",
      "unknown-client",
      "updated",
      "update-with-token-of-another",
      "update-of-unknown-client",
      "deleted",
      "delete-with-token-of-another",
    ].map((id) => `oauth/client_management/${id}`),
  ],
  [
    "answers what is no JSON-RPC message with 200 and a JSON-RPC error",
    onPath(MCP, (next) => async (request) => {
      const sent = request.method === "POST" ? readJson(await request.clone().text()) : {};
      const isMessage = isObject(sent) && sent["jsonrpc"] === "2.0" && typeof sent["method"] === "string";
      const answer = await next(request);
      return answer.status === 400 && !isMessage ? withBody(answer, await answer.text(), 200) : answer;
    }),
    [
      ...["not-json", "empty-body", "no-message", "number", "old-version", "notification-malformed"]
        .map((id) => `mcp/http/${id}`),
      ...["03_26", "06_18"].map((revision) => `mcp/http_2025_${revision}/not-json`),
      ...["06_18", "11_25"].flatMap((revision) =>
        ["requests", "one-request", "notifications", "empty"].map((id) =>
          `mcp/no_batch_2025_${revision}/${id}`
        )
      ),
      "mcp/modern/batch",
    ],
  ],
  [
    "refuses responses to unknown requests and unknown notifications with 500",
    onPath(MCP, (next) => async (request) => {
      const isOdd = request.method === "POST" && /never-asked|no_such/.test(await request.clone().text());
      const answer = await next(request);
      return isOdd && answer.status === 202 ? new Response(null, { status: 500 }) : answer;
    }),
    ["mcp/http/response-unknown", "mcp/http/unknown-notification"],
  ],
  [
    "writes media types in capitals",
    changeResponses(undefined, (answer) => {
      const type = answer.headers.get("content-type")?.replace(/^[^;]*/, (name) => name.toUpperCase());
      return withHeaders(answer, { "content-type": type });
    }),
    [
      ...[
        "client_management/read",
        "device/answer",
        "introspection/media-type",
        "metadata/found",
        "openid_discovery/media-type",
        "openid_userinfo/sub",
        "par/answer",
        "par/errors-are-json",
        "protected_resource/found",
        "registration/registered",
        "registration/error-format",
        "signed_introspection/signed",
        "signed_introspection/json-as-before",
        "token_endpoint/granted-media-type",
        "token_exchange/exchanged",
      ].map((id) => `oauth/${id}`),
    ],
  ],
  [
    "names audiences by URIs of its own (RFC 8707 section 2)",
    changeJson(INTROSPECT, (json) => {
      if (json["aud"] !== undefined) json["aud"] = [`urn:api:${[json["aud"]].flat().join("").length}`];
    }),
    ["oauth/resource_indicators/refreshed-token-stays-there"],
  ],
  [
    "introspects without the confirmation of a certificate",
    changeJson(INTROSPECT, (json) => delete json["cnf"]),
    ["oauth/mutual_tls/thumbprint-without-padding"],
  ],
  [
    "redirects invalid authorization requests to an error page",
    (next) => async (request) => {
      if (pathOf(request) === "/error") {
        return new Response("<p>Invalid request", { headers: { "content-type": "text/html" } });
      }
      const answer = await next(request);
      return pathOf(request) === AUTHORIZE && answer.status === 400
        ? new Response(null, { status: 302, headers: { location: "/error?error=invalid_request" } })
        : answer;
    },
    ["oauth/form_post/redirect-uri-unknown", "oauth/redirect_uri/wildcard"],
  ],
  [
    "writes parameters of challenges as tokens",
    changeResponses(undefined, (answer) => {
      const challenge = answer.headers.get("www-authenticate")?.replace(/error="([a-z_]+)"/, "error=$1");
      return challenge === undefined ? answer : withHeaders(answer, { "www-authenticate": challenge });
    }),
    ["oauth/step_up/challenge-max-age", "oauth/step_up/challenge-acr"],
  ],
  [
    "writes its index of skills in several lines",
    changeResponses(
      "/.well-known/agent-skills/index.json",
      async (answer) => withBody(answer, JSON.stringify(await answer.clone().json(), null, 2)),
    ),
    ["skills/discovery/digest"],
  ],
];
