/**
 * Parses messages and header fields by the specifications, independently of the server's own parsers.
 *
 * @module
 */

type Members = Readonly<Record<string, unknown>>;

/** Maximum nesting of arrays and objects in a message (RFC 8259 section 9 allows a limit). */
export const MAX_DEPTH: number = 512;
/** Maximum characters of an id, which every response repeats. */
export const MAX_ID_LENGTH: number = 1024;

/** Decodes a field value; `undefined` if it is invalid. */
export function decodeField(field: string): string | undefined {
  if (/[^\t\x20-\x7e]/.test(field)) return undefined;
  const base64 = /^=\?base64\?(.*)\?=$/.exec(field)?.[1];
  if (base64 === undefined) return field;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether the `Mcp-Param-*` fields match the arguments of "route". */
export function matchesFields(given: Members, headers: Headers): boolean {
  const deep = Object.hasOwn(given, "deep") ? given.deep : undefined;
  const values = {
    region: Object.hasOwn(given, "region") ? given.region : undefined,
    level: Object.hasOwn(given, "level") ? given.level : undefined,
    flag: typeof deep === "object" && deep !== null && Object.hasOwn(deep, "flag")
      ? (deep as Members).flag
      : undefined,
  };
  return Object.entries(values).every(([name, value]) => {
    const field = headers.get(`mcp-param-${name}`);
    if (value === undefined || value === null) return field === null;
    const text = field === null ? undefined : decodeField(field);
    if (text === undefined || typeof value === "object") return false;
    return name === "level" && typeof value === "number"
      ? /^-?\d+(\.0*)?$/.test(text) && Number(text) === value
      : text === String(value);
  });
}

/** Classifies a JSON value by JSON-RPC 2.0. */
export function getKind(value: unknown): "request" | "notification" | "answer" | "invalid" {
  if (!isObject(value) || value.jsonrpc !== "2.0") return "invalid";
  const { id, method, params } = value;
  const hasId = id === null || typeof id === "string" && id.length <= MAX_ID_LENGTH ||
    typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER;
  if (method === undefined) return hasId && "result" in value !== "error" in value ? "answer" : "invalid";
  if (typeof method !== "string" || params !== undefined && (typeof params !== "object" || params === null)) {
    return "invalid";
  }
  return id === undefined ? "notification" : hasId ? "request" : "invalid";
}

/** Returns the revision in `_meta` of a message. */
export function getRevision(value: unknown): unknown {
  if (getKind(value) === "answer" || getKind(value) === "invalid") return undefined;
  const meta = getMeta((value as Readonly<Record<string, unknown>>).params);
  const key = "io.modelcontextprotocol/protocolVersion";
  return meta && Object.hasOwn(meta, key) ? meta[key] : undefined;
}

export function getMeta(params: unknown): Readonly<Record<string, unknown>> | undefined {
  const meta = typeof params === "object" && params !== null
    ? (params as { _meta?: unknown })._meta
    : undefined;
  return isObject(meta) ? meta : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Measures the nesting of arrays and objects, layer by layer, because a recursion might overflow the stack. */
export function measureDepth(value: unknown): number {
  let depth = 0;
  for (let layer = [value].filter(isContainer); layer.length > 0; depth++) {
    layer = layer.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return depth;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
