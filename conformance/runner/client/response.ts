/**
 * Responses of the server: the correct one, changed by a deviation, then written.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import { fillTemplates, type Variables } from "../vector/template.ts";
import { isJsonObject } from "../vector/vector_file.ts";
import type { Deviation } from "./scenario.ts";

/** A response before it is written. Deviations address its members by dotted path. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** JSON body. */
  json?: unknown;
  /** JSON-RPC response, sent as JSON or as an event. */
  message?: unknown;
  /** Sends `message` as an event stream. */
  stream?: boolean;
  /** Parameters of a redirect to `location`. */
  query?: Record<string, unknown>;
  location?: string;
  /** Text body. */
  body?: string | Uint8Array;
}

/** Applies a deviation to a correct answer. */
export function deviate(answer: Answer, deviation: Deviation, variables: Variables): Answer {
  const changed = structuredClone(answer);
  const own = { ...variables, message: JSON.stringify(answer.message ?? answer.json ?? null) };
  for (const [path, value] of Object.entries(deviation.set ?? {})) {
    setMember(changed, path.split("."), fillTemplates(value, own));
  }
  for (const path of deviation.remove ?? []) removeMember(changed, path.split("."));
  if (deviation.body !== undefined) changed.body = String(fillTemplates(deviation.body, own));
  if (deviation.before || deviation.interrupted) changed.stream = true;
  return changed;
}

function setMember(target: unknown, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  const object = target as Record<string, unknown>;
  if (rest.length === 0) object[name] = value;
  else {
    if (typeof object[name] !== "object" || object[name] === null) object[name] = {};
    setMember(object[name], rest, value);
  }
}

function removeMember(target: unknown, path: readonly string[]): void {
  const [name = "", ...rest] = path;
  const object = target as Record<string, unknown>;
  if (rest.length === 0) delete object[name];
  else if (isJsonObject(object[name]) || Array.isArray(object[name])) removeMember(object[name], rest);
}

/** Writes an answer. @param cut closes the connection in the middle of the body */
export function writeAnswer(response: ServerResponse, answer: Answer, cut = false): void {
  const headers = { ...answer.headers };
  if (answer.location !== undefined) headers["location"] ??= toLocation(answer);
  const body = toBody(answer, headers);
  if (cut) {
    const bytes = new TextEncoder().encode(String(body));
    response.writeHead(answer.status, { ...headers, "content-length": String(bytes.length) });
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
    return;
  }
  response.writeHead(answer.status, headers).end(body);
}

function toBody({ body, json, message, stream }: Answer, headers: Record<string, string>) {
  if (body !== undefined) {
    if (stream) headers["content-type"] ??= "text/event-stream";
    else if (message !== undefined || json !== undefined) headers["content-type"] ??= "application/json";
    return body;
  }
  if (message !== undefined && stream) {
    headers["content-type"] ??= "text/event-stream";
    return toEvent(message);
  }
  const value = message ?? json;
  if (value === undefined) return undefined;
  headers["content-type"] ??= "application/json";
  return JSON.stringify(value);
}

/** One server-sent event with a JSON-RPC message. */
export function toEvent(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function toLocation({ location = "", query = {} }: Answer): string {
  const url = new URL(location);
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(each));
  }
  return url.href;
}
