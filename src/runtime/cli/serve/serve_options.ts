/**
 * The options of `trivet serve`, and its `--help`.
 *
 * @module
 */
import { createCallerFinder, type TrustedProxies } from "../../../http/network/trusted_proxy.ts";
import { checkRedirectScheme } from "../../../oauth/clients/redirect_uri.ts";
import type { SignUpOption } from "../../../oauth/sign_up/options.ts";
import { messagesUrl, type Upstream } from "../../../skills/messages/upstream_options.ts";
import { isHost } from "../../server.ts";
import { DATA_OPTIONS } from "../data.ts";
import { checked, describeOptions, type Environment, type ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";
import { SKILL_FOLDER_OPTIONS } from "../skill/skill_folders.ts";
import { GATEWAY_OPTIONS } from "../gateway/gateway_options.ts";
import { OBSERVE_OPTIONS } from "./observe_options.ts";
import { RATE_LIMIT_OPTIONS } from "./rate_limit_options.ts";
import { PAGE_OPTIONS } from "./serve_pages.ts";
import { MODULE_HELP, MODULE_OPTIONS } from "./tool_module.ts";
import { EXPECTED_ISSUER, EXPECTED_RESOURCE, parseIssuer, parseResource } from "../issuer_option.ts";

const NETWORK_OPTIONS = {
  port: { value: "N", range: [0, 65535], summary: "port to listen on; 0 takes a free port", default: 8787 },
  host: { value: "ADDRESS", summary: "address to listen on", default: "127.0.0.1" },
  issuer: {
    value: "URL",
    summary: "the URL under which clients reach the server",
    shownDefault: "http://127.0.0.1:<port>, with --tls-cert https://…",
    parse: (text: string): string | undefined => parseIssuer(text),
    expected: EXPECTED_ISSUER as string,
  },
  "tls-cert": {
    value: "FILE",
    summary: "serve https: the certificate with its chain (PEM); a changed file is used from then on",
  },
  "tls-key": { value: "FILE", summary: "the private key of the certificate (PEM)" },
  "trusted-proxy": {
    value: "ADDRESS",
    isRepeatable: true,
    summary: `address or block (10.0.0.0/8) of a proxy in front of the server; its X-Forwarded-For, or else
      Forwarded, names the client's address; "none" where clients themselves have private addresses`,
    shownDefault: "both headers are ignored, and clients of private addresses share the overall limits",
    parse: (text: string): string | undefined =>
      text === "none" ? text : checked(text, () => createCallerFinder([text])),
    expected: "an address such as 10.0.0.2, a block such as 10.0.0.0/8, or none",
  },
  "trusted-proxy-field": {
    value: "NAME",
    words: ["x-forwarded-for", "forwarded"],
    summary: "the only header to read from the proxy: x-forwarded-for or forwarded",
  },
} as const;

const CACHE_OPTIONS = {
  cache: {
    value: "MS",
    range: [0, 999_999],
    unit: "milliseconds",
    summary: `for a store on the network: how long token checks can be answered from memory; revocations are
      answered that much later`,
    default: 1000,
  },
} as const;

const AUTHORIZATION_OPTIONS = {
  "token-format": {
    value: "FORMAT",
    words: ["opaque", "jwt"],
    summary: "format of access tokens: opaque or jwt",
    default: "opaque",
  },
  registration: {
    value: "WHO",
    words: ["open", "token", "off"],
    summary:
      `who can register clients: open (anyone), token (with a token that has the scope clients:register)
      or off (no one)`,
    default: "open",
  },
  openid: { summary: "OpenID Connect: ID tokens, /oauth/userinfo, sign-out of applications" },
  "sign-up": {
    value: "WHO",
    words: ["open", "invitation", "closed"],
    summary: `who can create an account: open (anyone), invitation (with a link of "trivet invitation add") or
      closed (no one)`,
    shownDefault: "invitation; identities of providers: open",
  },
  "mail-program": {
    value: "PATH",
    summary: `a program that sends mail as /usr/sbin/sendmail does (-t -i): for forgotten passwords,
      addresses to verify and sign-up`,
    shownDefault: "links are printed, if standard error is a terminal",
  },
  "mail-from": { value: "ADDRESS", summary: "the sender of mails" },
  "breached-passwords": {
    value: "FILE",
    summary: `refuse the passwords in this file when people choose one: SHA-1 digests as Have I Been Pwned
      publishes them, ordered by hash, or up to 32 MB of plain lines`,
    shownDefault: "none",
  },
  "client-documents": {
    value: "WHEN",
    words: ["on", "off", "auto"],
    summary: `accept the URL of a client metadata document as a client id: on, off, or auto (as soon as the
      name server resolves internet names)`,
    default: "auto",
  },
  "trust-client": {
    value: "ID",
    isRepeatable: true,
    summary: "a client that you vouch for: it skips consent that the user already gave",
  },
  "redirect-scheme": {
    value: "SCHEME",
    isRepeatable: true,
    summary: `a private-use URI scheme without a dot that redirect URIs can have, besides the schemes of known
      editors`,
    parse: (text: string): string | undefined => checked(text, () => checkRedirectScheme(text)),
    expected: "a scheme of an application",
  },
  resource: {
    value: "URI",
    isRepeatable: true,
    summary: "another protected resource that tokens can be issued for, such as another MCP server",
    parse: (text: string): string | undefined => parseResource(text),
    expected: EXPECTED_RESOURCE as string,
  },
  "no-admin": { summary: "do not serve the administration: /admin" },
} as const;

const SKILL_OPTIONS = {
  "no-skills": { summary: "do not serve skills: /v1/skills, /v1/messages and the skill tools" },
  publish: {
    value: "WORKSPACE",
    isRepeatable: true,
    summary: "list the uploaded skills of this workspace at /.well-known/agent-skills, without a key",
  },
  upstream: {
    value: "URL",
    summary: `model endpoint for /v1/messages: any server of the Messages API; its key is read from
      TRIVET_UPSTREAM_KEY`,
    shownDefault: "a built-in scripted model, offline",
    parse: (text: string): string | undefined => checked(text, () => messagesUrl(text)),
    expected: "an http or https URL without user and fragment",
  },
} as const;

const TOOL_OPTIONS = {
  "mcp-auth": {
    value: "MODE",
    words: ["required", "optional", "off"],
    summary: "access tokens at /mcp: required, optional (only tools with scopes need one) or off",
    default: "optional",
  },
  sse: { summary: "also serve the HTTP+SSE transport of MCP 2024-11-05, at /mcp/sse" },
  "allow-origin": {
    value: "URL",
    isRepeatable: true,
    summary: `an origin whose web pages can call /mcp, and every service while the issuer is on loopback;
      * allows all`,
    shownDefault: "the issuer's origin; on loopback every name of this machine",
    parse: (text: string): string | undefined =>
      text === "*" || text === "null" || URL.parse(text)?.origin === text ? text : undefined,
    expected: "an origin such as https://app.example, or *",
  },
  "allow-host": {
    value: "HOST",
    isRepeatable: true,
    summary: "a value of the Host header to accept, with its port; * accepts all",
    shownDefault: "the issuer's host; on loopback every name of this machine",
    parse: (text: string): string | undefined =>
      text === "*" || isHost(text) ? text.toLowerCase() : undefined,
    expected: "a host such as agents.example:8787, or *",
  },
} as const;

const START_OPTIONS = {
  name: {
    value: "TEXT",
    summary: "the name of this server, for MCP clients and, without --page-name, on the pages",
    shownDefault: "trivet; on the pages the host of the issuer",
  },
  quiet: { summary: "print nothing about the start; logs are written as --log-level says" },
  demo: { summary: "make the demo client, user and API key also in a store on the network" },
  "no-demo": { summary: "do not make them on the first start" },
  "no-upgrade": { summary: "refuse a store of an earlier version instead of upgrading its records" },
  json: { summary: "print the facts of the running server as one line of JSON" },
  "show-secrets": { summary: "print the demo's secrets that still work, from DIR/demo.json" },
} as const;

export const SERVE_OPTIONS:
  & typeof MODULE_OPTIONS
  & typeof NETWORK_OPTIONS
  & typeof RATE_LIMIT_OPTIONS
  & typeof DATA_OPTIONS
  & typeof CACHE_OPTIONS
  & typeof AUTHORIZATION_OPTIONS
  & typeof PAGE_OPTIONS
  & typeof SKILL_FOLDER_OPTIONS
  & typeof SKILL_OPTIONS
  & typeof TOOL_OPTIONS
  & typeof GATEWAY_OPTIONS
  & typeof OBSERVE_OPTIONS
  & typeof START_OPTIONS = {
    ...MODULE_OPTIONS,
    ...NETWORK_OPTIONS,
    ...RATE_LIMIT_OPTIONS,
    ...DATA_OPTIONS,
    ...CACHE_OPTIONS,
    ...AUTHORIZATION_OPTIONS,
    ...PAGE_OPTIONS,
    ...SKILL_FOLDER_OPTIONS,
    ...SKILL_OPTIONS,
    ...TOOL_OPTIONS,
    ...GATEWAY_OPTIONS,
    ...OBSERVE_OPTIONS,
    ...START_OPTIONS,
  };

export const describeServe = (): string =>
  `trivet serve: runs everything on one port

Usage: trivet serve [MODULE] [options]

${MODULE_HELP}
${describeOptions(MODULE_OPTIONS)}

Network:
${describeOptions({ ...NETWORK_OPTIONS, ...RATE_LIMIT_OPTIONS })}

Data:
${describeOptions({ ...DATA_OPTIONS, ...CACHE_OPTIONS })}

Authorization server:
${describeOptions(AUTHORIZATION_OPTIONS)}

Pages for people, in English and German:
${describeOptions(PAGE_OPTIONS)}

Skills service:
${describeOptions({ ...SKILL_FOLDER_OPTIONS, ...SKILL_OPTIONS })}

Tool server:
${describeOptions(TOOL_OPTIONS)}
${describeOptions(GATEWAY_OPTIONS)}

Logs, audit, metrics:
${describeOptions(OBSERVE_OPTIONS)}

Start:
${describeOptions(START_OPTIONS)}

/healthz is 200 while the process runs, /readyz while it can serve requests.
Instances that share a postgres:// or redis:// store are one server: any instance can answer any request.
The first start in a data folder makes a demo client, a user, an API key and two skills.

Examples:
  trivet serve
  trivet serve ./tools.ts --watch
  trivet serve --port 0 --data /tmp/try --json
  trivet serve --host 0.0.0.0 --issuer https://agents.example.com --no-demo
`;

type ServeValues = ValuesOf<typeof SERVE_OPTIONS>;

/** The trusted proxies; `undefined` when none is named. @throws {UsageError} for a field without a proxy */
export function readTrustedProxies(values: ServeValues): TrustedProxies | undefined {
  const { "trusted-proxy": addresses, "trusted-proxy-field": field } = values;
  if (addresses?.join() === "none" && field === undefined) return { addresses: [] };
  if (addresses?.includes("none")) throw new UsageError("--trusted-proxy none excludes other proxies");
  if (addresses !== undefined) return { addresses, ...(field && { field }) };
  if (field === undefined) return undefined;
  throw new UsageError("--trusted-proxy-field needs --trusted-proxy");
}

/** Whether skills are served. @throws {UsageError} for an option that needs them */
export function readHasSkills(values: ServeValues): boolean {
  if (!values["no-skills"]) return true;
  const { skills, publish, upstream, "client-skills": client } = values;
  const other = Object.entries({ skills, publish, upstream, "client-skills": client || undefined })
    .find(([, value]) => value !== undefined);
  if (other) throw new UsageError(`--no-skills and --${other[0]} exclude each other`);
  return false;
}

/** The model endpoint. Its key comes from the environment, since other users of the machine see the command line. */
export function readUpstream({ upstream }: ServeValues, env: Environment): Upstream | undefined {
  return upstream === undefined ? undefined : { url: upstream, key: env.TRIVET_UPSTREAM_KEY || undefined };
}

/**
 * Who can create an account. An invitation comes from the operator, so without the option people use it at once.
 * @throws {UsageError} for open sign-up without mail
 */
export function readSignUp({ "sign-up": mode }: ServeValues, hasMail: boolean): SignUpOption {
  if (mode === "open" && !hasMail) {
    throw new UsageError("--sign-up open needs --mail-program, or a terminal on which it prints links");
  }
  return mode ?? { passwords: "invitation" };
}
