/**
 * Checks the option `auth` of an upstream, strictly: a member that is not known is an error, since it may be a rule that was
 * meant to hold.
 *
 * @module
 */
import { checkConfiguredUrl } from "../../http/network/public_fetch.ts";
import { isScopeToken } from "../../http/scope_token.ts";
import type { UpstreamAuth } from "./upstream_auth.ts";

/** What is wrong with a value, as the end of a sentence. */
type Rule = (value: unknown) => string | undefined;

/** The rules of an object: by member, `?` at the end of an optional one. */
interface Shape {
  readonly [member: string]: Rule | Shape;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Fields that belong to the connection or the protocol, not to authorization. */
const RESERVED_HEADERS =
  /^(?:host|content-.*|transfer-encoding|connection|accept|origin|cookie|mcp-.*|last-event-id|traceparent)$/i;
const HOST = /^[a-z0-9.-]+(?::\d{1,5})?$|^\[[0-9a-f:]+\](?::\d{1,5})?$/;

const text: Rule = (value) =>
  typeof value === "string" && /^[^\p{Cc}]{1,2048}$/u.test(value)
    ? undefined
    : "must be a text on one line of at most 2048 characters";
const flag: Rule = (value) => typeof value === "boolean" ? undefined : "must be true or false";
const url: Rule = (value) =>
  typeof value === "string" ? checkConfiguredUrl(value) : "must be an https URL (http on loopback)";
const scopes: Rule = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === "string" && isScopeToken(each))
    ? undefined
    : "must be a list of scopes without spaces";
const header: Rule = (value) =>
  typeof value !== "string" || !HEADER_NAME.test(value)
    ? "must be the name of a header field"
    : RESERVED_HEADERS.test(value)
    ? "is a header field of the protocol"
    : undefined;
const template: Rule = (value) =>
  typeof value === "string" && /^[\x20-\x7e]{1,1000}$/.test(value) && value.split("{secret}").length === 2
    ? undefined
    : "must have {secret} once, and else printable ASCII characters";
const hosts: Rule = (value) =>
  Array.isArray(value) && value.length > 0 &&
    value.every((each) => typeof each === "string" && HOST.test(each))
    ? undefined
    : 'must be a list of hosts in lower case, such as "api.example.com"';
const oneOf = (...allowed: readonly string[]): Rule => (value) =>
  typeof value === "string" && allowed.includes(value) ? undefined : `must be one of ${allowed.join(", ")}`;

const CLIENT: Shape = {
  clientId: text,
  "clientSecret?": text,
  "tokenEndpointAuthMethod?": oneOf("client_secret_basic", "client_secret_post"),
};

const SHAPES: { readonly [Type in UpstreamAuth["type"]]: Shape } = {
  none: {},
  secret: { "header?": header, "template?": template, "label?": text },
  oauth: {
    "clientId?": text,
    "clientSecret?": text,
    "tokenEndpointAuthMethod?": CLIENT["tokenEndpointAuthMethod?"]!,
    "scopes?": scopes,
    "issuer?": url,
    "allowPrivateAddresses?": flag,
  },
  "token-exchange": {
    ...CLIENT,
    tokenEndpoint: url,
    subject: { provider: text, "token?": oneOf("access_token", "id_token") },
    "resource?": url,
    "audience?": text,
    "scopes?": scopes,
  },
  "id-jag": {
    ...CLIENT,
    issuer: url,
    "allowPrivateAddresses?": flag,
    "provider?": { ...CLIENT, id: text, tokenEndpoint: url },
    "resource?": url,
    "scopes?": scopes,
  },
  "provider-token": { provider: text, hosts },
};

/**
 * The option `auth` of an upstream, checked, and the header fields beside it.
 * @param place of the upstream in the configuration, such as `mcpServers.github`
 * @throws {TypeError} naming the place and the rule
 */
export function checkAuth(
  place: string,
  given: unknown,
  { url, headers = {} }: { readonly url: string; readonly headers?: Readonly<Record<string, string>> },
): UpstreamAuth {
  const auth: UpstreamAuth = given === undefined
    ? { type: "none" }
    : checkUpstreamAuth(`${place}.auth`, given, url);
  checkFixedHeaders(`${place}.headers`, headers, auth);
  return auth;
}

/**
 * The option `auth` of an upstream, checked.
 * @param place where it is in the configuration, such as `mcpServers.github.auth`
 * @param upstream the URL of the upstream
 * @throws {TypeError} naming the place and the rule
 */
export function checkUpstreamAuth(place: string, auth: unknown, upstream: string): UpstreamAuth {
  if (typeof auth !== "object" || auth === null || Array.isArray(auth)) fail(place, "must be an object");
  const { type, ...members } = auth as Record<string, unknown>;
  if (typeof type !== "string" || !Object.hasOwn(SHAPES, type)) {
    fail(`${place}.type`, `must be one of ${Object.keys(SHAPES).join(", ")}`);
  }
  checkShape(place, members, SHAPES[type as UpstreamAuth["type"]]);
  const checked = auth as UpstreamAuth;
  if (checked.type === "oauth" && checked.clientSecret !== undefined && checked.clientId === undefined) {
    fail(`${place}.clientSecret`, "needs clientId");
  }
  if (checked.type === "oauth" && checked.clientId !== undefined && checked.issuer === undefined) {
    // MCP authorization (2026-07-28): a registration is of one authorization server, and the upstream could name another.
    fail(`${place}.issuer`, "is required with clientId: the authorization server where it is registered");
  }
  if (checked.type === "provider-token") {
    const { host } = new URL(upstream);
    if (!checked.hosts.includes(host)) {
      fail(`${place}.hosts`, `must include "${host}", the host of the upstream`);
    }
  }
  return checked;
}

/**
 * The fixed header fields of an upstream, checked.
 * @param auth the field that its credentials use may not be fixed as well
 * @throws {TypeError} naming the place and the rule, never a value
 */
export function checkFixedHeaders(
  place: string,
  headers: Readonly<Record<string, string>>,
  auth: UpstreamAuth,
): void {
  const own = authorizationField(auth)?.toLowerCase();
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) fail(`${place}["${name.slice(0, 100)}"]`, "is no name of a header field");
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      fail(`${place}["${name}"]`, "must be a text on one line");
    }
    if (name.toLowerCase() === own) {
      fail(`${place}["${name}"]`, `is set by auth of type "${auth.type}": remove one of them`);
    }
  }
}

/** The header field that the credentials of users are sent in. */
export function authorizationField(auth: UpstreamAuth): string | undefined {
  if (auth.type === "none") return undefined;
  return auth.type === "secret" ? auth.header ?? "Authorization" : "Authorization";
}

function checkShape(place: string, value: unknown, shape: Shape): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(place, "must be an object");
  const members = value as Record<string, unknown>;
  const known = new Map(Object.entries(shape).map(([name, rule]) => [name.replace("?", ""), rule]));
  for (const name of Object.keys(members)) {
    if (!known.has(name)) {
      fail(`${place}.${name.slice(0, 100)}`, `is unknown. Known: ${["type", ...known.keys()].join(", ")}`);
    }
  }
  for (const [name, rule] of known) {
    const member = members[name];
    if (member === undefined) {
      if (Object.hasOwn(shape, name)) fail(`${place}.${name}`, "is required");
      continue;
    }
    if (typeof rule === "function") {
      const problem = rule(member);
      if (problem !== undefined) fail(`${place}.${name}`, problem);
    } else checkShape(`${place}.${name}`, member, rule);
  }
}

function fail(place: string, problem: string): never {
  throw new TypeError(`${place}: ${problem}`);
}
