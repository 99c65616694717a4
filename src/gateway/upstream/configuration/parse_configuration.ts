/**
 * Parses the configuration of upstreams, from options or a JSON file.
 *
 * @module
 */
import { isScopeToken } from "../../../http/scope_token.ts";
import { checkAuth } from "../../credentials/check_auth.ts";
import { isObject } from "../../../json_schema/value.ts";
import { LEGACY, MODERN } from "../../../mcp_client/revision.ts";
import { ConfigurationError, type UpstreamConfiguration } from "./configuration.ts";
import { Problems } from "./problems.ts";
import { assignPrefixes } from "../names.ts";
import { parseEnvironment, type ReadVariable, type References } from "./environment.ts";

const DEFAULT_TIMEOUT_S = 30;
const MAX_TIMEOUT_S = 86_400;
const DEFAULT_MAX_CONCURRENT = 32;
const MAX_NAME_CHARACTERS = 100;
const REVISIONS: readonly unknown[] = [MODERN, ...LEGACY];
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Header fields that the transport sets. */
const OWN_HEADERS =
  /^(?:accept|content-(?:type|length|encoding)|host|connection|transfer-encoding|last-event-id|mcp-.*)$/i;

const OPTION_KEYS: readonly string[] = [
  "type",
  "prefix",
  "tools",
  "revision",
  "timeout",
  "maxConcurrent",
  "scopes",
  "shared",
  "auth",
  "disabled",
];
/** What MCP clients call without asking their user. The policy of the gateway is its own. */
const CLIENT_KEYS: readonly string[] = ["alwaysAllow", "autoApprove", "trust"];
const PROCESS_KEYS: readonly string[] = ["command", "args", "env", "cwd"];
const URL_KEYS: readonly string[] = ["url", "headers"];
const TYPES: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  sse: "sse",
};

/**
 * Parses `mcpServers`. Servers with `disabled: true` are left out.
 * @param variable reads an environment variable, for references such as `${TOKEN}`, `${TOKEN:-default}` and `${env:TOKEN}`
 * @throws {ConfigurationError} naming every problem and its place
 */
export function parseMcpServers(
  value: unknown,
  variable?: ReadVariable,
  place = "mcpServers",
): UpstreamConfiguration[] {
  const problems: string[] = [];
  if (!isObject(value)) throw new ConfigurationError([`${place}: must be an object`]);
  const parsed = Object.entries(value).flatMap(([name, server]) => {
    const configuration = parseServer(name, server, new Problems(`${place}.${name}`, problems), variable);
    return configuration ? [configuration] : [];
  });
  checkPrefixes(parsed, place, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return parsed;
}

/**
 * Parses one server, for {@linkcode Upstreams.add}.
 * @param references `"literal"` for one that was added at run time: it must not read variables of the server
 * @throws {ConfigurationError}
 */
export function parseMcpServer(
  name: string,
  value: unknown,
  references?: References,
): UpstreamConfiguration | undefined {
  const problems: string[] = [];
  const configuration = parseServer(name, value, new Problems(`mcpServers.${name}`, problems), references);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configuration;
}

/**
 * The servers in a configuration file: its member `mcpServers`, or `servers` as VS Code has it.
 * @throws {ConfigurationError}
 */
export function findMcpServers(file: unknown): unknown {
  if (isObject(file)) {
    if (file.mcpServers !== undefined) return file.mcpServers;
    if (file.servers !== undefined) return file.servers;
  }
  throw new ConfigurationError(["mcpServers: is required"]);
}

function parseServer(
  name: string,
  server: unknown,
  problems: Problems,
  references: References,
): UpstreamConfiguration | undefined {
  const before = problems.count;
  if (name === "" || name.length > MAX_NAME_CHARACTERS || /\p{C}/u.test(name)) {
    problems.add("", `the name must have 1 to ${MAX_NAME_CHARACTERS} printable characters`);
    return undefined;
  }
  if (!isObject(server)) {
    problems.add("", "must be an object with command or url");
    return undefined;
  }
  if (server.disabled === true) return undefined;
  const target = parseTarget(server, problems, references);
  const options = parseOptions(server, problems);
  if (!target || problems.count > before) return undefined;
  problems.check((place) => {
    if (target.type !== "stdio") checkAuth(place, options.auth, target);
    else if (options.auth !== undefined) {
      throw new TypeError(`${place}.auth: a command has no users. Use env`);
    }
  });
  return problems.count === before ? { name, target, ...options } : undefined;
}

function parseTarget(
  server: Record<string, unknown>,
  problems: Problems,
  references: References,
): UpstreamConfiguration["target"] | undefined {
  const { type, command, url } = server;
  if (type !== undefined && (typeof type !== "string" || !Object.hasOwn(TYPES, type))) {
    problems.add("type", "must be stdio, http or sse");
    return undefined;
  }
  const kind = type === undefined ? undefined : TYPES[type as string];
  if (command !== undefined && url !== undefined) {
    problems.add("", "command and url exclude each other");
    return undefined;
  }
  const isProcess = kind === "stdio" || kind === undefined && command !== undefined;
  if (!isProcess && url === undefined) {
    problems.add(kind ? "url" : "", kind ? "is required" : "command or url is required");
    return undefined;
  }
  if (kind !== undefined && kind !== "stdio" && command !== undefined) {
    problems.add("command", `is not allowed with type ${type}`);
    return undefined;
  }
  for (const key of Object.keys(server)) {
    if (
      OPTION_KEYS.includes(key) || CLIENT_KEYS.includes(key) ||
      (isProcess ? PROCESS_KEYS : URL_KEYS).includes(key)
    ) continue;
    const exists = PROCESS_KEYS.includes(key) || URL_KEYS.includes(key);
    problems.add(key, exists ? `is not allowed with ${isProcess ? "command" : "url"}` : "unknown property");
  }
  const text = (member: string, value: string): string =>
    parseEnvironment(value, references, (problem) => problems.add(member, problem));
  return isProcess ? parseProcess(server, problems, text) : parseUrl(server, kind, problems, text);
}

type ToText = (member: string, value: string) => string;

function parseProcess(
  { command, args = [], env = {}, cwd }: Record<string, unknown>,
  problems: Problems,
  text: ToText,
): UpstreamConfiguration["target"] {
  const isCommand = typeof command === "string" && command !== "";
  if (!isCommand) problems.add("command", "must be a non-empty string");
  if (cwd !== undefined && typeof cwd !== "string") problems.add("cwd", "must be a string");
  return {
    type: "stdio",
    command: isCommand ? text("command", command) : "",
    args: parseStrings("args", args, problems).map((each, i) => text(`args[${i}]`, each)),
    env: parseMap("env", env, problems, text),
    cwd: typeof cwd === "string" ? text("cwd", cwd) : undefined,
  };
}

function parseUrl(
  { url: given, headers: givenHeaders = {} }: Record<string, unknown>,
  kind: "stdio" | "http" | "sse" | undefined,
  problems: Problems,
  text: ToText,
): UpstreamConfiguration["target"] {
  const headers = parseMap("headers", givenHeaders, problems, text);
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) problems.add(`headers.${name}`, "is not a valid header name");
    else if (OWN_HEADERS.test(name)) problems.add(`headers.${name}`, "is set by the transport");
    else if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      problems.add(`headers.${name}`, "has characters that a header value cannot have");
    }
  }
  const url = typeof given === "string" ? text("url", given) : "";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !["https:", "http:"].includes(parsed.protocol)) {
    problems.add("url", "must be a URL with https or http");
  } else if (parsed.username || parsed.password) {
    problems.add("url", "must not have a user name or password. Use headers");
  } else if (url.includes("#")) problems.add("url", "must not have a fragment");
  return { type: kind === "sse" ? "sse" : kind === "http" ? "http" : "auto", url, headers };
}

function parseOptions(
  server: Record<string, unknown>,
  problems: Problems,
): Omit<UpstreamConfiguration, "name" | "target"> {
  const { prefix, tools = {}, timeout = DEFAULT_TIMEOUT_S, maxConcurrent = DEFAULT_MAX_CONCURRENT } = server;
  const { scopes = [], shared, auth, disabled, revision } = server;
  if (prefix !== undefined && (typeof prefix !== "string" || !/^[A-Za-z0-9_.-]{0,40}$/.test(prefix))) {
    problems.add("prefix", 'must have at most 40 characters of A-Z, a-z, 0-9, "_", "." and "-"');
  }
  if (revision !== undefined && !REVISIONS.includes(revision)) {
    problems.add("revision", `must be one of ${REVISIONS.join(", ")}`);
  }
  if (typeof timeout !== "number" || !(timeout > 0 && timeout <= MAX_TIMEOUT_S)) {
    problems.add("timeout", `must be a number of seconds, at most ${MAX_TIMEOUT_S}`);
  }
  if (!Number.isSafeInteger(maxConcurrent) || (maxConcurrent as number) < 1) {
    problems.add("maxConcurrent", "must be a whole number of at least 1");
  }
  for (const [member, value] of Object.entries({ shared, disabled })) {
    if (value !== undefined && typeof value !== "boolean") problems.add(member, "must be true or false");
  }
  const patterns = Array.isArray(tools) ? { allow: tools } : tools;
  if (!isObject(patterns)) {
    problems.add("tools", "must be a list of patterns, or an object with allow and deny");
  }
  const { allow = [], deny = [], ...others } = isObject(patterns) ? patterns : {};
  for (const key of Object.keys(others)) problems.add(`tools.${key}`, "unknown property");
  return {
    prefix: prefix as string | undefined,
    tools: {
      allow: parseStrings(Array.isArray(tools) ? "tools" : "tools.allow", allow, problems),
      deny: parseStrings("tools.deny", deny, problems),
    },
    revision: revision as string | undefined,
    timeout: (timeout as number) * 1000,
    maxConcurrent: maxConcurrent as number,
    scopes: parseScopes(scopes, problems),
    shared: shared as boolean | undefined,
    auth,
  };
}

function parseStrings(member: string, value: unknown, problems: Problems): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  problems.add(member, "must be a list of strings");
  return [];
}

function parseScopes(value: unknown, problems: Problems): string[] {
  const scopes = parseStrings("scopes", value, problems);
  if (!scopes.every(isScopeToken)) {
    problems.add("scopes", 'must be single scopes: ["a", "b"] in place of "a b"');
  }
  return scopes;
}

function parseMap(member: string, value: unknown, problems: Problems, text: ToText): Record<string, string> {
  if (!isObject(value)) {
    problems.add(member, "must be an object of strings");
    return {};
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      if (typeof each === "string") return [[key, text(`${member}.${key}`, each)]];
      problems.add(`${member}.${key}`, "must be a string");
      return [];
    }),
  );
}

/** Two upstreams with one prefix could not be distinguished. */
export function checkPrefixes(
  configurations: readonly UpstreamConfiguration[],
  place: string,
  problems: string[],
): void {
  const owners = new Map<string, string>();
  for (const [name, prefix] of assignPrefixes(configurations)) {
    const owner = owners.get(prefix);
    if (owner !== undefined) problems.push(`${place}.${name}.prefix: is the prefix of ${owner} too`);
    owners.set(prefix, name);
  }
}
