/**
 * Predicts the outcomes of the methods of the fuzzed tool server, from parameters and from the behaviour of its definitions.
 *
 * @module
 */
import type { Corpus, Session, Token } from "./mcp_corpus.ts";
import type { Profile } from "./mcp_profile.ts";
import { TOOLS } from "./mcp_tools.ts";
import { getMeta, isObject, matchesFields } from "./mcp_wire.ts";

/** A JSON-RPC error code, or another kind of response: see `mcp_oracle.ts`. */
export type Outcome = number | "result" | "batch" | "stream" | "scope" | "none" | "text";

type Members = Readonly<Record<string, unknown>>;

export interface Setting {
  readonly profile: Profile;
  /** The collected values; without them, both outcomes that depend on them are allowed. */
  readonly corpus: Corpus | undefined;
  readonly token: Token;
  readonly headers: Headers | undefined;
  readonly session: Session | undefined;
}

/** The error code with which clients of this run refuse a server request. */
export const REFUSAL = 77;

const RESULT: readonly Outcome[] = ["result"];
const BAD: readonly Outcome[] = [-32602];
const SCOPES: Readonly<Record<Exclude<Token, undefined>, readonly string[]>> = {
  reader: ["read"],
  writer: ["read", "write"],
};

/** Returns the allowed outcomes of a request whose header fields and `_meta` are valid. */
export function methodOutcomes({ method, params = {} }: Members, setting: Setting): readonly Outcome[] {
  const { profile: { kind } } = setting;
  const isModern = kind === "modern";
  const find = METHODS[method as string];
  const era = Object.hasOwn(METHODS, method as string) ? ERAS[method as string] ?? "both" : "none";
  const { "io.modelcontextprotocol/logLevel": level, ...meta } = getMeta(params) ?? {};
  const hasRevision = isModern || Object.hasOwn(meta, "io.modelcontextprotocol/protocolVersion");
  const isBadLevel = hasRevision && level !== undefined && !LEVELS.includes(level as string);
  if (era === "none" || era === (isModern ? "legacy" : "modern")) {
    return isBadLevel ? [-32601, -32602] : [-32601];
  }
  if (isBadLevel) return BAD;
  if (Array.isArray(params)) return method === "ping" || method === "server/discover" ? RESULT : BAD;
  return find!(params as Members, setting);
}

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const ERAS: Readonly<Record<string, "legacy" | "modern">> = {
  initialize: "legacy",
  ping: "legacy",
  "logging/setLevel": "legacy",
  "resources/subscribe": "legacy",
  "resources/unsubscribe": "legacy",
  "server/discover": "modern",
  "subscriptions/listen": "modern",
  "tasks/get": "modern",
  "tasks/update": "modern",
  "tasks/cancel": "modern",
};

const METHODS: Readonly<Record<string, (params: Members, setting: Setting) => readonly Outcome[]>> = {
  initialize: ({ protocolVersion, capabilities = {}, clientInfo = {} }) =>
    typeof protocolVersion === "string" && isObject(capabilities) && isObject(clientInfo) ? RESULT : BAD,
  ping: () => RESULT,
  "server/discover": () => RESULT,
  "logging/setLevel": ({ level }) => LEVELS.includes(level as string) ? RESULT : BAD,
  "tools/list": (params, setting) => list("tools", params, setting),
  "prompts/list": (params, setting) => list("prompts", params, setting),
  "resources/list": (params, setting) => list("resources", params, setting),
  "resources/templates/list": (params, setting) => list("resourceTemplates", params, setting),
  "resources/subscribe": ({ uri }, setting) => {
    if (typeof uri !== "string") return BAD;
    if (uri === "test://secret" && !hasScopes(["write"], setting)) return ["scope"];
    return /^test:\/\/(text|bytes|secret|asks|broken)$/.test(uri) ? RESULT : templateOutcomes(uri, setting);
  },
  "resources/unsubscribe": ({ uri }) => typeof uri === "string" ? RESULT : BAD,
  "resources/read": read,
  "prompts/get": get,
  "tools/call": call,
  "completion/complete": complete,
  "subscriptions/listen": listen,
  "tasks/get": (params, setting) => task(params, setting, RESULT),
  "tasks/cancel": (params, setting) => task(params, setting, RESULT),
  "tasks/update": (params, setting) =>
    task(params, setting, areResponses(params.inputResponses) ? RESULT : BAD),
};

function list(member: string, { cursor }: Members, { corpus }: Setting): readonly Outcome[] {
  if (cursor === undefined) return RESULT;
  if (!corpus && typeof cursor === "string") return [...RESULT, ...BAD];
  return corpus?.cursors.get(member)?.has(cursor as string) ? RESULT : BAD;
}

function hasScopes(scopes: readonly string[], { token }: Setting): boolean {
  return scopes.every((scope) => token !== undefined && SCOPES[token].includes(scope));
}

function hasCapability(feature: string, { profile }: Setting, params: Members): boolean {
  if (profile.kind !== "modern") return false;
  const capabilities = getMeta(params)!["io.modelcontextprotocol/clientCapabilities"] as Members;
  const extensions = capabilities.extensions;
  return feature === "tasks"
    ? isObject(extensions) && Object.hasOwn(extensions, "io.modelcontextprotocol/tasks") &&
      typeof extensions["io.modelcontextprotocol/tasks"] === "object" &&
      extensions["io.modelcontextprotocol/tasks"] !== null
    : Object.hasOwn(capabilities, feature) && typeof capabilities[feature] === "object";
}

function unknownNameOutcomes({ profile: { kind } }: Setting): readonly Outcome[] {
  return [kind === "plain" ? -32000 : -32602];
}

function notFoundOutcomes({ profile: { kind } }: Setting): readonly Outcome[] {
  return [kind === "plain" ? -32000 : kind === "legacy" ? -32002 : -32602];
}

function templateOutcomes(uri: string, setting: Setting): readonly Outcome[] {
  const some = /^test:\/\/(things\/|query)/.test(uri);
  return some ? ["result", ...notFoundOutcomes(setting)] : notFoundOutcomes(setting);
}

/** Returns the outcomes of a handler that sends a request to the client. */
function questionOutcomes(params: Members, setting: Setting): readonly Outcome[] {
  if (setting.profile.kind !== "modern") return ["result", "stream", -32602, -32603, -32021, REFUSAL];
  return isRetry(params) ? ["result", -32602, -32021] : ["result", -32021];
}

function isRetry({ requestState, inputResponses }: Members): boolean {
  return requestState !== undefined || inputResponses !== undefined;
}

/** Returns the outcomes of a retry: `next`, if the server issued its `requestState` for this call. */
function retryOutcomes(
  method: string,
  params: Members,
  setting: Setting,
  next: readonly Outcome[],
): readonly Outcome[] {
  if (setting.profile.kind !== "modern" || !isRetry(params)) return next;
  const { requestState, inputResponses, _meta: _, ...rest } = params;
  if (inputResponses !== undefined && !areResponses(inputResponses)) return BAD;
  if (requestState === undefined) return next;
  const isOwn = setting.corpus!.inputRequired.some((each) =>
    each.state === requestState && each.method === method && each.token === setting.token &&
    isSame(each.params, rest)
  );
  return isOwn ? next : BAD;
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame((a as Members)[name], (b as Members)[name]));
}

function areResponses(value: unknown): boolean {
  return value === undefined || isObject(value) && Object.values(value).every(isObject);
}

function read(params: Members, setting: Setting): readonly Outcome[] {
  const { uri } = params;
  if (typeof uri !== "string") return BAD;
  const next = (): readonly Outcome[] => {
    switch (uri) {
      case "test://text":
      case "test://bytes":
        return RESULT;
      case "test://secret":
        return hasScopes(["write"], setting) ? RESULT : ["scope"];
      case "test://asks":
        return questionOutcomes(params, setting);
      case "test://broken":
        return [-32603];
      default:
        return templateOutcomes(uri, setting);
    }
  };
  return retryOutcomes("resources/read", params, setting, next());
}

function get(params: Members, setting: Setting): readonly Outcome[] {
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string") return BAD;
  if (!["compose", "asks", "hidden", "broken"].includes(name)) return unknownNameOutcomes(setting);
  if (name === "hidden" && !hasScopes(["write"], setting)) return ["scope"];
  if (!isObject(given)) return BAD;
  const own = (member: string): unknown => Object.hasOwn(given, member) ? given[member] : undefined;
  const isGood = typeof own("what") === "string" &&
    (own("how") === undefined || typeof own("how") === "string");
  if (name === "compose" && !isGood) return BAD;
  const next = name === "asks" ? questionOutcomes(params, setting) : name === "broken" ? [-32603] : RESULT;
  return retryOutcomes("prompts/get", params, setting, next);
}

function call(params: Members, setting: Setting): readonly Outcome[] {
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string") return BAD;
  const tool = TOOLS.find((each) => each.name === name);
  if (!tool) return unknownNameOutcomes(setting);
  if (!hasScopes(tool.scopes ?? [], setting)) return ["scope"];
  if (!isObject(given)) return BAD;
  const isModern = setting.profile.kind === "modern";
  if (isModern && name === "route" && !matchesFields(given, setting.headers!)) return [-32020];
  if (isModern && name === "job_only" && !hasCapability("tasks", setting, params)) return [-32021];
  // Invalid arguments are a tool error in the result; a tool without a schema accepts no arguments.
  const isInvalid = tool.input === undefined && Object.keys(given).length > 0;
  return retryOutcomes(
    "tools/call",
    params,
    setting,
    isInvalid ? RESULT : toolOutcomes(name, params, setting),
  );
}

function toolOutcomes(name: string, params: Members, setting: Setting): readonly Outcome[] {
  const isTask = name.startsWith("job") && hasCapability("tasks", setting, params);
  switch (name) {
    case "rpc_error":
      return [42];
    case "unwritable":
      return [-32603];
    case "needs":
      return hasScopes(["write"], setting) ? RESULT : ["scope"];
    case "ask":
    case "ask_url":
    case "ask_twice":
    case "insist":
    case "sample":
    case "roots":
      return questionOutcomes(params, setting);
    case "job_by_run":
    case "job_asks":
      return isTask && name === "job_asks" ? RESULT : questionOutcomes(params, setting);
    default:
      return RESULT;
  }
}

/** Variables of the templates. */
const VARIABLES = new Map([["test://things/{id}/{+path}", ["id", "path"]], ["test://query{?a,b*}", [
  "a",
  "b",
]]]);

function complete(params: Members, setting: Setting): readonly Outcome[] {
  const { ref, argument, context = {} } = params;
  const isWhole = isObject(ref) && isObject(argument) && typeof argument.name === "string" &&
    typeof argument.value === "string" && isObject(context);
  if (!isWhole) return BAD;
  const known = context.arguments ?? (Object.hasOwn(context, "arguments") ? null : {});
  if (!isObject(known) || !Object.values(known).every((each) => typeof each === "string")) return BAD;
  if (ref.type === "ref/prompt") {
    if (typeof ref.name !== "string") return BAD;
    if (!["compose", "asks", "hidden", "broken"].includes(ref.name)) return unknownNameOutcomes(setting);
    if (ref.name === "hidden" && !hasScopes(["write"], setting)) return ["scope"];
    return ref.name === "compose" && ["what", "how"].includes(argument.name as string) ? RESULT : BAD;
  }
  if (ref.type !== "ref/resource" || typeof ref.uri !== "string") return BAD;
  const names = VARIABLES.get(ref.uri);
  return names ? names.includes(argument.name as string) ? RESULT : BAD : unknownNameOutcomes(setting);
}

function listen(params: Members, setting: Setting): readonly Outcome[] {
  const { notifications: filter = {} } = params;
  if (!isObject(filter)) return BAD;
  const isSwitch = (value: unknown): boolean => value === undefined || typeof value === "boolean";
  const isList = (value: unknown): boolean =>
    value === undefined ||
    Array.isArray(value) && value.length <= 1000 && value.every((each) => typeof each === "string");
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, taskIds } =
    filter;
  const isGood = [toolsListChanged, promptsListChanged, resourcesListChanged].every(isSwitch) &&
    isList(resourceSubscriptions) && isList(taskIds);
  if (!isGood) return BAD;
  return taskIds !== undefined && !hasCapability("tasks", setting, params) ? [-32021] : ["stream"];
}

function task(params: Members, setting: Setting, next: readonly Outcome[]): readonly Outcome[] {
  if (!hasCapability("tasks", setting, params)) return [-32021];
  const known = setting.corpus!.tasks.find((each) => each.id === params.taskId);
  return known && known.token === setting.token ? next : BAD;
}
